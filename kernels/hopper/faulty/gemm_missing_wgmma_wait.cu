// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: no wgmma.wait_group before the sums are read, so the last step of K may still be
// running.
// Expected: accumulator registers of a wgmma in flight are read, at the packing in store_tile; the
// compiler warns that it serialises the wgmma, which can hide the fault in machine code.
#define WEFT_FAULT_MISSING_WGMMA_WAIT
#include "../gemm_wgmma.cu"
