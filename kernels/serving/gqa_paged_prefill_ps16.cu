// SPDX-License-Identifier: Apache-2.0

// Grouped-query attention over sequences of several queries, in pages of several tokens; a sequence
// may have none.
#define WEFT_LAST_PAGE
#include "gqa_paged_prefill.cu"
