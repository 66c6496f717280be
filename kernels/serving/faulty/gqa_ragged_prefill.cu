// SPDX-License-Identifier: Apache-2.0

// Returns the natural log-sum-exp instead of that of base 2.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_BASE
#include "../gqa_ragged_prefill.cu"
