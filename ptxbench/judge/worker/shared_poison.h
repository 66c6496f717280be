// SPDX-License-Identifier: Apache-2.0

// Fills the shared memory of every multiprocessor of a GPU, so that a kernel which reads what it
// never wrote meets the pattern and not the zeros that usually lie there. The emulator does this by
// itself.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ptxbench/judge/worker/runtime.h"

namespace weft::judge {

class SharedPoison {
 public:
  static Result<SharedPoison> create(const Runtime& runtime);
  // Every byte becomes `pattern`. The device is idle afterwards.
  Result<Done> fill(uint8_t pattern) const;

 private:
  const Runtime* runtime_ = nullptr;
  Driver driver_;
  void* function_ = nullptr;
  uint32_t multiprocessors_ = 0, bytes_ = 0;  // bytes: of shared memory a block
};

}  // namespace weft::judge
