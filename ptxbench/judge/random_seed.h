// SPDX-License-Identifier: Apache-2.0

// Numbers that nobody can know beforehand: seeds of inputs, schedules and plans.
#pragma once

#include <cstdint>
#include <random>

namespace weft::judge {

inline uint64_t random_seed() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}

}  // namespace weft::judge
