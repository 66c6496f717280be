// SPDX-License-Identifier: Apache-2.0

// Matrix instructions of a warp: wmma, mma, ldmatrix, stmatrix, movmatrix.

#include "ptxbench/emulator/ops/matrix_lowering.h"

namespace weft::emulator {

namespace {

constexpr Meaning kMeanings[] = {
    {"ldmatrix", lower_ldmatrix}, {"mma", lower_mma},   {"movmatrix", lower_movmatrix},
    {"stmatrix", lower_stmatrix}, {"wmma", lower_wmma},
};

}  // namespace

std::span<const Meaning> matrix_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
