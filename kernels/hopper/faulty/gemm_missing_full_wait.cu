// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: the consumers never wait for the copy engine, so wgmma reads tiles that have
// not landed yet. Expected: a race between the copy into a stage (produce) and the wgmma that reads
// it (consume). An H200 gave wrong numbers once and a launch failure another time: the block may
// end under the copies.
#define WEFT_FAULT_MISSING_FULL_WAIT
#include "../gemm_wgmma.cu"
