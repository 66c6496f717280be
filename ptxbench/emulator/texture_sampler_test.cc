// SPDX-License-Identifier: Apache-2.0

// Expected values are hand arithmetic on the formulas of the CUDA programming guide ("Texture
// Fetching"): tex(x) = T[floor(x)], and (1 - a) T[i] + a T[i + 1] with i = floor(x - 0.5).

#include "ptxbench/emulator/texture_sampler.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace weft::emulator {
namespace {

// A line of floats 10, 20, 30, 40, as one row or as one row of each layer or face.
struct Line {
  float values[4] = {10, 20, 30, 40};
  TextureObject object;

  Line() {
    object.channels = 1;
    object.channel_bits = 32;
    object.address[0] = TextureObject::Address::Clamp;
    object.levels[0] = {.data = reinterpret_cast<uint64_t>(values),
                        .pitch = sizeof values,
                        .slice = sizeof values,
                        .width = 4};
  }
  float at(float x) const {
    return std::bit_cast<float>(sample(object, {.dimensions = 1, .at = {x}}, 0)[0]);
  }
};

TEST(TextureSampler, PointsTakeTheTexelThatHoldsThePosition) {
  const Line line;
  EXPECT_EQ(line.at(0.0f), 10);
  EXPECT_EQ(line.at(0.99f), 10);
  EXPECT_EQ(line.at(1.0f), 20);
  EXPECT_EQ(line.at(-5.0f), 10);
  EXPECT_EQ(line.at(4.5f), 40);
}

TEST(TextureSampler, LinearFiltersBlendFromMiddleToMiddle) {
  Line line;
  line.object.linear_filter = true;
  EXPECT_EQ(line.at(1.5f), 20);      // a middle
  EXPECT_EQ(line.at(2.0f), 25);      // half way between two
  EXPECT_EQ(line.at(1.75f), 22.5f);  // a = 1/4
  EXPECT_EQ(line.at(0.25f), 10);     // beyond the first middle the edge is held
  // Weights have 8 bits of fraction: 1/1024 of a texel rounds away, 1/256 does not.
  EXPECT_EQ(line.at(1.5f + 1.0f / 1024), 20);
  EXPECT_EQ(line.at(1.5f + 1.0f / 256), 20 + 10.0f / 256);
}

TEST(TextureSampler, AddressingModesBringPositionsInside) {
  using enum TextureObject::Address;
  Line line;
  line.object.normalized_coordinates = true;
  line.object.border[0] = -1;
  line.object.address[0] = Wrap;
  EXPECT_EQ(line.at(1.125f), 10);   // 0.125 * 4 = 0.5
  EXPECT_EQ(line.at(-0.125f), 40);  // 0.875 * 4 = 3.5
  line.object.address[0] = Mirror;
  EXPECT_EQ(line.at(1.125f), 40);  // 1 - 0.125
  EXPECT_EQ(line.at(-0.125f), 10);
  EXPECT_EQ(line.at(2.375f), 20);  // floor is even again
  line.object.address[0] = Border;
  EXPECT_EQ(line.at(1.125f), -1);
  EXPECT_EQ(line.at(0.875f), 40);
}

TEST(TextureSampler, WrappingNeedsNormalizedCoordinates) {
  Line line;
  line.object.address[0] = TextureObject::Address::Wrap;
  EXPECT_EQ(line.at(5.0f), 40);
}

TEST(TextureSampler, IntegersBecomeFloatsBetweenMinusOneAndOne) {
  const int8_t values[4] = {-128, -127, 64, 127};
  TextureObject object;
  object.channels = 4;
  object.channel_bits = 8;
  object.channel = TextureObject::Channel::Signed;
  const auto* bytes = reinterpret_cast<const std::byte*>(values);
  EXPECT_EQ(decode_texel(object, bytes)[0], static_cast<uint32_t>(-128));
  object.normalized_read = true;
  const Texel texel = decode_texel(object, bytes);
  EXPECT_EQ(std::bit_cast<float>(texel[0]), -1.0f);
  EXPECT_EQ(std::bit_cast<float>(texel[1]), -1.0f);
  EXPECT_EQ(std::bit_cast<float>(texel[2]), 64.0f / 127);
  EXPECT_EQ(std::bit_cast<float>(texel[3]), 1.0f);
}

TEST(TextureSampler, LevelsAreRoundedOrBlended) {
  const float fine[4] = {10, 10, 10, 10}, coarse[2] = {50, 50};
  TextureObject object;
  object.channel_bits = 32;
  object.level_count = 2;
  object.largest_level = 1;
  object.levels[0] = {
      .data = reinterpret_cast<uint64_t>(fine), .pitch = 16, .slice = 16, .width = 4};
  object.levels[1] = {
      .data = reinterpret_cast<uint64_t>(coarse), .pitch = 8, .slice = 8, .width = 2};
  const auto at = [&](float lod) {
    return std::bit_cast<float>(sample(object, {.dimensions = 1, .at = {0}}, lod)[0]);
  };
  EXPECT_EQ(at(0.25f), 10);
  EXPECT_EQ(at(0.75f), 50);
  EXPECT_EQ(at(7.0f), 50);
  object.linear_mipmaps = true;
  EXPECT_EQ(at(0.25f), 20);
  object.level_bias = 0.5f;
  EXPECT_EQ(at(0.25f), 40);
  object.largest_level = 0.5f;
  EXPECT_EQ(at(3.0f), 30);
}

TEST(TextureSampler, GradientsOfTwoTexelsAskForTheNextLevel) {
  const Line line;
  const float two[1] = {2}, none[1] = {0};
  EXPECT_EQ(level_of_gradients(line.object, 1, two, none), 1.0f);
  EXPECT_EQ(level_of_gradients(line.object, 1, none, two), 1.0f);
}

TEST(TextureSampler, FacesFollowTheLongestCoordinate) {
  // One texel a face: +x -x +y -y +z -z.
  const float faces[6] = {0, 1, 2, 3, 4, 5};
  TextureObject object;
  object.channel_bits = 32;
  object.shape = TextureObject::Shape::Cube;
  object.levels[0] = {
      .data = reinterpret_cast<uint64_t>(faces), .pitch = 4, .slice = 4, .depth = 6};
  const float directions[6][3] = {{3, 1, 2},  {-3, 1, 2}, {1, 3, 2},
                                  {1, -3, 2}, {1, 2, 3},  {1, 2, -3}};
  for (int face = 0; face < 6; ++face) {
    const float* d = directions[face];
    const Texel texel =
        sample(object, {.dimensions = 3, .cube = true, .at = {d[0], d[1], d[2]}}, 0);
    EXPECT_EQ(std::bit_cast<float>(texel[0]), static_cast<float>(face));
  }
}

TEST(TextureSampler, GatherGoesRoundFromTheLowerLeft) {
  // Rows 1 2 and 3 4; y grows downwards, so the lower left is texel (0, 1).
  const float values[4] = {1, 2, 3, 4};
  TextureObject object;
  object.channel_bits = 32;
  object.levels[0] = {
      .data = reinterpret_cast<uint64_t>(values), .pitch = 8, .slice = 16, .width = 2, .height = 2};
  const Texel texel = gather(object, {.dimensions = 2, .at = {1, 1}}, 0);
  const float expected[4] = {3, 4, 2, 1};
  for (size_t k = 0; k < 4; ++k) EXPECT_EQ(std::bit_cast<float>(texel[k]), expected[k]);
}

TEST(TextureSampler, FetchesOutsideGiveZero) {
  const Line line;
  const int32_t inside[1] = {2}, outside[1] = {4};
  EXPECT_EQ(std::bit_cast<float>(fetch(line.object, {.dimensions = 1}, inside, 0)[0]), 30);
  EXPECT_EQ(fetch(line.object, {.dimensions = 1}, outside, 0)[0], 0u);
  EXPECT_EQ(fetch(line.object, {.dimensions = 1}, inside, 1)[0], 0u);
}

}  // namespace
}  // namespace weft::emulator
