// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/screen.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

std::string refusal(const std::string& source) {
  Candidate candidate;
  candidate.path = "k.cu";
  candidate.source = source;
  const Result<Done> result = screen_source(candidate);
  return result.ok() ? "" : format(result.error());
}

TEST(WithoutComments, KeepsLinesAndCode) {
  EXPECT_EQ(without_comments("a // b\nc /* d\n e */ f \"// g\" 'h'"),
            "a     \nc     \n      f \"    \" ' '");
}

TEST(WithoutComments, KnowsRawStringsAndDigitSeparators) {
  EXPECT_EQ(without_comments("x = 1'000; y"), "x = 1'000; y");
  EXPECT_EQ(without_comments("s = R\"(cublas \" )\"; t").find("cublas"), std::string::npos);
  EXPECT_NE(without_comments("s = R\"(\")\"; cublas").find("cublas"), std::string::npos);
}

TEST(ScreenSource, RefusesLibrariesWithTheirPlace) {
  EXPECT_NE(refusal("int a;\n#include <cublas_v2.h>\n").find("k.cu:2:"), std::string::npos);
  EXPECT_NE(refusal("void f() { cublasGemmEx(0); }").find("cuBLAS"), std::string::npos);
  EXPECT_NE(refusal("#include <thrust/sort.h>").find("Thrust"), std::string::npos);
  EXPECT_NE(refusal("cudnnHandle_t h;").find("cuDNN"), std::string::npos);
  EXPECT_NE(refusal("auto x = CUBLAS_OP_T;").find("cuBLAS"), std::string::npos);
}

TEST(ScreenSource, LetsCommentsStringsAndTensorMapsPass) {
  EXPECT_EQ(refusal("// faster than cublas\nconst char* s = \"cudnn\";\n"), "");
  EXPECT_EQ(refusal("CUtensorMap m; cuTensorMapEncodeTiled(&m);"), "");
}

TEST(ScreenSource, RefusesPathsThatEscape) {
  EXPECT_NE(refusal("#include \"/etc/passwd\"").find("escapes"), std::string::npos);
  EXPECT_NE(refusal("#include \"../../secret.h\"").find("escapes"), std::string::npos);
  EXPECT_NE(refusal("#include MACRO").find("computed name"), std::string::npos);
  EXPECT_NE(refusal("asm(\".incbin \\\"/etc/passwd\\\"\");").find(".incbin"), std::string::npos);
}

TEST(ScreenSource, RefusesWhatIsNoText) {
  EXPECT_NE(refusal(std::string("int a;\0", 7)).find("not text"), std::string::npos);
  EXPECT_NE(refusal(std::string(3 << 20, ' ')).find("larger than"), std::string::npos);
}

TEST(ScreenSource, NamesTheIncludedFile) {
  EXPECT_NE(refusal("#line 1 \"../base.cu\"\nint b;\ncublasCreate();\n").find("../base.cu:2:"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::judge
