// SPDX-License-Identifier: Apache-2.0

// What the judge needs from its surroundings, found relative to the program that runs.
#pragma once

#include <string>

#include "base/result.h"

namespace weft::judge {

struct Toolchain {
  std::string nvcc;           // empty: not found
  std::string nvcc_reason;    // why not
  std::string headers;        // kernels/include; empty: not found
  std::string problems;       // the task folder; empty: not found
  std::string worker;         // ptxbench-worker; empty: not found
  std::string library;        // ptxbench-library; empty: not found
  std::string replay;         // ptxbench-replay; empty: not found
  std::string emulated_cuda;  // folder with our libcudart.so.13; empty: not found
};

// Looks beside the executable, in the folders above it and in those above the working directory.
// The environment may name things: WEFT_NVCC (or CUDA_HOME), WEFT_PROBLEMS.
Toolchain find_toolchain();

// The hint for whatever is missing, as one sentence.
Result<Done> require_nvcc(const Toolchain& toolchain);
Result<Done> require_emulator(const Toolchain& toolchain);

}  // namespace weft::judge
