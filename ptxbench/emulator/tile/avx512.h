// SPDX-License-Identifier: Apache-2.0

// Products compiled for processors that may not be this one. Only tile_engine.cc calls them, after
// it has asked the processor; their files hold nothing else, so no other code needs these units.
#pragma once

#include "ptxbench/emulator/tile/tile_engine.h"

namespace weft::emulator {

inline constexpr int kWidePanel = 32;  // columns of a panel for AVX-512 and AMX

void multiply_avx512(const FloatProduct& product);
void multiply_integers_avx512(const IntegerProduct& product);
// Those below need the operating system's leave to use tile registers.
void multiply_amx(const FloatProduct& product);
void multiply_integers_amx(const IntegerProduct& product);
void multiply_bf16_amx(const MatrixShape& shape, std::span<const MatrixStep> steps,
                       const SumPlaces& sums);

}  // namespace weft::emulator
