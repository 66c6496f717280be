// SPDX-License-Identifier: Apache-2.0

// Expected values by hand from the H200's data sheet and what NVML says of it: 132 multiprocessors,
// 1980 MHz, 3201 MHz memory on 6144 bits.
#include "ptxbench/judge/roofline.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

DeviceFacts h200() {
  DeviceFacts facts;
  facts.multiprocessors = 132;
  facts.compute_major = 9;
  facts.max_sm_mhz = 1980;
  facts.max_memory_mhz = 3201;
  facts.memory_bus_bits = 6144;
  return facts;
}

TEST(Roofline, PeakIsTheDataSheetsAtTheHighestClock) {
  const auto roof = roofline({.operations = 1}, h200(), 0);
  ASSERT_TRUE(roof);
  EXPECT_NEAR(roof->peak_flops, 1070.5e12, 0.1e12);   // 132 * 4096 * 1.98e9
  EXPECT_NEAR(roof->bytes_a_second, 4.9167e12, 1e9);  // 2 * 3.201e9 * 768
}

// 8192 x 7168 x 5120: 601.3e9 operations in 561.7 us.
TEST(Roofline, LargeProductIsBoundByArithmetic) {
  const auto roof = roofline(
      {.operations = 2.0 * 8192 * 7168 * 5120, .input_bytes = 157286400, .output_bytes = 117440512},
      h200(), 60 << 20);
  ASSERT_TRUE(roof);
  EXPECT_FALSE(roof->by_memory);
  EXPECT_NEAR(roof->seconds, 561.7e-6, 0.2e-6);
}

// One row: 2 * 7168 * 5120 bytes of B must be read, 73.4e6 / 4.9167e12 = 14.93 us.
TEST(Roofline, OneRowIsBoundByMemory) {
  const auto roof =
      roofline({.operations = 2.0 * 7168 * 5120, .input_bytes = 73400320, .output_bytes = 14336},
               h200(), 60 << 20);
  ASSERT_TRUE(roof);
  EXPECT_TRUE(roof->by_memory);
  EXPECT_NEAR(roof->seconds, 14.93e-6, 0.01e-6);
}

TEST(Roofline, UnknownDeviceHasNone) {
  DeviceFacts facts = h200();
  facts.compute_major = 7;
  EXPECT_FALSE(roofline({.operations = 1}, facts, 0));
}

}  // namespace
}  // namespace weft::judge
