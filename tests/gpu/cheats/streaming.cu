// SPDX-License-Identifier: Apache-2.0

// The control of persisting.cu: the same work, and nothing asked of the cache.
#define KEEP_IN_CACHE 0
#include "streaming.cuh"
