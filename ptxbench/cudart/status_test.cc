// SPDX-License-Identifier: Apache-2.0

// Names and texts of a few codes, as the vendor's manual and libcudart.so.13 give them.
#include "ptxbench/cudart/status.h"

#include <gtest/gtest.h>

namespace weft::cudart {
namespace {

TEST(Status, HasTheNamesOfBothApis) {
  EXPECT_STREQ(runtime_error_name(0), "cudaSuccess");
  EXPECT_STREQ(driver_error_name(0), "CUDA_SUCCESS");
  EXPECT_STREQ(runtime_error_name(700), "cudaErrorIllegalAddress");
  EXPECT_STREQ(driver_error_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_STREQ(error_text(700), "an illegal memory access was encountered");
  EXPECT_STREQ(error_text(999), "unknown error");
}

TEST(Status, KnowsWhichCodesAreTheRuntimesOwn) {
  EXPECT_STREQ(runtime_error_name(9), "cudaErrorInvalidConfiguration");
  EXPECT_EQ(driver_error_name(9), nullptr);
}

TEST(Status, HasNothingForOtherNumbers) {
  for (const int code : {-1, 11, 12345}) {
    EXPECT_EQ(runtime_error_name(code), nullptr);
    EXPECT_EQ(error_text(code), nullptr);
  }
}

}  // namespace
}  // namespace weft::cudart
