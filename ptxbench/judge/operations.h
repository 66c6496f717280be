// SPDX-License-Identifier: Apache-2.0

// What an instruction counts for in the audit, read off its opcode as written.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::judge {

enum class Unit : uint8_t {
  None,         // no floating-point arithmetic
  Wgmma,        // Hopper's tensor instruction
  Tcgen05,      // Blackwell's, which does as much as its descriptor says
  OtherTensor,  // mma.sync, wmma: any architecture since 2017
  Scalar,
};

struct Operations {
  Unit unit = Unit::None;
  double per_warp = 0;  // floating-point operations of one warp execution (tensor units)
  double per_lane = 0;  // of one lane (scalar units)
};

// A multiply-add counts two; a packed type (f16x2) counts each half. wgmma runs in four warps at
// once, so one warp execution counts a quarter of 2 * 64 * N * K. Conversions, comparisons, minimum
// and maximum count nothing. What tcgen05.mma does stands in a register: the emulator counts it.
Operations operations_of(std::string_view opcode);

// "wgmma" or "tcgen05" for the multiply itself, "tma" for bulk and tensor transfers; empty for
// everything else, also for the fences, commits and waits that go with them.
std::string_view target_group(std::string_view opcode);

}  // namespace weft::judge
