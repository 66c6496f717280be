// SPDX-License-Identifier: Apache-2.0

// The other unit of separate_main.cu. Its internal function has the name of one over there.
__device__ int shared_counter = 3;
static __device__ __noinline__ int local_name(int value) { return value; }
__device__ int square(int value) { return local_name(value) * value + 1; }
