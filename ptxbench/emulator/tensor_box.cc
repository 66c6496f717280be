// SPDX-License-Identifier: Apache-2.0

// Walks boxes row by row. A row that lies inside the tensor moves in 16-byte chunks straight
// between the two memories; only rows that cross the tensor's edge go through a buffer.

#include "ptxbench/emulator/tensor_box.h"

#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>

namespace weft::emulator {

namespace {

constexpr uint32_t kChunk = 16;
constexpr uint32_t kLine = 128;
constexpr uint64_t kRowsAhead = 16;         // enough to hide memory behind the rows between
constexpr uint32_t kMaxRowBytes = 256 * 8;  // the longest box row, in the widest elements

// Address bits 7 and up move chunks within a line of 128 bytes:
//   address ^= ((address >> 7) & mask) << shift
// The 8-byte flip also swaps the halves of each chunk in every other line.
struct Pattern {
  uint32_t mask = 0, shift = 4;
  bool flip = false;
  uint32_t in_line(uint32_t address) const { return ((address >> 7) & mask) << shift; }
};

Pattern pattern_of(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::None:
      return {};
    case TensorSwizzle::Bytes32:
      return {.mask = 1};
    case TensorSwizzle::Bytes64:
      return {.mask = 3};
    case TensorSwizzle::Bytes128:
      return {.mask = 7};
    case TensorSwizzle::Bytes128Atom32:
      return {.mask = 3, .shift = 5};
    case TensorSwizzle::Bytes128Atom32Flip8:
      return {.mask = 3, .shift = 5, .flip = true};
    case TensorSwizzle::Bytes128Atom64:
      return {.mask = 1, .shift = 6};
  }
  return {};
}

// The elements of a box that lie inside the tensor along one dimension: [first, end) of its counts.
struct Inside {
  uint32_t first = 0, end = 0;
};

uint32_t step_of(const TensorMap& map, size_t dimension) {
  // Dimension 0 has no element stride without interleave (cuTensorMapEncodeTiled).
  return dimension == 0 ? 1 : std::max<uint32_t>(1, map.element_strides[dimension]);
}

Inside inside_along(const TensorBox& box, size_t dimension) {
  const int64_t step = step_of(box.map, dimension);
  const int64_t start = box.start[dimension];
  const auto extent = static_cast<int64_t>(box.map.extent(static_cast<int>(dimension)));
  const int64_t count = box.counts[dimension];
  const int64_t first = start >= 0 ? 0 : (-start + step - 1) / step;
  const int64_t end = start >= extent ? 0 : (extent - start + step - 1) / step;
  return {static_cast<uint32_t>(std::min(first, count)),
          static_cast<uint32_t>(std::clamp(end, std::min(first, count), count))};
}

bool is_im2col(const TensorBox& box) {
  return box.map.mode == TensorMode::Im2col;
}

// im2col: pixels follow each other along W, then H, then D, then N. Along each spatial dimension
// they run through the bounding box, from its lower corner to its upper one (which counts from the
// tensor's last pixel), in steps of the element stride (PTX ISA 9.0, section 5.5.4).
template <typename Row>
void each_pixel(const TensorBox& box, Row row) {
  const TensorMap& map = box.map;
  const size_t last = map.rank - 1u;  // dimension N
  std::array<int64_t, 5> at{};
  for (size_t d = 1; d < map.rank; ++d) at[d] = box.start[d];
  for (uint32_t number = 0; number < box.rows; ++number) {
    bool inside = true;
    uint64_t offset = 0;
    for (size_t d = 1; d <= last; ++d) {
      const int64_t coordinate = at[d] + (d < last ? box.pixel_offsets[d - 1] : 0);
      inside = inside && coordinate >= 0 &&
               coordinate < static_cast<int64_t>(map.extent(static_cast<int>(d)));
      offset += static_cast<uint64_t>(coordinate) * map.strides[d - 1];
    }
    row(number, inside, offset);
    size_t d = 1;
    for (; d < last; ++d) {
      at[d] += step_of(map, d);
      const int64_t end = int64_t{map.last_index[d]} + map.upper_corner[d - 1];
      if (at[d] <= end) break;
      at[d] = map.lower_corner[d - 1];
    }
    if (d == last) ++at[last];
  }
}

// Calls row(number, inside, offset) for each row in order; `offset` is where the row's coordinate 0
// along dimension 0 lies, in bytes from the tensor's address, and means nothing outside.
template <typename Row>
void each_row(const TensorBox& box, Row row) {
  uint32_t number = 0;
  if (is_im2col(box)) return each_pixel(box, row);
  if (box.four_rows) {
    for (const int32_t at : box.rows_at) {
      const bool inside = at >= 0 && static_cast<uint64_t>(at) < box.map.extent(1);
      row(number++, inside, inside ? static_cast<uint64_t>(at) * box.map.strides[0] : 0);
    }
    return;
  }
  std::array<Inside, 5> inside{};
  for (size_t d = 1; d < 5; ++d) inside[d] = d < box.map.rank ? inside_along(box, d) : Inside{0, 1};
  const auto offset_along = [&](size_t d, uint32_t i) -> uint64_t {
    if (d >= box.map.rank) return 0;
    const int64_t coordinate = box.start[d] + static_cast<int64_t>(i) * step_of(box.map, d);
    return static_cast<uint64_t>(coordinate) * box.map.strides[d - 1];
  };
  const auto holds = [&](size_t d, uint32_t i) {
    return i >= inside[d].first && i < inside[d].end;
  };
  for (uint32_t i4 = 0; i4 < box.counts[4]; ++i4)
    for (uint32_t i3 = 0; i3 < box.counts[3]; ++i3)
      for (uint32_t i2 = 0; i2 < box.counts[2]; ++i2) {
        const bool outer_inside = holds(4, i4) && holds(3, i3) && holds(2, i2);
        const uint64_t outer = offset_along(4, i4) + offset_along(3, i3) + offset_along(2, i2);
        for (uint32_t i1 = 0; i1 < box.counts[1]; ++i1)
          row(number++, outer_inside && holds(1, i1), outer + offset_along(1, i1));
      }
}

// Moves whole chunks of one row between dense memory and its swizzled place.
enum class Direction : uint8_t { ToShared, FromShared };

template <Direction kDirection, typename Dense, typename Shared>
void move_row(const Pattern& pattern, Dense* dense, Shared* shared, uint32_t address,
              uint32_t offset, uint32_t bytes) {
  const auto move = [](auto* to, const auto* from, size_t size) { std::memcpy(to, from, size); };
  if (pattern.mask == 0) {
    if constexpr (kDirection == Direction::ToShared)
      move(shared + offset, dense, bytes);
    else
      move(dense, shared + offset, bytes);
    return;
  }
  // A row never crosses a line of 128 bytes, because its pitch divides 128.
  const uint32_t row_address = address + offset;
  const uint32_t in_line = row_address & (kLine - 1);
  const uint32_t twist = pattern.in_line(row_address);
  const bool flipped = pattern.flip && (row_address >> 7 & 1) != 0;
  Shared* line = shared + (offset - in_line);
  if (pattern.shift == 4 && !flipped && (in_line | bytes) % (2 * kChunk) == 0) {
    // Two chunks stay neighbours, in this order or the other.
    const bool exchanged = (twist & kChunk) != 0;
    for (uint32_t at = 0; at < bytes; at += 2 * kChunk) {
      Shared* pair = line + ((in_line + at) ^ (twist & ~kChunk));
      __m256i two;
      if constexpr (kDirection == Direction::ToShared)
        std::memcpy(&two, dense + at, sizeof two);
      else
        std::memcpy(&two, pair, sizeof two);
      if (exchanged) two = _mm256_permute2x128_si256(two, two, 1);
      if constexpr (kDirection == Direction::ToShared)
        std::memcpy(pair, &two, sizeof two);
      else
        std::memcpy(dense + at, &two, sizeof two);
    }
    return;
  }
  for (uint32_t at = 0; at < bytes; at += kChunk) {
    Shared* chunk = line + ((in_line + at) ^ twist);
    if (!flipped) {
      if constexpr (kDirection == Direction::ToShared)
        move(chunk, dense + at, kChunk);
      else
        move(dense + at, chunk, kChunk);
    } else {
      for (uint32_t half = 0; half < kChunk; half += 8) {
        if constexpr (kDirection == Direction::ToShared)
          move(chunk + (half ^ 8), dense + at + half, 8);
        else
          move(dense + at + half, chunk + (half ^ 8), 8);
      }
    }
  }
}

// Fills a row with what elements outside the tensor read as.
void fill_row(const TensorMap& map, std::byte* row, uint32_t bytes) {
  std::memset(row, 0, bytes);
  if (map.fill == TensorFill::Zero) return;
  const auto repeat = [&](auto value) {
    for (uint32_t at = 0; at + sizeof value <= bytes; at += sizeof value)
      std::memcpy(row + at, &value, sizeof value);
  };
  switch (map.element) {
    case TensorElement::F16:
    case TensorElement::Bf16:
      repeat(uint16_t{0x7fff});
      break;
    case TensorElement::F32:
    case TensorElement::F32Ftz:
    case TensorElement::Tf32:
    case TensorElement::Tf32Ftz:
      repeat(uint32_t{0x7fffffff});
      break;
    case TensorElement::F64:
      repeat(uint64_t{0x7fffffffffffffff});
      break;
    default:
      break;
  }
}

// Bytes of `count` elements; sub-byte elements come in whole bytes.
uint64_t bytes_of(const TensorMap& map, uint64_t count) {
  return count * element_bits(map.element) / 8;
}

// Where the in-tensor part of each row begins and ends, in bytes of the row, and the row's place in
// the tensor.
struct RowPart {
  uint32_t first = 0, end = 0;
  uint64_t offset = 0;  // of the first byte, from the row's coordinate 0
};

RowPart row_part(const TensorBox& box) {
  const Inside inside = inside_along(box, 0);
  return {.first = static_cast<uint32_t>(bytes_of(box.map, inside.first)),
          .end = static_cast<uint32_t>(bytes_of(box.map, inside.end)),
          .offset =
              inside.first == inside.end
                  ? 0
                  : bytes_of(box.map, static_cast<uint64_t>(int64_t{box.start[0]} + inside.first))};
}

// Between sixteen elements side by side and sixteen in the front of 16 bytes.
void pad_row(const TensorBox& box, const std::byte* dense, std::byte* padded) {
  const uint32_t group = 2 * element_bits(box.map.element);  // bytes
  std::memset(padded, 0, box.shared_row_bytes);
  for (uint32_t g = 0; g < box.shared_row_bytes / kChunk; ++g)
    std::memcpy(padded + g * kChunk, dense + g * group, group);
}
void unpad_row(const TensorBox& box, std::byte* row) {
  const uint32_t group = 2 * element_bits(box.map.element);
  for (uint32_t g = 1; g < box.shared_row_bytes / kChunk; ++g)
    std::memmove(row + g * group, row + g * kChunk, group);
}

std::string_view element_name(TensorElement element) {
  constexpr std::string_view kNames[] = {
      "u8",  "u16",  "u32",       "s32",  "u64",        "s64",   "f16",       "f32",
      "f64", "bf16", "f32 (ftz)", "tf32", "tf32 (ftz)", "b4x16", "b4x16_p64", "b6x16_p32"};
  const auto index = static_cast<size_t>(element);
  return index < std::size(kNames) ? kNames[index] : "unknown element";
}

}  // namespace

