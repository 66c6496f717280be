// SPDX-License-Identifier: Apache-2.0

// Starts from the state with the sequence's number instead of the one it is given.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_POOL
#include "../gdn_mtp.cu"
