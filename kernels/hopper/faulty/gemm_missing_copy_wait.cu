// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: no cp.async.wait_group before the barrier, so ldmatrix may read rows of a tile
// that are still on their way. Expected: a race between the copy of a tile (copy_tile) and the
// ldmatrix that reads it. An H200 gave right numbers at two shapes, because the ring is deep enough
// for the copies to land in time: luck that only a check of the program itself tells from
// correctness.
#define WEFT_FAULT_MISSING_COPY_WAIT
#include "../gemm_mma_sync.cu"
