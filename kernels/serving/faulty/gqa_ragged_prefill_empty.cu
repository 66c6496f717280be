// SPDX-License-Identifier: Apache-2.0

// Divides by the sum of no weights where a sequence is empty.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_EMPTY
#include "../gqa_ragged_prefill.cu"
