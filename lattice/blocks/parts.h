// SPDX-License-Identifier: Apache-2.0

// Work in a fixed number of parts, by the threads that LibTorch's own operations use. The parts do
// not depend on the number of threads, so neither do sums that are kept a part.
#pragma once

#include <cstdint>
#include <functional>

namespace weft::lattice {

constexpr int64_t kParts = 16;

// Calls work(part, begin, end) for kParts runs that together are [0, count), each once.
void in_parts(int64_t count,
              const std::function<void(int64_t part, int64_t begin, int64_t end)>& work);

}  // namespace weft::lattice
