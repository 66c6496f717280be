// SPDX-License-Identifier: Apache-2.0

// Grouped-query attention over packed sequences of which some have no keys.
#include "gqa_ragged_prefill.cu"
