// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/task.h"

#include <array>
#include <cstddef>

namespace weft::service {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"evaluate", "sanitize", "profile", "debug"};
constexpr std::array<std::string_view, 5> kStates = {"pending", "running", "completed", "failed",
                                                     "cancelled"};

template <typename Value, size_t count>
std::optional<Value> named(const std::array<std::string_view, count>& names,
                           std::string_view wanted) {
  for (size_t i = 0; i < count; ++i)
    if (names[i] == wanted) return static_cast<Value>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name(Kind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

std::string_view name(State state) {
  return kStates[static_cast<size_t>(state)];
}

std::optional<Kind> kind_named(std::string_view wanted) {
  return named<Kind>(kKinds, wanted);
}

std::optional<State> state_named(std::string_view wanted) {
  return named<State>(kStates, wanted);
}

}  // namespace weft::service
