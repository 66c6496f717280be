// SPDX-License-Identifier: Apache-2.0

// Random numbers of one row: a stream that depends on the seed, the purpose and the row's number,
// so that rows can be made in any order by any worker.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/philox.h"

namespace weft::lattice {

enum class Purpose : uint32_t {
  Impression,
  Outcome,
  User,
  Item,
  Advertiser,
  Weights,
  Events,
  Drift
};

class Draws {
 public:
  Draws(uint64_t seed, Purpose purpose, uint64_t row)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        row_(row),
        purpose_(static_cast<uint32_t>(purpose)) {}

  uint32_t bits() {
    if (used_ == 4) {
      quad_ = philox(
          {static_cast<uint32_t>(row_), static_cast<uint32_t>(row_ >> 32), purpose_, block_++},
          key_);
      used_ = 0;
    }
    return quad_[used_++];
  }
  double uniform() { return (bits() + 0.5) * 0x1p-32; }  // (0, 1)
  double exponential(double mean) { return -mean * std::log(uniform()); }
  // Box-Muller; the second of each pair is kept.
  float normal() {
    if (kept_) {
      kept_ = false;
      return spare_;
    }
    const float radius = std::sqrt(-2.0f * std::log(static_cast<float>(uniform())));
    const float angle = 2.0f * std::numbers::pi_v<float> * static_cast<float>(uniform());
    spare_ = radius * std::sin(angle);
    kept_ = true;
    return radius * std::cos(angle);
  }
  // A rank from 0 to count - 1 whose frequency falls as rank^-exponent (by the integral, so the
  // first ranks are about right and the tail exactly shaped).
  uint64_t zipf(uint64_t count, double exponent) {
    const double u = uniform(), power = 1 - exponent, n = static_cast<double>(count) + 1;
    const double x = std::abs(power) < 1e-9 ? std::exp(u * std::log(n))
                                            : std::pow(u * (std::pow(n, power) - 1) + 1, 1 / power);
    const auto rank = static_cast<uint64_t>(x - 1);
    return rank < count ? rank : count - 1;
  }

 private:
  std::array<uint32_t, 2> key_;
  uint64_t row_;
  uint32_t purpose_, block_ = 0;
  Quad quad_{};
  int used_ = 4;
  bool kept_ = false;
  float spare_ = 0;
};

}  // namespace weft::lattice
