// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/wire/status.h"

#include <array>

namespace weft::wire {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 7> kNames = {
    "PASSED",        "INCORRECT_SHAPE", "INCORRECT_NUMERICAL", "INCORRECT_DTYPE", "RUNTIME_ERROR",
    "COMPILE_ERROR", "TIMEOUT"};

}  // namespace

std::string_view name(Status status) {
  return kNames[static_cast<size_t>(status)];
}

std::optional<Status> status_named(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Status>(i);
  }
  return std::nullopt;
}

}  // namespace weft::wire
