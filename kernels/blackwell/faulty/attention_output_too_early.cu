// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: nobody waits for the product of the last weights and values before the output
// is fetched. Expected: RUNTIME_ERROR, columns of tensor memory are read or given back while the
// tensor core writes them, by source line.
#define WEFT_FAULT_OUTPUT_TOO_EARLY
#include "../attention_forward_tcgen05.cu"
