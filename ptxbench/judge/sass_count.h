// SPDX-License-Identifier: Apache-2.0

// How often one machine instruction of a function executed on a GPU.
#pragma once

#include <cstdint>
#include <string>

namespace weft::judge {

struct SassCount {
  std::string function;  // mangled
  uint32_t offset = 0;   // bytes from the function's start
  uint64_t warps = 0;    // executions by a warp
  uint64_t threads = 0;  // executions by a thread with every predicate true

  bool operator==(const SassCount&) const = default;
};

}  // namespace weft::judge