std::optional<std::string> shape_box(TensorBox& box) {
  const TensorMap& map = box.map;
  if (static_cast<uint8_t>(map.element) > static_cast<uint8_t>(TensorElement::U6x16Align16))
    return "tensor map has no known element type";
  if (static_cast<uint8_t>(map.swizzle) > static_cast<uint8_t>(TensorSwizzle::Bytes128Atom64))
    return "tensor map has no known swizzle mode";
  if (map.global_address % 16 != 0) return "tensor address is not a multiple of 16";
  box.counts.fill(1);
  box.rows = 1;
  const bool pixels = is_im2col(box);
  for (size_t d = 0; d < map.rank; ++d) {
    if (!pixels && (map.box[d] < 1 || map.box[d] > 256))
      return fmt::format("box extent of dimension {} is outside 1 ... 256: {}", d, map.box[d]);
    if (d > 0 && (map.element_strides[d] < 1 || map.element_strides[d] > 8))
      return fmt::format("element stride of dimension {} is outside 1 ... 8: {}", d,
                         map.element_strides[d]);
    if (d > 0 && map.strides[d - 1] % 16 != 0)
      return fmt::format("stride of dimension {} is not a multiple of 16 bytes: {}", d,
                         map.strides[d - 1]);
    if (pixels) continue;
    const uint32_t step = step_of(map, d);
    box.counts[d] = (map.box[d] + step - 1) / step;
    if (d > 0) box.rows *= box.counts[d];
  }
  if (pixels) {
    if (map.rank < 3) return "im2col needs a tensor of three dimensions or more";
    if (map.channels_per_pixel < 1 || map.channels_per_pixel > 256 || map.pixels_per_column < 1 ||
        map.pixels_per_column > 1024)
      return "im2col needs 1 ... 256 channels per pixel and 1 ... 1024 pixels per column";
    box.counts[0] = map.channels_per_pixel;
    box.rows = map.pixels_per_column;
  }
  if (box.four_rows) {
    if (map.rank != 2) return "gather4 and scatter4 need a tensor of two dimensions";
    box.rows = 4;
  }
  box.row_bytes = static_cast<uint32_t>(bytes_of(map, box.counts[0]));
  box.shared_row_bytes = is_padded(map.element) ? box.counts[0] : box.row_bytes;
  if (box.shared_row_bytes % kChunk != 0)
    return fmt::format("inner extent of the box is not a multiple of 16 bytes: {}",
                       box.shared_row_bytes);
  const uint32_t span = swizzle_bytes(map.swizzle);
  if (span != 0 && box.shared_row_bytes > span)
    return fmt::format("inner extent of the box exceeds the {}-byte swizzle: {} bytes", span,
                       box.shared_row_bytes);
  if (is_padded(map.element) && box.start[0] % 128 != 0)
    return fmt::format("{} begins at a multiple of 128 along dimension 0, not at {}",
                       element_name(map.element), box.start[0]);
  box.pitch = span != 0 ? span : box.shared_row_bytes;
  return std::nullopt;
}

