// SPDX-License-Identifier: Apache-2.0

// Takes the last page of a sequence as full.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_LAST_PAGE
#include "../gqa_paged_decode_ps16.cu"
