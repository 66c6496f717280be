// SPDX-License-Identifier: Apache-2.0

// True sizes are known by construction; bounds are five standard errors (sketch.h).
#include "lattice/consolidation/sketch.h"

#include <cmath>

#include <gtest/gtest.h>

namespace weft::lattice {
namespace {

Sketch range(uint64_t from, uint64_t to) {
  Sketch sketch;
  for (uint64_t id = from; id < to; ++id) sketch.add(id);
  return sketch;
}

TEST(Sketch, IsExactWhileItIsNotFull) {
  Sketch sketch = range(0, 1000);
  for (uint64_t id = 0; id < 1000; ++id) sketch.add(id);
  EXPECT_EQ(sketch.distinct(), 1000);
  EXPECT_EQ(Sketch().distinct(), 0);
  EXPECT_DOUBLE_EQ(Sketch::jaccard(range(0, 1000), range(500, 1500)), 1.0 / 3);
  EXPECT_DOUBLE_EQ(Sketch::containment(range(0, 1000), range(500, 1500)), 0.5);
}

TEST(Sketch, CountsManyWithinItsError) {
  Sketch sketch = range(0, 400'000);
  for (uint64_t id = 0; id < 400'000; ++id) sketch.add(id);  // a second time: no difference
  EXPECT_NEAR(sketch.distinct(), 400'000, 5 * 400'000 / std::sqrt(2046.0));
}

TEST(Sketch, ASmallSetInsideALargeOneIsContained) {
  const Sketch large = range(0, 200'000), small = range(1'000, 11'000);
  EXPECT_NEAR(Sketch::jaccard(large, small), 0.05, 5 * std::sqrt(0.05 * 0.95 / 2048));
  // A tenth of its value is the error of a share of 0.05; four of them.
  EXPECT_GT(Sketch::containment(large, small), 0.6);
  EXPECT_EQ(Sketch::containment(large, range(300'000, 310'000)), 0);
  EXPECT_EQ(Sketch::containment(large, Sketch()), 0);
  EXPECT_EQ(Sketch::jaccard(Sketch(), Sketch()), 0);
}

TEST(Sketch, DoesNotDependOnTheOrder) {
  Sketch forward = range(0, 50'000), backward;
  for (uint64_t id = 50'000; id-- > 0;) backward.add(id);
  EXPECT_EQ(forward.distinct(), backward.distinct());
  EXPECT_EQ(Sketch::jaccard(forward, backward), 1);
}

}  // namespace
}  // namespace weft::lattice