std::optional<ByteRange> touched_bytes(const TensorBox& box) {
  const RowPart part = row_part(box);
  if (part.first == part.end) return std::nullopt;
  uint64_t first = 0, last = 0;
  if (box.four_rows || is_im2col(box)) {
    bool any = false;
    each_row(box, [&](uint32_t, bool inside, uint64_t offset) {
      if (!inside) return;
      first = any ? std::min(first, offset) : offset;
      last = any ? std::max(last, offset) : offset;
      any = true;
    });
    if (!any) return std::nullopt;
  } else {
    for (size_t d = 1; d < box.map.rank; ++d) {
      const Inside inside = inside_along(box, d);
      if (inside.first == inside.end) return std::nullopt;
      const int64_t step = step_of(box.map, d);
      const uint64_t stride = box.map.strides[d - 1];
      first += static_cast<uint64_t>(box.start[d] + inside.first * step) * stride;
      last += static_cast<uint64_t>(box.start[d] + (inside.end - 1) * step) * stride;
    }
  }
  return ByteRange{first + part.offset, last + part.offset + (part.end - part.first)};
}

std::vector<ByteRange> touched_rows(const TensorBox& box) {
  std::vector<ByteRange> ranges;
  const RowPart part = row_part(box);
  if (part.first == part.end) return ranges;
  each_row(box, [&](uint32_t, bool inside, uint64_t offset) {
    const uint64_t first = offset + part.offset;
    if (inside) ranges.push_back({first, first + (part.end - part.first)});
  });
  return ranges;
}

