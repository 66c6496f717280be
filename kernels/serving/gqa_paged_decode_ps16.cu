// SPDX-License-Identifier: Apache-2.0

// Grouped-query attention, one query a sequence, in pages of several tokens; a sequence may have none.
#define WEFT_LAST_PAGE
#include "gqa_paged_decode.cu"
