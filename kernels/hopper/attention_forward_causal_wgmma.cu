// SPDX-License-Identifier: Apache-2.0

// Causal attention forward: query i sees keys 0 to i. The kernel is that of the unmasked task.
#define WEFT_CAUSAL 1
#include "attention_forward_wgmma.cu"
