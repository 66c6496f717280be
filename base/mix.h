// SPDX-License-Identifier: Apache-2.0

// A 64-bit mixer: every bit of the input reaches every bit of the output, and no two inputs meet
// (the finalizer of SplitMix64; Steele, Lea and Flood, OOPSLA 2014). Not for secrets.
#pragma once

#include <cstdint>

namespace weft {

inline uint64_t mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

inline uint64_t mix(uint64_t a, uint64_t b) {
  return mix(mix(a) ^ b);
}

}  // namespace weft
