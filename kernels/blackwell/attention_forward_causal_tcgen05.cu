// SPDX-License-Identifier: Apache-2.0

// attention_forward_tcgen05.cu with keys behind the query masked.
#define WEFT_CAUSAL 1
#include "attention_forward_tcgen05.cu"
