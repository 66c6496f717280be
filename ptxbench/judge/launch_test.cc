// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/launch.h"

#include <gtest/gtest.h>

#include "ptxbench/problems/catalogue.h"

namespace weft::judge {
namespace {

constexpr const char* kText =
    "//! kernel    gemm\n//! grid      ceil_div(N, 16), ceil_div(M, 16)\n//! block     16, 16\n//! "
    "shared    4 * K\n"
    "//! cluster   2\n//! arguments A, B, C, i32 M, i64 N * K, f32 0.5\n.version 8.0\n";

problems::Task task() {
  return *problems::Catalogue::open("problems")->task("gemm_n128_k2048", "", {{"M", 100}});
}

TEST(Launch, EvaluatesExpressionsOverTheAxes) {
  const auto launches = parse_launches(kText, "k.ptx");
  ASSERT_TRUE(launches.ok()) << format(launches.error());
  const auto resolved = resolve_launches(*launches, task());
  ASSERT_TRUE(resolved.ok()) << format(resolved.error());
  const ResolvedLaunch& launch = resolved->front();
  EXPECT_EQ(launch.grid, (std::array<uint32_t, 3>{8, 7, 1}));
  EXPECT_EQ(launch.block, (std::array<uint32_t, 3>{16, 16, 1}));
  EXPECT_EQ(launch.cluster, (std::array<uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(launch.shared, 4 * 2048u);
  EXPECT_EQ(launch.arguments[2].value, 2);
  EXPECT_EQ(launch.arguments[3].value, 100);
  EXPECT_EQ(launch.arguments[4].value, 128 * 2048);
  EXPECT_EQ(launch.arguments[5].number, 0.5);
}

TEST(Launch, PassesAScalarInputByItsValue) {
  problems::Task task =
      *problems::Catalogue::open("problems")->task("gdn_decode_qk4_v8_d128_k_last", "", {});
  task.workload.scalars["scale"] = 0.25;
  const auto launches = parse_launches(
      "//! kernel k\n//! grid 1\n//! block 1\n//! arguments state, scale\n", "k.ptx");
  ASSERT_TRUE(launches.ok()) << format(launches.error());
  const auto resolved = resolve_launches(*launches, task);
  ASSERT_TRUE(resolved.ok()) << format(resolved.error());
  const auto& arguments = resolved->front().arguments;
  EXPECT_EQ(arguments[0].kind, LaunchArgument::Kind::Tensor);
  EXPECT_EQ(arguments[0].value, 3);
  EXPECT_EQ(arguments[1].kind, LaunchArgument::Kind::Float32);
  EXPECT_EQ(arguments[1].number, 0.25);
}

TEST(Launch, RunsSeveralKernelsInOrder) {
  const auto launches = parse_launches(
      "//! kernel a\n//! grid 1\n//! block 1\n//! kernel b\n//! grid 2\n//! block 1\n", "k.ptx");
  ASSERT_TRUE(launches.ok());
  EXPECT_EQ((*launches)[1].kernel, "b");
}

TEST(Launch, SaysWhatIsMissingAndWhere) {
  const auto message = [](const char* text) {
    const auto launches = parse_launches(text, "k.ptx");
    return launches.ok() ? std::string() : format(launches.error());
  };
  EXPECT_NE(message(".version 8.0\n").find("must say how it is launched"), std::string::npos);
  EXPECT_NE(message("//! grid 1\n").find("k.ptx:1"), std::string::npos);
  EXPECT_NE(message("//! kernel k\n//! gird 1\n").find("grid"), std::string::npos);
  EXPECT_NE(message("//! kernel k\n//! grid 1\n").find("has no block"), std::string::npos);
}

TEST(Launch, RefusesUnknownTensorsAndWrongExpressions) {
  const auto resolve = [](const std::string& arguments, const std::string& grid) {
    const auto launches = parse_launches(
        "//! kernel k\n//! grid " + grid + "\n//! block 1\n//! arguments " + arguments + "\n",
        "k.ptx");
    const auto resolved = resolve_launches(*launches, task());
    return resolved.ok() ? std::string() : format(resolved.error());
  };
  EXPECT_NE(resolve("Q", "1").find("no tensor of the task: \"Q\""), std::string::npos);
  EXPECT_NE(resolve("A", "L").find("unknown name \"L\""), std::string::npos);
  EXPECT_NE(resolve("A", "M - 100").find("out of range"), std::string::npos);
  EXPECT_NE(resolve("i32 4294967296 * 4", "1").find("does not fit 32 bits"), std::string::npos);
}

}  // namespace
}  // namespace weft::judge
