// SPDX-License-Identifier: Apache-2.0

// The statuses of the FlashInfer Trace schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::wire {

enum class Status : uint8_t {
  Passed,
  IncorrectShape,
  IncorrectNumerical,
  IncorrectDtype,
  RuntimeError,
  CompileError,
  Timeout,
};

std::string_view name(Status status);  // "INCORRECT_NUMERICAL"
std::optional<Status> status_named(std::string_view name);

}  // namespace weft::wire
