// SPDX-License-Identifier: Apache-2.0

// Leaves the positional part out of the scores.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_POSITIONS
#include "../mla_paged_decode.cu"
