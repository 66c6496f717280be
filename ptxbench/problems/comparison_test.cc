// SPDX-License-Identifier: Apache-2.0

// Cases are made by hand: known values, known damage.
#include "ptxbench/problems/comparison.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "base/floats.h"

namespace weft::problems {
namespace {

constexpr int64_t kRows = 64, kColumns = 128;

// Values of magnitude about 4 without a pattern that damage could keep.
std::vector<float> values() {
  std::vector<float> made(kRows * kColumns);
  for (size_t i = 0; i < made.size(); ++i)
    made[i] = 4.0f * std::sin(0.37f * static_cast<float>(i) + 0.1f);
  return made;
}

Tensor stored(const std::vector<float>& from) {
  Tensor tensor("C", DType::BFloat16, {kRows, kColumns});
  auto* target = reinterpret_cast<uint16_t*>(tensor.bytes.data());
  for (size_t i = 0; i < from.size(); ++i) target[i] = float_to_bf16(from[i]);
  return tensor;
}

Tolerance norm() {
  Tolerance tolerance;
  tolerance.kind = Tolerance::Kind::RelativeNorm;
  return tolerance;
}

TEST(Comparison, AcceptsRoundedValues) {
  for (const Tolerance& tolerance : {Tolerance{}, norm()}) {
    const Comparison result = compare(stored(values()), values(), tolerance, 0xff);
    EXPECT_TRUE(result.passed) << result.reason;
    EXPECT_EQ(result.mismatched, 0);
    EXPECT_LE(result.max_absolute_error, 4.0 / 256);
  }
}

TEST(Comparison, NeverAcceptsNanOrInfinity) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    for (const Tolerance& tolerance : {Tolerance{}, norm()}) {
      std::vector<float> damaged = values();
      damaged[2 * kColumns + 5] = bad;
      const Comparison result = compare(stored(damaged), values(), tolerance, 0x7b);
      EXPECT_FALSE(result.passed);
      EXPECT_EQ(result.non_finite, 1);
      EXPECT_EQ(result.first_bad, (std::vector<int64_t>{2, 5}));
    }
  }
}

// One element of 8192: a ratio of matches alone would let it pass.
TEST(Comparison, AcceptsOnlyTheInfinityThatIsExpected) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> wanted = values();
  wanted[2 * kColumns + 5] = -kInfinity;
  for (const Tolerance& tolerance : {Tolerance{}, norm()}) {
    EXPECT_TRUE(compare(stored(wanted), wanted, tolerance, 0x7b).passed);
    for (const float bad : {0.0f, -3e38f, kInfinity, std::nanf("")}) {
      std::vector<float> got = wanted;
      got[2 * kColumns + 5] = bad;
      const Comparison result = compare(stored(got), wanted, tolerance, 0x7b);
      EXPECT_FALSE(result.passed) << bad;
      EXPECT_EQ(result.missed_infinities, 1);
      EXPECT_EQ(result.first_bad, (std::vector<int64_t>{2, 5}));
    }
  }
}

TEST(Comparison, RejectsZerosMeansAndOneWrongRow) {
  std::vector<float> zeros(values().size(), 0.0f);
  std::vector<float> row = values();
  std::fill(row.begin() + 7 * kColumns, row.begin() + 8 * kColumns, 0.0f);
  for (const Tolerance& tolerance : {Tolerance{}, norm()}) {
    EXPECT_FALSE(compare(stored(zeros), values(), tolerance, 0xff).passed);
    const Comparison result = compare(stored(row), values(), tolerance, 0xff);
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.bad_rows, (std::array<int64_t, 2>{7, 7}));
  }
}

TEST(Comparison, RejectsASingleElementThatIsFarOff) {
  std::vector<float> damaged = values();
  damaged[100] += 3.0f;  // one of 8192: the matched ratio alone would accept it
  EXPECT_FALSE(compare(stored(damaged), values(), Tolerance{}, 0xff).passed);
}

TEST(Comparison, NamesAConstantFactor) {
  std::vector<float> halved = values();
  for (float& value : halved) value *= 0.5f;
  const Comparison result = compare(stored(halved), values(), norm(), 0xff);
  EXPECT_FALSE(result.passed);
  EXPECT_NEAR(result.factor, 0.5, 1e-3);
}

TEST(Comparison, SeesWhatWasNeverWritten) {
  Tensor output = stored(values());
  std::memset(output.bytes.data() + 10 * kColumns * 2, 0x7b, kColumns * 2);
  const Comparison result = compare(output, values(), Tolerance{}, 0x7b);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.untouched, kColumns);
}

TEST(Comparison, OfNothingDoesNotPass) {
  EXPECT_FALSE(compare(Tensor("C", DType::Float32, {0}), {}, Tolerance{}, 0).passed);
}

}  // namespace
}  // namespace weft::problems
