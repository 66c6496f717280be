// SPDX-License-Identifier: Apache-2.0

// 8 x 8 blocks of 16-bit elements, as ldmatrix.trans and movmatrix turn them.
#pragma once

#include <cstddef>

namespace weft::emulator {

// Eight rows of 16 bytes; `to` may be `from`.
void transpose_block(const std::byte* from, std::byte* to);

}  // namespace weft::emulator
