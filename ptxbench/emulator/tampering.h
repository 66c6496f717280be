// SPDX-License-Identifier: Apache-2.0

// Was the work of the special units of any use? A process that repeats a kernel with their results
// replaced by nonsense finds out: an output that stays the same did not depend on them. The
// environment says so, WEFT_EMULATE_TAMPER=products or copies, because one process repeats one way;
// nothing else in the emulator looks at it.
#pragma once

#include <cstddef>

namespace weft::emulator {

struct Tampering {
  bool products = false;  // accumulators of wgmma and tcgen05.mma
  bool copies = false;    // bytes that bulk and tensor copies land
};

// As the environment said when it was first asked.
const Tampering& tampering();

// Finite in every floating type, and unlike anything that a product or a copy would leave.
void write_nonsense(std::byte* data, size_t bytes);

}  // namespace weft::emulator
