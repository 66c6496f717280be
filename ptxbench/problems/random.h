// SPDX-License-Identifier: Apache-2.0

// Counter-based random numbers: the value at an index depends on nothing but seed, stream and
// index, so that any part of a tensor can be made by any worker.
#pragma once

#include <cstdint>
#include <span>

#include "base/philox.h"

namespace weft::problems {

enum class Distribution : uint8_t {
  Normal,   // N(0, 1)
  Uniform,  // [-1, 1)
  Spiky,    // N(0, 1) + N(0, 100) Bernoulli(0.001): variance 100, so spikes of about 10
};

// Values first ... first + values.size() - 1 of the stream; `first` is a multiple of 4.
void fill(std::span<float> values, Distribution distribution, uint64_t seed, uint32_t stream,
          uint64_t first);

}  // namespace weft::problems
