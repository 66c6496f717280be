// SPDX-License-Identifier: Apache-2.0

// Mangled names are nvcc's; what they mean is what c++filt says of them.
#include "ptxbench/judge/readable_names.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

TEST(ReadableNames, CutTheScratchFolderOfABuild) {
  EXPECT_EQ(source_name("/a/builds/c462.building/kernels/gemm.cu"), "kernels/gemm.cu");
  EXPECT_EQ(source_name("/usr/include/cuda_bf16.hpp"), "/usr/include/cuda_bf16.hpp");
  EXPECT_EQ(source_names("inlined at /b/01.building/x.cu:34, then /c/y.cuh:2"),
            "inlined at x.cu:34, then /c/y.cuh:2");
  EXPECT_EQ(source_names(""), "");
}

TEST(ReadableNames, KernelsAreWhatTheirAuthorCalledThem) {
  EXPECT_EQ(kernel_name("_ZN45_GLOBAL__N__fdd8a954_12_candidate_cu_6557d00e10gemm_"
                        "wgmmaILi2EEEv14CUtensorMap_stS1_S1_iii"),
            "(anonymous namespace)::gemm_wgmma<2>");
  EXPECT_EQ(kernel_name("_Z4copyPKfPfi"), "copy");
  EXPECT_EQ(kernel_name("kernel"), "kernel");
  EXPECT_EQ(kernel_name("_Znot_a_name"), "_Znot_a_name");
}

}  // namespace
}  // namespace weft::judge