void load_box(const TensorBox& box, const std::byte* tensor, std::byte* shared, uint32_t address) {
  const Pattern pattern = pattern_of(box.map.swizzle);
  const RowPart part = row_part(box);
  const bool whole_rows = part.first == 0 && part.end == box.row_bytes;
  alignas(64) std::byte outside[kMaxRowBytes];
  alignas(64) std::byte buffer[kMaxRowBytes];
  alignas(64) std::byte padded[kMaxRowBytes];
  const bool pads = is_padded(box.map.element);
  fill_row(box.map, outside, box.row_bytes);
  each_row(box, [&](uint32_t number, bool inside, uint64_t offset) {
    const std::byte* row = outside;
    if (inside && whole_rows) {
      row = tensor + offset + part.offset;
      // Rows of a tensor lie pages apart, which no hardware foresees. Their lines share a few sets
      // of the first cache, so they are brought into the second.
      for (uint32_t line = 0; line < box.row_bytes; line += 64)
        __builtin_prefetch(row + kRowsAhead * box.map.strides[0] + line, 0, 2);
    } else if (inside && part.first != part.end) {
      std::memcpy(buffer, outside, box.row_bytes);
      std::memcpy(buffer + part.first, tensor + offset + part.offset, part.end - part.first);
      row = buffer;
    }
    if (pads) {
      pad_row(box, row, padded);
      row = padded;
    }
    move_row<Direction::ToShared>(pattern, row, shared, address, number * box.pitch,
                                  box.shared_row_bytes);
  });
}

