// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/source_bundle.h"

#include <gtest/gtest.h>

#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::judge {
namespace {

class SourceBundle : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder_.file(name), text).ok());
  }
  std::string bundled(const std::string& name, const std::string& root = "") {
    const Result<std::string> text =
        bundle_source(folder_.file(name), root.empty() ? "" : folder_.file(root));
    return text.ok() ? *text : "refused: " + format(text.error());
  }
  TemporaryDirectory folder_ = TemporaryDirectory::create("bundle_test").value();
};

TEST_F(SourceBundle, LeavesAPlainFileAlone) {
  put("a/k.cu", "#include <cuda.h>\n#include \"cuda_bf16.h\"\nint a;\n");
  EXPECT_EQ(bundled("a/k.cu"), "#include <cuda.h>\n#include \"cuda_bf16.h\"\nint a;\n");
}

TEST_F(SourceBundle, TakesInNeighboursAndKeepsLines) {
  put("a/part.h", "#pragma once\nint part;\n");
  put("a/k.cu", "#include \"part.h\"\n#include \"part.h\"\nint a;\n");
  const std::string text = bundled("a/k.cu");
  EXPECT_EQ(text.find("int part;"), text.rfind("int part;"));
  EXPECT_NE(text.find("#line 3 \"" + folder_.file("a/k.cu") + "\"\nint a;"), std::string::npos)
      << text;
}

TEST_F(SourceBundle, AllowsTheParentFolderAndNothingAbove) {
  put("top.cu", "int top;\n");
  put("kernels/base.cu", "int base;\n");
  put("kernels/faulty/k.cu", "#include \"../base.cu\"\n");
  put("kernels/faulty/escape.cu", "int x;\n#include \"../../top.cu\"\n");
  EXPECT_NE(bundled("kernels/faulty/k.cu").find("int base;"), std::string::npos);
  const std::string refused = bundled("kernels/faulty/escape.cu");
  EXPECT_NE(refused.find("escape.cu:2:"), std::string::npos) << refused;
  EXPECT_NE(bundled("kernels/faulty/escape.cu", "/").find("int top;"), std::string::npos);
}

TEST_F(SourceBundle, RefusesEndlessInclusionAndMissingFiles) {
  put("a/k.cu", "#include \"k.cu\"\n");
  EXPECT_NE(bundled("a/k.cu").find("nested too deeply"), std::string::npos);
  EXPECT_NE(bundled("a/none.cu").find("refused"), std::string::npos);
}

}  // namespace
}  // namespace weft::judge
