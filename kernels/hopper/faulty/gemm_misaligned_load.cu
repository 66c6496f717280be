// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: pairs of bf16 are loaded as 4 bytes from odd elements.
// Expected: a misaligned global load of 4 bytes in the loop of the kernel.
#define WEFT_FAULT_MISALIGNED_LOAD
#include "../gemm_naive.cu"
