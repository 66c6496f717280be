// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: no wgmma.wait_group before the sums are read, so the last step of K may still
// be running. Expected: accumulator registers of a wgmma in flight are read, at the packing in
// store_tile. An H200 gives right numbers with ptxas 13.0; the PTX manual calls the read undefined,
// so only a check of the program itself finds it.
#define WEFT_FAULT_MISSING_WGMMA_WAIT
#include "../gemm_wgmma.cu"
