// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: nobody waits for the mbarrier that the last tcgen05.commit names, so the sums
// are fetched while the tensor core still adds to them. Expected: RUNTIME_ERROR, columns of tensor
// memory are read while the tensor core writes them, at the tcgen05.ld in store_row.
#define WEFT_FAULT_MISSING_COMMIT_WAIT
#include "../gemm_tcgen05.cu"
