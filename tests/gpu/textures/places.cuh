// SPDX-License-Identifier: Apache-2.0

// Where textures are looked up: lists of places, random ones and those with a meaning.
#pragma once

#include <vector>

#include "tests/gpu/textures/lookups.cuh"
#include "tests/gpu/textures/objects.cuh"

namespace textures {

using Places = std::vector<Place>;

inline Places random_places(int count, float low, float high, uint64_t seed) {
  Places places;
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i)
    places.push_back({between(seed + 5 * i, low, high), between(seed + 5 * i + 1, low, high),
                      between(seed + 5 * i + 2, low, high),
                      static_cast<int>(mix(seed + 5 * i + 3) % 8) - 1,
                      between(seed + 5 * i + 4, -1, 5)});
  return places;
}
inline Places steps(float first, float step, int count, float y = 0.5f) {
  Places places;
  for (int i = 0; i < count; ++i)
    places.push_back({first + step * static_cast<float>(i), y, 0.5f, 0, 0});
  return places;
}
inline Places whole_numbers() {
  Places places;
  for (int y = -2; y < 7; ++y)
    for (int x = -3; x < 12; ++x)
      places.push_back({static_cast<float>(x), static_cast<float>(y), 0, (x + y) % 6,
                        static_cast<float>((x + 3) % 4)});
  return places;
}

}  // namespace textures
