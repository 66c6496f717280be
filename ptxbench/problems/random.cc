// SPDX-License-Identifier: Apache-2.0

// Four values a counter. The last counter word keeps purposes apart: values, spike decisions,
// spikes.
#include "ptxbench/problems/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/invariant.h"

namespace weft::problems {
namespace {

enum Purpose : uint32_t { kValues = 0, kDecisions = 1, kSpikes = 2 };
// 0.001 of 2^32.
constexpr uint32_t kSpikeThreshold = 4294967;
constexpr float kSpikeDeviation = 10.0f;

float unit(uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}  // [0, 1)

// Box-Muller: two uniform numbers make two normal ones.
void normal_quad(const Quad& bits, float* values) {
  for (int pair = 0; pair < 4; pair += 2) {
    const float radius = std::sqrt(-2.0f * std::log(1.0f - unit(bits[pair])));
    const float angle = 2.0f * std::numbers::pi_v<float> * unit(bits[pair + 1]);
    values[pair] = radius * std::cos(angle);
    values[pair + 1] = radius * std::sin(angle);
  }
}

}  // namespace

void fill(std::span<float> values, Distribution distribution, uint64_t seed, uint32_t stream,
          uint64_t first) {
  INVARIANT(first % 4 == 0);
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed),
                                       static_cast<uint32_t>(seed >> 32)};
  for (size_t start = 0; start < values.size(); start += 4) {
    const uint64_t quad = (first + start) / 4;
    const auto draw = [&](Purpose purpose) {
      return philox(
          {static_cast<uint32_t>(quad), static_cast<uint32_t>(quad >> 32), stream, purpose}, key);
    };
    const Quad bits = draw(kValues);
    float made[4];
    if (distribution == Distribution::Uniform) {
      for (int i = 0; i < 4; ++i) made[i] = 2.0f * unit(bits[i]) - 1.0f;
    } else {
      normal_quad(bits, made);
    }
    if (distribution == Distribution::Spiky) {
      const Quad decisions = draw(kDecisions);
      const auto chosen = [](uint32_t decision) { return decision < kSpikeThreshold; };
      if (std::any_of(decisions.begin(), decisions.end(), chosen)) {
        float spikes[4];
        normal_quad(draw(kSpikes), spikes);
        for (int i = 0; i < 4; ++i)
          made[i] += chosen(decisions[i]) ? kSpikeDeviation * spikes[i] : 0.0f;
      }
    }
    std::copy_n(made, std::min<size_t>(4, values.size() - start), values.begin() + start);
  }
}

}  // namespace weft::problems
