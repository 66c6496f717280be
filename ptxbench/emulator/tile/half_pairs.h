// SPDX-License-Identifier: Apache-2.0

// f16 accumulators: a register of a warp holds an 8 x 8 block, two neighbouring columns to a lane.
#pragma once

#include <cstdint>

namespace weft::emulator {

// A register to the block's two parts and back, rounding to nearest even.
void widen_pairs(const uint32_t* pairs, float* even, float* odd);
void narrow_pairs(const float* even, const float* odd, uint32_t* pairs);

}  // namespace weft::emulator
