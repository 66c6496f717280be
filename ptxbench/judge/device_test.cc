// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/device.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

TEST(Device, NamesTheEmulatorOrAGpu) {
  const auto emulated = parse_device("emulated"), first = parse_device("cuda:0"),
             twelfth = parse_device("cuda:12");
  ASSERT_TRUE(emulated.ok() && first.ok() && twelfth.ok());
  EXPECT_FALSE(emulated->has_value());
  EXPECT_EQ(**first, 0u);
  EXPECT_EQ(**twelfth, 12u);
}

TEST(Device, AnythingElseIsAnError) {
  for (const char* text : {"", "cuda", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "gpu:0"})
    EXPECT_FALSE(parse_device(text).ok()) << text;
}

}  // namespace
}  // namespace weft::judge
