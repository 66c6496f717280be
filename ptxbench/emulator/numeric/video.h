// SPDX-License-Identifier: Apache-2.0

// Values of the video instructions (PTX ISA 9.7.18): arithmetic on parts of registers, in integers
// wide enough that nothing overflows before the result is clamped.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::emulator::numeric {

// A range of bits taken as a number.
struct Part {
  uint8_t shift = 0;
  uint8_t width = 32;
  bool is_signed = false;
  constexpr int64_t of(uint64_t bits) const {
    const uint64_t field = bits >> shift << (64 - width);
    return is_signed ? static_cast<int64_t>(field) >> (64 - width)
                     : static_cast<int64_t>(field >> (64 - width));
  }
  // Into the range of a number of this width and sign.
  constexpr int64_t clamp(int64_t value) const {
    const int64_t low = is_signed ? -(int64_t{1} << (width - 1)) : 0;
    const int64_t high = (int64_t{1} << (is_signed ? width - 1 : width)) - 1;
    return std::clamp(value, low, high);
  }
  constexpr uint32_t mask() const {
    return static_cast<uint32_t>((uint64_t{1} << width) - 1) << shift;
  }
};

enum class Video : uint8_t {
  Add,
  Subtract,
  Average,
  AbsoluteDifference,
  Minimum,
  Maximum,
  ShiftLeft,
  ShiftRight,
  Compare
};
enum class VideoRelation : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

constexpr bool holds(VideoRelation relation, int64_t a, int64_t b) {
  switch (relation) {
    case VideoRelation::Equal:
      return a == b;
    case VideoRelation::NotEqual:
      return a != b;
    case VideoRelation::Less:
      return a < b;
    case VideoRelation::LessEqual:
      return a <= b;
    case VideoRelation::Greater:
      return a > b;
    default:
      return a >= b;
  }
}

// Shift amounts are 0 to 32 here; a shift to the left can reach bit 63 but not lose one of 32 bits.
constexpr int64_t video_value(Video operation, VideoRelation relation, int64_t a, int64_t b) {
  switch (operation) {
    case Video::Add:
      return a + b;
    case Video::Subtract:
      return a - b;
    case Video::Average:
      return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case Video::AbsoluteDifference:
      return a < b ? b - a : a - b;
    case Video::Minimum:
      return std::min(a, b);
    case Video::Maximum:
      return std::max(a, b);
    case Video::ShiftLeft:
      return static_cast<int64_t>(static_cast<uint64_t>(a) << (b & 63));
    case Video::ShiftRight:
      return a >> (b & 63);
    default:
      return holds(relation, a, b) ? 1 : 0;
  }
}

}  // namespace weft::emulator::numeric
