// SPDX-License-Identifier: Apache-2.0

// Faulty on purpose: the scores are not divided by sqrt(d).
// Expected: wrong numbers (INCORRECT_NUMERICAL) in both o and lse, and no fault.
#define WEFT_FAULT_SCALE
#include "../attention_forward_wgmma.cu"
