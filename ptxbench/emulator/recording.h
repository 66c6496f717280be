// SPDX-License-Identifier: Apache-2.0

// What a program asked of the device: code, memory, copies and launches in their order. A process
// without the program's host code can repeat it. Written by cudart next to a program that is not
// trusted, so a reader takes nothing in it for granted.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weft::emulator {

struct RecordedOperation {
  enum class Kind : uint8_t {
    Module,        // text: PTX; `module` its number
    Variable,      // text: name; target, bytes: where it lies; of `module`
    Allocate,      // target, bytes
    Free,          // target
    Write,         // data: bytes from the host, to target
    Copy,          // within device memory: rows of `bytes`
    Fill,          // rows of `bytes` (elements) with `value` of `element` bytes
    Launch,        // text: kernel of `module`; data: parameters
    Unrepeatable,  // text: what was asked for that a recording cannot hold
  };
  Kind kind = Kind::Unrepeatable;
  std::string text, data;
  uint64_t target = 0, source = 0, bytes = 0;
  uint64_t rows = 1, slices = 1;
  uint64_t target_pitch = 0, target_slice = 0, source_pitch = 0, source_slice = 0;
  uint64_t value = 0, element = 1, module = 0;
  std::array<uint64_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint64_t shared = 0, cooperative = 0;
};

// The bytes of one operation; a file is one after the other.
std::string to_bytes(const RecordedOperation& operation);
Result<std::vector<RecordedOperation>> read_recording(std::string_view bytes);

}  // namespace weft::emulator
