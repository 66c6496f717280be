// SPDX-License-Identifier: Apache-2.0

// Ordinary kernels (scalar_kernels/kernels.cu) with their data and the answers that plain C++
// gives: what scalar_code.cc times and counting_cost.cc times twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ptxbench/emulator/machine.h"

namespace weft::emulator {

struct Parameters {
  std::vector<std::byte> bytes;
  template <typename T>
  Parameters& add(T value) {
    while (bytes.size() % sizeof(T) != 0) bytes.push_back({});
    const auto* p = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), p, p + sizeof value);
    return *this;
  }
};

// One launch, ready to be repeated. `clear` undoes the last one, `right` looks at its answer.
struct Subject {
  std::string name;
  Extent grid, block;
  Parameters parameters;
  std::function<void()> clear;
  std::function<bool()> right;
};

// Allocates the data on the machine's device; the arrays live as long as the machine.
using MakeSubject = Subject (*)(Machine&);
struct SubjectEntry {
  std::string_view name;
  MakeSubject make;
};
const std::vector<SubjectEntry>& scalar_subjects();

struct Timing {
  uint64_t warps = 0;  // warp instructions counted; 0 when the machine does not count
  double seconds = 0;  // processor time of all threads
  bool right = false;
};
Timing run(Machine& machine, Program& program, const Subject& subject);

// Processor time of all threads of this process: other programs on the machine do not count, and
// with several workers it is already "per core".
double processor_seconds();

}  // namespace weft::emulator