void store_box(const TensorBox& box, std::byte* tensor, const std::byte* shared, uint32_t address,
               Combine combine) {
  const Pattern pattern = pattern_of(box.map.swizzle);
  const RowPart part = row_part(box);
  if (part.first == part.end) return;
  const bool pads = is_padded(box.map.element);
  const bool direct = combine == nullptr && !pads && part.first == 0 && part.end == box.row_bytes;
  alignas(64) std::byte buffer[kMaxRowBytes];
  each_row(box, [&](uint32_t number, bool inside, uint64_t offset) {
    if (!inside) return;
    std::byte* to = tensor + offset + part.offset;
    std::byte* row = direct ? to : buffer;
    move_row<Direction::FromShared>(pattern, row, shared, address, number * box.pitch,
                                    box.shared_row_bytes);
    if (direct) return;
    if (pads) unpad_row(box, buffer);
    if (combine != nullptr)
      combine(to, buffer + part.first, part.end - part.first);
    else
      std::memcpy(to, buffer + part.first, part.end - part.first);
  });
}

std::string describe_tensor(const TensorMap& map) {
  std::string extents, boxes;
  for (int d = 0; d < std::min<int>(map.rank, 5); ++d) {
    extents += fmt::format("{}{}", d == 0 ? "" : " x ", map.extent(d));
    boxes += fmt::format("{}{}", d == 0 ? "" : " x ", map.box[d]);
  }
  const uint32_t span = swizzle_bytes(map.swizzle);
  return fmt::format("tensor map: {} of {} (innermost first) at {:#x}, box {}, {}",
                     element_name(map.element), extents, map.global_address, boxes,
                     span == 0 ? "no swizzle" : fmt::format("{}-byte swizzle", span));
}

}  // namespace weft::emulator
