// SPDX-License-Identifier: Apache-2.0

// Expected values by hand.
#include "ptxbench/judge/rotation.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

TEST(Rotation, MovesElementsForwardAlongTheAxis) {
  EXPECT_EQ(rotated("abcdef", {3, 2}, 0, 1), "efabcd");
  EXPECT_EQ(rotated("abcdef", {3, 2}, 1, 1), "badcfe");
  EXPECT_EQ(rotated("abcdef", {2, 3}, 1, 2), "bcaefd");
  EXPECT_EQ(rotated("abcdef", {2, 3}, 1, 3), "abcdef");
}

// Two bytes an element: [1, 3] of them.
TEST(Rotation, KeepsElementsWhole) {
  EXPECT_EQ(rotated("AaBbCc", {1, 3}, 1, 1), "CcAaBb");
}

}  // namespace
}  // namespace weft::judge
