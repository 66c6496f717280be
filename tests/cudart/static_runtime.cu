// SPDX-License-Identifier: Apache-2.0

// Compiled the way nvcc does by default, with the runtime inside the program: the emulated driver cannot
// serve that and has to say what to do. The first call fails; nothing crashes.
#include <cstdio>

int main() {
  int* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, 4);
  std::printf("%s\n", error == cudaErrorCallRequiresNewerDriver || error == cudaErrorNotSupported
                          ? "PASS"
                          : cudaGetErrorName(error));
  return 0;
}
