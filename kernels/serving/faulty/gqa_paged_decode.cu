// SPDX-License-Identifier: Apache-2.0

// Reads pages in order instead of through their table.
// The judge must find it: INCORRECT_NUMERICAL.
#define WEFT_FAULT_PAGES
#include "../gqa_paged_decode.cu"
