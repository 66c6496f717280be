// SPDX-License-Identifier: Apache-2.0

// OpenMP here and nowhere else: what is compiled with LibTorch's headers would need it in the
// precompiled header too.
#include "lattice/blocks/parts.h"

namespace weft::lattice {

void in_parts(int64_t count,
              const std::function<void(int64_t part, int64_t begin, int64_t end)>& work) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t part = 0; part < kParts; ++part) {
    const int64_t begin = count * part / kParts, end = count * (part + 1) / kParts;
    if (begin < end) work(part, begin, end);
  }
}

}  // namespace weft::lattice
