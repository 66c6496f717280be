// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: the commit that releases a stage names block 0 only, so the producer of block
// 1 never gets its stages back. Seen from five steps of K on. Expected: RUNTIME_ERROR, a deadlock
// in which block 1 waits for its mbarrier in produce.
#define WEFT_FAULT_COMMIT_TO_ONE_BLOCK
#include "../gemm_tcgen05_pair.cu"
