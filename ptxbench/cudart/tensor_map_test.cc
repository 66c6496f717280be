// SPDX-License-Identifier: Apache-2.0

// What is refused follows the CUDA Driver API manual under cuTensorMapEncodeTiled.
#include "ptxbench/cudart/tensor_map.h"

#include <functional>

#include <gtest/gtest.h>

namespace weft::cudart {
namespace {

// A bf16 matrix of 512 rows and 1024 columns, boxes of 64 columns by 128 rows, 128-byte swizzle.
struct Case {
  alignas(64) emulator::TensorMap map;
  uint64_t extents[5] = {1024, 512, 1, 1, 1};
  uint64_t strides[4] = {2048, 2048 * 512, 2048 * 512, 2048 * 512};
  uint32_t box[5] = {64, 128, 1, 1, 1};
  uint32_t steps[5] = {1, 1, 1, 1, 1};
  TensorMapRequest request{
      .element = 9, .rank = 2, .address = reinterpret_cast<void*>(0x10000), .swizzle = 3};
  std::string why;

  Status encode(int major = 9) {
    request.extents = extents;
    request.strides = strides;
    request.element_strides = steps;
    return encode_tiled(&map, request, box, major, why);
  }
};

TEST(TensorMap, KeepsWhatItWasGiven) {
  Case c;
  ASSERT_EQ(c.encode(), Status::Success) << c.why;
  EXPECT_TRUE(emulator::is_sealed(c.map));
  EXPECT_EQ(c.map.element, emulator::TensorElement::Bf16);
  EXPECT_EQ(c.map.rank, 2);
  EXPECT_EQ(c.map.global_address, 0x10000u);
  EXPECT_EQ(c.map.extent(0), 1024u);
  EXPECT_EQ(c.map.extent(1), 512u);
  EXPECT_EQ(c.map.strides[0], 2048u);
  EXPECT_EQ(c.map.box[0], 64);
  EXPECT_EQ(c.map.box[1], 128);
  EXPECT_EQ(c.map.swizzle, emulator::TensorSwizzle::Bytes128);
}

TEST(TensorMap, RefusesWhatTheManualForbids) {
  struct Wrong {
    const char* name;
    std::function<void(Case&)> change;
  };
  const Wrong wrongs[] = {
      {"unknown type", [](Case& c) { c.request.element = 16; }},
      {"rank 0", [](Case& c) { c.request.rank = 0; }},
      {"rank 6", [](Case& c) { c.request.rank = 6; }},
      {"interleave of rank 2", [](Case& c) { c.request.interleave = 1; }},
      {"address off 16 bytes",
       [](Case& c) { c.request.address = reinterpret_cast<void*>(0x10008); }},
      {"empty extent", [](Case& c) { c.extents[1] = 0; }},
      {"extent above 2^32", [](Case& c) { c.extents[1] = (uint64_t{1} << 32) + 1; }},
      {"stride off 16 bytes", [](Case& c) { c.strides[0] = 2056; }},
      {"stride of 2^40", [](Case& c) { c.strides[0] = uint64_t{1} << 40; }},
      {"empty box", [](Case& c) { c.box[1] = 0; }},
      {"box above 256", [](Case& c) { c.box[1] = 257; }},
      {"box row off 16 bytes", [](Case& c) { c.box[0] = 60; }},
      {"box row beyond the swizzle", [](Case& c) { c.box[0] = 128; }},
      {"element stride 0", [](Case& c) { c.steps[1] = 0; }},
      {"element stride 9", [](Case& c) { c.steps[1] = 9; }},
      {"NaN fill of integers", [](Case& c) { c.request.element = 1, c.request.fill = 1; }},
      {"swizzle atom on Hopper", [](Case& c) { c.request.swizzle = 4; }},
  };
  for (const Wrong& wrong : wrongs) {
    Case c;
    wrong.change(c);
    EXPECT_EQ(c.encode(), Status::InvalidValue) << wrong.name;
    EXPECT_FALSE(c.why.empty()) << wrong.name;
    EXPECT_FALSE(emulator::is_sealed(c.map)) << wrong.name;
  }
}

TEST(TensorMap, AllowsTheLargestExtent) {
  Case c;
  c.extents[1] = uint64_t{1} << 32;
  ASSERT_EQ(c.encode(), Status::Success) << c.why;
  EXPECT_EQ(c.map.extent(1), uint64_t{1} << 32);
}

TEST(TensorMap, NoticesAChangedByte) {
  Case c;
  ASSERT_EQ(c.encode(), Status::Success);
  c.map.box[1] = 64;
  EXPECT_FALSE(emulator::is_sealed(c.map));
  EXPECT_EQ(replace_address(&c.map, reinterpret_cast<void*>(0x20000), c.why), Status::InvalidValue);
}

TEST(TensorMap, MovesToAnotherAddress) {
  Case c;
  ASSERT_EQ(c.encode(), Status::Success);
  EXPECT_EQ(replace_address(&c.map, reinterpret_cast<void*>(0x20000), c.why), Status::Success);
  EXPECT_TRUE(emulator::is_sealed(c.map));
  EXPECT_EQ(c.map.global_address, 0x20000u);
}

TEST(TensorMap, KeepsTheCornersOfIm2col) {
  Case c;
  c.request.rank = 4;
  c.strides[1] = c.strides[2] = 2048 * 512;
  c.request.extents = c.extents;
  c.request.strides = c.strides;
  c.request.element_strides = c.steps;
  const int lower[] = {-1, -1}, upper[] = {1, 1};
  ASSERT_EQ(encode_im2col(&c.map, c.request, lower, upper, 64, 128, 9, c.why), Status::Success)
      << c.why;
  EXPECT_EQ(c.map.mode, emulator::TensorMode::Im2col);
  EXPECT_EQ(c.map.lower_corner[1], -1);
  EXPECT_EQ(c.map.channels_per_pixel, 64);
  const int far[] = {-129, 0};
  EXPECT_EQ(encode_im2col(&c.map, c.request, far, upper, 64, 128, 9, c.why), Status::InvalidValue);
}

}  // namespace
}  // namespace weft::cudart
