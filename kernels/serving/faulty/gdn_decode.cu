// SPDX-License-Identifier: Apache-2.0

// Lets the state keep what it should forget.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_DECAY
#include "../gdn_decode.cu"
