// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: the tensor map of A stores plain rows, while the matrix descriptor says that
// they are swizzled by 128 bytes. Every row but each eighth is multiplied with its K permuted.
// Expected: wrong numbers (INCORRECT_NUMERICAL) and no fault: every address is legal.
#define WEFT_FAULT_SWIZZLE
#include "../gemm_wgmma.cu"
