// SPDX-License-Identifier: Apache-2.0

// Compiled with -rdc=true together with separate_part.cu: the two units call into each other's code
// and share a variable, so the library has to link them when the program starts.
#include "check.cuh"

extern __device__ int shared_counter;
extern __device__ int square(int value);
static __device__ int local_name(int value) { return value + 1; }

__global__ void use(int* out, int value) {
  out[0] = square(local_name(value));
  shared_counter += 1;
  out[1] = shared_counter;
}

int main() {
  int *out, host[2];
  OK(cudaMalloc(&out, sizeof host));
  use<<<1, 1>>>(out, 6);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 50 && host[1] == 4);
  return passed();
}
