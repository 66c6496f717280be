// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: rows past M are computed from the last row and stored behind the end of C.
// Expected: an out-of-bounds global store at the last line of the kernel when M is no multiple of
// 16, or damaged guard zones where the memory behind C is mapped.
#define WEFT_FAULT_STORE_OUT_OF_BOUNDS
#include "../gemm_naive.cu"
