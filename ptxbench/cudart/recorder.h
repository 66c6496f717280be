// SPDX-License-Identifier: Apache-2.0

// Writes down what the device is asked to do (emulator/recording.h), so that the judge can repeat
// it without the program's host code. Off unless the worker asks for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ptxbench/cudart/launch.h"

namespace weft::cudart {

// Begins a recording in the file; null ends it. Memory that lives already is part of it.
void record_to(const char* file);

// Rows of bytes, as a copy or fill touches them.
struct RowRange {
  void* first = nullptr;
  size_t pitch = 0, slice = 0;  // bytes between rows and between slices
};
struct RowCount {
  size_t width = 0, rows = 1, slices = 1;
};

// Each does nothing while no recording is under way; all are called before the work is done.
void note_allocation(uint64_t address);
void note_release(uint64_t address);
void note_copy(const RowRange& target, const RowRange& source, const RowCount& count);
void note_fill(const RowRange& target, const RowCount& count, uint32_t value, size_t element);
void note_launch(const PreparedLaunch& launch);
void note_unrepeatable(std::string_view what);

}  // namespace weft::cudart
