// SPDX-License-Identifier: Apache-2.0

// Aligns the causal mask with the start of the keys instead of their end.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_ALIGNMENT
#include "../gqa_paged_prefill.cu"
