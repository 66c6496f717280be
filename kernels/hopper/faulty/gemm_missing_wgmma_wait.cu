// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: no wgmma.wait_group before the sums are read, so the last step of K may still
// be running. Expected: RUNTIME_ERROR, an accumulator of a wgmma in flight is read, at the packing in
// store_tile. An H200 gives right numbers with ptxas 13.0, which makes such code wait; the PTX
// manual calls the read undefined, so the judge has every run checked for it.
#define WEFT_FAULT_MISSING_WGMMA_WAIT
#include "../gemm_wgmma.cu"
