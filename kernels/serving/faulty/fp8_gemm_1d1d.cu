// SPDX-License-Identifier: Apache-2.0

// Takes the scales of the first of 128 rows of B for all of them.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_ROW_SCALE
#include "../fp8_gemm.cu"
