// SPDX-License-Identifier: Apache-2.0

// Output of kernels appears at the next synchronisation, in order, between that of the host.
#include "check.cuh"

__global__ void say(int number) {
  printf("kernel %d thread %d %s %.2f\n", number, threadIdx.x, "text", 1.5);
}

int main() {
  say<<<1, 1>>>(1);
  say<<<1, 1>>>(2);
  std::puts("host");
  OK(cudaDeviceSynchronize());
  return passed();
}
