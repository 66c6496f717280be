// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: the "empty" barriers expect one arrival more than the consumers ever make. The
// ring is filled once, then the producer waits for a free stage and the consumers for a full one.
// Expected: deadlock, reported at the producer's wait on the empty barrier (produce) and the
// consumers' wait on the full one, for K above 256. An H200 hangs.
#define WEFT_FAULT_BARRIER_COUNT
#include "../gemm_wgmma.cu"
