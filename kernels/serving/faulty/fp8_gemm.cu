// SPDX-License-Identifier: Apache-2.0

// Forgets the scales of B.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_BLOCK_SCALE
#include "../fp8_gemm.cu"
