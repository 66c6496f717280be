// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: the consumers never wait for the copy engine, so wgmma reads tiles that have not
// landed yet.
// Expected: wrong numbers in most runs; a race between the copy into a stage (produce) and the wgmma
// that reads it (consume).
#define WEFT_FAULT_MISSING_FULL_WAIT
#include "../gemm_wgmma.cu"
