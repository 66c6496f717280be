// SPDX-License-Identifier: Apache-2.0

// Forgets to scale the scores.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_SCALE
#include "../fp8_attention.cu"
