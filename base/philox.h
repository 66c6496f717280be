// SPDX-License-Identifier: Apache-2.0

// Counter-based random numbers: what comes out depends on the counter and the key alone, so any
// worker can make any part of a stream. Philox4x32-10 (Salmon and others, SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace weft {

using Quad = std::array<uint32_t, 4>;

inline Quad philox(Quad counter, std::array<uint32_t, 2> key) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = kMultiplier0 * counter[0];
    const uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

}  // namespace weft
