// SPDX-License-Identifier: Apache-2.0

// Boxes are compared with a naive model that places one byte at a time: coordinates by the manual's
// definition of tile mode, places by the index relation of the CUDA programming guide,
//   shared[line][chunk] holds logical chunk ((line + offset) % n) ^ chunk,
// written without the address arithmetic of the implementation.

#include "ptxbench/emulator/tensor_box.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace weft::emulator {
namespace {

constexpr std::byte kUntouched{0xee};

// Where the byte `at` of row `row` lies, as an offset from the box's first byte.
uint32_t place_of_byte(const TensorBox& box, uint32_t address, uint32_t row, uint32_t at) {
  const uint32_t logical = row * box.pitch + at;
  const uint32_t span = swizzle_bytes(box.map.swizzle);
  if (span == 0) return logical;
  const uint32_t chunks = span / 16;  // the pattern repeats after this many lines
  const uint32_t line = logical / 128, chunk = logical % 128 / 16;
  const uint32_t offset = address / 128 % chunks;  // of the pattern against the buffer
  const uint32_t twisted = chunk ^ ((line + offset) % chunks);
  return line * 128 + twisted * 16 + logical % 16;
}

struct Tensor {
  TensorBox box;
  std::vector<std::byte> bytes;
};

// One element at a time, innermost dimension first. Calls f(tensor offset or -1, shared offset).
template <typename F>
void naive_bytes(const TensorBox& box, uint32_t address, F f) {
  const TensorMap& map = box.map;
  const uint32_t element = element_bits(map.element) / 8;
  uint32_t counts[5] = {1, 1, 1, 1, 1};
  for (int d = 0; d < map.rank; ++d) {
    const uint32_t stride = d == 0 ? 1 : map.element_strides[d];
    counts[d] = (map.box[d] + stride - 1) / stride;
  }
  uint32_t number = 0;
  for (uint32_t e = 0; e < counts[4]; ++e)
    for (uint32_t d = 0; d < counts[3]; ++d)
      for (uint32_t c = 0; c < counts[2]; ++c)
        for (uint32_t b = 0; b < counts[1]; ++b)
          for (uint32_t a = 0; a < counts[0]; ++a, ++number) {
            const uint32_t index[5] = {a, b, c, d, e};
            bool inside = true;
            int64_t offset = 0;
            for (int dim = 0; dim < map.rank; ++dim) {
              const int64_t at = box.start[static_cast<size_t>(dim)] +
                                 int64_t{index[dim]} * (dim == 0 ? 1 : map.element_strides[dim]);
              inside = inside && at >= 0 && at < static_cast<int64_t>(map.extent(dim));
              offset += at * (dim == 0 ? element : static_cast<int64_t>(map.strides[dim - 1]));
            }
            const uint32_t row = number / counts[0], column = number % counts[0] * element;
            for (uint32_t byte = 0; byte < element; ++byte)
              f(inside ? offset + byte : -1, place_of_byte(box, address, row, column + byte));
          }
}

class RandomBoxes : public ::testing::TestWithParam<uint32_t> {
 protected:
  // A map that cuTensorMapEncodeTiled would accept, and a start that may lie outside.
  Tensor make(std::mt19937& random) {
    const auto pick = [&](uint32_t low, uint32_t high) {
      return low + static_cast<uint32_t>(random() % (high - low + 1));
    };
    Tensor tensor;
    TensorMap& map = tensor.box.map;
    constexpr TensorElement kElements[] = {TensorElement::U8, TensorElement::F16,
                                           TensorElement::F32, TensorElement::F64};
    map.element = kElements[pick(0, 3)];
    const uint32_t element = element_bits(map.element) / 8;
    map.rank = static_cast<uint8_t>(pick(1, 5));
    map.swizzle = static_cast<TensorSwizzle>(pick(0, 3));
    const uint32_t span = swizzle_bytes(map.swizzle);
    const uint32_t chunks = pick(1, span == 0 ? 10 : span / 16);
    map.box[0] = static_cast<uint16_t>(chunks * 16 / element);
    uint64_t size = 0;
    for (int d = 0; d < map.rank; ++d) {
      const uint32_t extent = d == 0 ? pick(1, 3u * map.box[0]) : pick(1, 9);
      map.last_index[d] = extent - 1;
      if (d > 0) {
        map.box[d] = static_cast<uint16_t>(pick(1, 7));
        map.element_strides[d] = static_cast<uint8_t>(pick(1, 3));
        // Dense or with a gap, in multiples of 16 bytes.
        map.strides[d - 1] = (size + 15) / 16 * 16 + 16 * pick(0, 2);
        size = map.strides[d - 1] * extent;
      } else {
        size = uint64_t{extent} * element;
      }
      tensor.box.start[static_cast<size_t>(d)] =
          static_cast<int32_t>(pick(0, extent + 8)) - static_cast<int32_t>(pick(0, 6));
    }
    map.global_address = 4096;
    const auto problem = shape_box(tensor.box);
    EXPECT_FALSE(problem.has_value()) << *problem;
    tensor.bytes.resize(size);
    for (std::byte& byte : tensor.bytes) byte = static_cast<std::byte>(random() | 1);
    return tensor;
  }
};

TEST_P(RandomBoxes, LoadAsTheNaiveModelDoes) {
  std::mt19937 random(GetParam());
  const Tensor tensor = make(random);
  const uint32_t address = 128 * static_cast<uint32_t>(random() % 20);
  std::vector<std::byte> expected(tensor.box.shared_bytes(), kUntouched), found = expected;
  uint64_t first = ~0ull, end = 0;
  naive_bytes(tensor.box, address, [&](int64_t from, uint32_t to) {
    expected[to] = from < 0 ? std::byte{0} : tensor.bytes[static_cast<size_t>(from)];
    if (from < 0) return;
    first = std::min(first, static_cast<uint64_t>(from));
    end = std::max(end, static_cast<uint64_t>(from) + 1);
  });
  load_box(tensor.box, tensor.bytes.data(), found.data(), address);
  EXPECT_EQ(found, expected) << describe_tensor(tensor.box.map);
  const auto touched = touched_bytes(tensor.box);
  ASSERT_EQ(touched.has_value(), end != 0);
  if (touched) {
    EXPECT_EQ(touched->first, first);
    EXPECT_EQ(touched->end, end);
  }
}

TEST_P(RandomBoxes, StoreAsTheNaiveModelDoes) {
  std::mt19937 random(GetParam() + 1000000);
  Tensor tensor = make(random);
  const uint32_t address = 128 * static_cast<uint32_t>(random() % 20);
  std::vector<std::byte> shared(tensor.box.shared_bytes());
  for (std::byte& byte : shared) byte = static_cast<std::byte>(random());
  std::vector<std::byte> expected = tensor.bytes;
  naive_bytes(tensor.box, address, [&](int64_t to, uint32_t from) {
    if (to >= 0) expected[static_cast<size_t>(to)] = shared[from];
  });
  store_box(tensor.box, tensor.bytes.data(), shared.data(), address, nullptr);
  EXPECT_EQ(tensor.bytes, expected) << describe_tensor(tensor.box.map);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomBoxes, ::testing::Range(0u, 300u));

TensorBox plain_box(TensorElement element, uint16_t width, uint16_t height) {
  TensorBox box;
  box.map.element = element;
  box.map.rank = 2;
  box.map.box[0] = width;
  box.map.box[1] = height;
  box.map.element_strides[0] = box.map.element_strides[1] = 1;
  box.map.last_index[0] = 63;
  box.map.last_index[1] = 63;
  box.map.strides[0] = 64 * element_bits(element) / 8;
  return box;
}

TEST(TensorBox, OutsideReadsAsNanWhereTheMapAsksForIt) {
  TensorBox box = plain_box(TensorElement::F32, 4, 1);
  box.map.fill = TensorFill::Nan;
  box.start = {62, 0};
  ASSERT_FALSE(shape_box(box).has_value());
  std::vector<float> tensor(64 * 64, 1.5f);
  float row[4];
  load_box(box, reinterpret_cast<std::byte*>(tensor.data()), reinterpret_cast<std::byte*>(row), 0);
  EXPECT_EQ(row[0], 1.5f);
  EXPECT_EQ(row[1], 1.5f);
  EXPECT_NE(row[2], row[2]);
  EXPECT_NE(row[3], row[3]);
}

// Hand arithmetic on the 128-byte pattern: row 1, chunk 0 trades with chunk 1; row 7 reverses.
TEST(TensorBox, HundredTwentyEightByteSwizzleMovesChunksByRow) {
  TensorBox box = plain_box(TensorElement::U8, 128, 8);
  box.map.last_index[0] = 127;
  box.map.strides[0] = 128;
  box.map.swizzle = TensorSwizzle::Bytes128;
  ASSERT_FALSE(shape_box(box).has_value());
  std::vector<std::byte> tensor(128 * 8), shared(128 * 8);
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<std::byte>(i / 16);
  load_box(box, tensor.data(), shared.data(), 0);
  EXPECT_EQ(shared[0], std::byte{0});
  EXPECT_EQ(shared[128], std::byte{8 + 1});
  EXPECT_EQ(shared[128 + 16], std::byte{8 + 0});
  EXPECT_EQ(shared[7 * 128], std::byte{7 * 8 + 7});
  EXPECT_EQ(shared[7 * 128 + 7 * 16], std::byte{7 * 8});
}

TEST(TensorBox, NarrowRowsTakeTheFullWidthOfTheSwizzle) {
  TensorBox box = plain_box(TensorElement::F16, 16, 4);  // 32 bytes a row
  box.map.swizzle = TensorSwizzle::Bytes128;
  ASSERT_FALSE(shape_box(box).has_value());
  EXPECT_EQ(box.pitch, 128u);
  EXPECT_EQ(box.bytes(), 128u);
  EXPECT_EQ(box.shared_bytes(), 512u);
}

TEST(TensorBox, GatherTakesFourRowsFromAnywhere) {
  TensorBox box = plain_box(TensorElement::U8, 16, 1);
  box.map.last_index[0] = 15;
  box.map.strides[0] = 16;
  box.four_rows = true;
  box.rows_at = {5, -1, 0, 63};
  ASSERT_FALSE(shape_box(box).has_value());
  std::vector<std::byte> tensor(64 * 16), shared(64);
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<std::byte>(i / 16);
  load_box(box, tensor.data(), shared.data(), 0);
  EXPECT_EQ(shared[0], std::byte{5});
  EXPECT_EQ(shared[16], std::byte{0});
  EXPECT_EQ(shared[32], std::byte{0});
  EXPECT_EQ(shared[48], std::byte{63});
}

// A 3 x 3 convolution with padding 1 over a picture of 4 x 3 pixels (W x H), two pictures: base
// pixels run from (-1, -1) to (2, 1), so that adding offsets 0 ... 2 covers the filter. By hand:
// from base pixel (1, 1) with offsets (1, 1) the five pixels are (2,2) (3,2) of picture 0, then the
// next picture's base pixels (-1,-1) (0,-1) (1,-1), which give (0,0) (1,0) (2,0).
TEST(TensorBox, PixelsRunThroughTheBoundingBox) {
  TensorBox box;
  TensorMap& map = box.map;
  map.element = TensorElement::U32;
  map.mode = TensorMode::Im2col;
  map.rank = 4;
  const uint32_t extents[4] = {4, 4, 3, 2};  // C, W, H, N
  uint64_t stride = 4;
  for (int d = 0; d < 4; ++d) {
    map.last_index[d] = extents[d] - 1;
    map.element_strides[d] = 1;
    stride *= extents[d];
    if (d < 3) map.strides[d] = stride;
  }
  map.lower_corner[0] = map.lower_corner[1] = -1;
  map.upper_corner[0] = map.upper_corner[1] = -1;
  map.channels_per_pixel = 4;
  map.pixels_per_column = 5;
  box.start = {0, 1, 1, 0};
  box.pixel_offsets = {1, 1};
  ASSERT_FALSE(shape_box(box).has_value());
  EXPECT_EQ(box.bytes(), 5u * 16);
  std::vector<uint32_t> tensor(4 * 4 * 3 * 2);
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<uint32_t>(i / 4);  // pixel
  uint32_t found[20];
  load_box(box, reinterpret_cast<std::byte*>(tensor.data()), reinterpret_cast<std::byte*>(found),
           0);
  const uint32_t pixels[5] = {2 + 4 * 2, 3 + 4 * 2, 12 + 0, 12 + 1, 12 + 2};
  for (int i = 0; i < 20; ++i) EXPECT_EQ(found[i], pixels[i / 4]) << i;
}

TEST(TensorBox, RefusesShapesThatTheHardwareRefuses) {
  TensorBox odd = plain_box(TensorElement::F16, 7, 4);
  EXPECT_TRUE(shape_box(odd).has_value()) << "14 bytes a row";
  TensorBox wide = plain_box(TensorElement::F16, 64, 4);
  wide.map.swizzle = TensorSwizzle::Bytes64;
  EXPECT_TRUE(shape_box(wide).has_value()) << "128 bytes a row in a 64-byte swizzle";
  TensorBox empty = plain_box(TensorElement::F16, 64, 0);
  EXPECT_TRUE(shape_box(empty).has_value());
  TensorBox stride = plain_box(TensorElement::F16, 64, 4);
  stride.map.strides[0] = 24;
  EXPECT_TRUE(shape_box(stride).has_value());
}

// The CUDA Driver API manual, CUtensorMapDataType: sixteen packed elements of 4 (6) bits become the
// first 8 (12) bytes of 16 in shared memory. What completes is what was read (CUTLASS announces as
// many bytes for such tiles).
TEST(PaddedElements, StandApartInSharedMemory) {
  for (const auto& [element, group] :
       {std::pair{TensorElement::U4x16Align16, 8u}, {TensorElement::U6x16Align16, 12u}})
    for (const TensorSwizzle swizzle : {TensorSwizzle::None, TensorSwizzle::Bytes128}) {
      TensorBox box;
      box.map.global_address = 4096;
      box.map.element = element;
      box.map.swizzle = swizzle;
      box.map.rank = 2;
      box.map.last_index[0] = 255;
      box.map.last_index[1] = 8;
      box.map.box[0] = 128;
      box.map.box[1] = 9;
      box.map.element_strides[0] = box.map.element_strides[1] = 1;
      box.map.strides[0] = 16 * group;
      box.start = {128, 0};
      const auto problem = shape_box(box);
      ASSERT_FALSE(problem.has_value()) << *problem;
      EXPECT_EQ(box.bytes(), 9 * 8 * group);
      EXPECT_EQ(box.shared_bytes(), 9u * 128);
      std::vector<std::byte> tensor(9 * 16 * group);
      for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<std::byte>(i * 7 + 1);
      std::vector<std::byte> shared(box.shared_bytes());
      load_box(box, tensor.data(), shared.data(), 0);
      for (uint32_t row = 0; row < 9; ++row)
        for (uint32_t g = 0; g < 8; ++g)
          for (uint32_t k = 0; k < group; ++k) {
            const uint32_t twist = swizzle == TensorSwizzle::None ? 0 : row % 8;
            ASSERT_EQ(shared[row * 128 + (g ^ twist) * 16 + k],
                      tensor[row * 16 * group + (8 + g) * group + k])
                << "row " << row << ", group " << g << ", byte " << k;
          }
      std::vector<std::byte> back(tensor.size());
      store_box(box, back.data(), shared.data(), 0, nullptr);
      for (size_t row = 0; row < 9; ++row)
        for (size_t k = 0; k < 16 * group; ++k)
          ASSERT_EQ(back[row * 16 * group + k],
                    k < 8 * group ? std::byte{0} : tensor[row * 16 * group + k]);
    }
}

}  // namespace
}  // namespace weft::emulator
