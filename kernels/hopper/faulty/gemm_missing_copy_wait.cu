// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: no cp.async.wait_group before the barrier, so ldmatrix may read rows of a tile that
// are still on their way.
// Expected: wrong numbers in many runs; a race between the copy of a tile (copy_tile) and the ldmatrix
// that reads it.
#define WEFT_FAULT_MISSING_COPY_WAIT
#include "../gemm_mma_sync.cu"
