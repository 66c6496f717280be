// SPDX-License-Identifier: Apache-2.0

// Every thread hands its number to the one opposite, through shared memory. With the argument
// "races" nobody waits between the two steps; with "faults" a thread writes beyond the array.
#include <cstdio>
#include <cstring>

constexpr int kThreads = 256;

__global__ void exchange(int* out, bool waits, int beyond) {
  __shared__ int numbers[kThreads];
  numbers[threadIdx.x] = 0;
  __syncthreads();
  numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (waits) __syncthreads();
  out[threadIdx.x + beyond] = numbers[kThreads - 1 - threadIdx.x];
}

int main(int argc, char** argv) {
  const bool races = argc > 1 && std::strcmp(argv[1], "races") == 0;
  const bool faults = argc > 1 && std::strcmp(argv[1], "faults") == 0;
  int* out = nullptr;
  int host[kThreads];
  if (cudaMalloc(&out, sizeof host) != cudaSuccess) return 3;
  exchange<<<1, kThreads>>>(out, !races, faults ? 1 << 20 : 0);
  if (cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 4;
  std::printf("%d\n", host[0]);
  cudaFree(out);
  return 0;
}
