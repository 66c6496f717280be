// SPDX-License-Identifier: Apache-2.0

// Causal attention backward: query i saw keys 0 to i. The kernels are those of the unmasked task.
#define WEFT_CAUSAL 1
#include "attention_backward_wgmma.cu"
