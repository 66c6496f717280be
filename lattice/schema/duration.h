// SPDX-License-Identifier: Apache-2.0

// Durations as people write them in configurations: "30s", "90m", "2.5h", "7d". Times are
// microseconds since 1970-01-01 UTC everywhere inside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::lattice {

constexpr double kMicroseconds = 1e6;

std::optional<double> parse_duration(std::string_view text);  // seconds; not negative
std::string format_duration(double seconds);                  // the largest unit that is whole

inline int64_t to_microseconds(double seconds) {
  return static_cast<int64_t>(seconds * kMicroseconds + 0.5);
}

// "2025-01-31" or "2025-01-31T12:30:00Z": microseconds UTC. Other zones are not taken here.
std::optional<int64_t> parse_instant(std::string_view text);
std::string format_instant(int64_t microseconds);  // "2025-01-31T12:30:00Z", fraction when there is

}  // namespace weft::lattice
