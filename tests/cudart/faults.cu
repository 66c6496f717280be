// SPDX-License-Identifier: Apache-2.0

// A kernel's fault: the launch succeeds, the next synchronisation answers the error, and the error
// stays. Which fault is the program's argument; the library's own message goes to stderr.
#include <cassert>
#include <cstring>

#include "check.cuh"

__global__ void fault(int kind, char* memory) {
  switch (kind) {
    case 0: memory[1ll << 40] = 1; break;
    case 1: *reinterpret_cast<int*>(memory + 1) = 1; break;
    case 2: __trap(); break;
    case 3: assert(threadIdx.x < 1); break;
  }
}

int main(int argc, char** argv) {
  const cudaError_t expected[] = {cudaErrorIllegalAddress, cudaErrorMisalignedAddress,
                                  cudaErrorLaunchFailure, cudaErrorAssert};
  const int kind = argc > 1 ? argv[1][0] - '0' : 0;
  char* memory;
  OK(cudaMalloc(&memory, 64));
  fault<<<2, 32>>>(kind, memory);
  EXPECT(expected[kind], cudaDeviceSynchronize());
  EXPECT(expected[kind], cudaGetLastError());
  EXPECT(expected[kind], cudaMalloc(&memory, 64));
  EXPECT(expected[kind], cudaMemset(memory, 0, 4));
  return passed();
}
