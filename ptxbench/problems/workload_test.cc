// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/workload.h"

#include <gtest/gtest.h>

namespace weft::problems {
namespace {

constexpr const char* kDefinition = R"({
  "name": "small", "op_type": "gemm", "tags": ["family:gemm"],
  "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 16}, "K": {"type": "const", "value": 8}},
  "inputs": {"A": {"shape": ["M", "K"], "dtype": "bfloat16"}, "B": {"shape": ["N", "K"], "dtype": "bfloat16"}},
  "outputs": {"C": {"shape": ["M", "N"], "dtype": "bfloat16"}},
  "constraints": ["K % 8 == 0"], "reference": "def run(A, B): ..."})";

Definition definition() {
  return *read_definition(kDefinition, "small.json");
}

std::string refusal(std::string text) {
  Result<Definition> result = read_definition(std::move(text), "small.json");
  return result.ok() ? "" : format(result.error());
}

std::string replaced(std::string from, std::string to) {
  std::string text = kDefinition;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Definition, ReadsAxesAndTensorsInOrder) {
  const Definition read = definition();
  EXPECT_EQ(read.inputs[1].name, "B");
  EXPECT_EQ(read.inputs[1].shape, (std::vector<std::string>{"N", "K"}));
  EXPECT_EQ(*read.find_axis("N")->value, 16);
  EXPECT_FALSE(read.find_axis("M")->value.has_value());
  EXPECT_EQ(read.tag("family"), "gemm");
  EXPECT_EQ(read.tag("fam"), "");
}

TEST(Definition, RefusesWithThePlaceAndTheCure) {
  EXPECT_NE(refusal(replaced("\"op_type\"", "\"optype\"")).find("small.json:2:"),
            std::string::npos);
  EXPECT_NE(refusal(replaced("[\"N\", \"K\"]", "[\"N\", \"Q\"]")).find("not declared: \"Q\""),
            std::string::npos);
  EXPECT_NE(refusal(replaced("\"bfloat16\"", "\"bfloat\"")).find("not supported: \"bfloat\""),
            std::string::npos);
  EXPECT_NE(refusal(replaced("\"value\": 16", "\"value\": 0")).find("must be positive"),
            std::string::npos);
  EXPECT_NE(refusal(replaced("\"var\"", "\"vary\"")).find("unknown axis type"), std::string::npos);
}

TEST(Workloads, ReadTraceLines) {
  const auto read = read_workloads(
      "{\"definition\": \"small\", \"solution\": null, \"workload\": {\"uuid\": \"u1\", \"axes\": "
      "{\"M\": 70}, "
      "\"inputs\": {\"A\": {\"type\": \"random\"}, \"B\": {\"type\": \"random\"}}}, "
      "\"evaluation\": null}\n\n",
      "small.jsonl", definition());
  ASSERT_TRUE(read.ok()) << format(read.error());
  EXPECT_EQ(read->front().axes.at("M"), 70);
}

TEST(Workloads, NameTheLineOfAnUnknownAxis) {
  const auto read = read_workloads("\n{\"uuid\": \"u1\", \"axes\": {\"L\": 70}, \"inputs\": {}}\n",
                                   "small.jsonl", definition());
  ASSERT_FALSE(read.ok());
  EXPECT_NE(format(read.error()).find("small.jsonl:2:"), std::string::npos) << format(read.error());
}

TEST(Resolve, PutsOverridesOverWorkloadAndConstAxes) {
  const Result<Task> task = resolve(definition(), {"u1", {{"M", 70}}}, {{"M", 4}, {"N", 32}});
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->shape(task->definition.outputs[0]), (std::vector<int64_t>{4, 32}));
  EXPECT_EQ(task->bytes(), (4u * 8 + 32 * 8 + 4 * 32) * 2);
}

TEST(Resolve, RefusesUnknownAxesIllegalValuesAndBrokenConstraints) {
  const auto message = [](Overrides overrides) {
    const Result<Task> task = resolve(definition(), {"u1", {{"M", 70}}}, std::move(overrides));
    return task.ok() ? std::string() : format(task.error());
  };
  EXPECT_NE(message({{"Q", 4}}).find("unknown axis: \"Q\""), std::string::npos);
  EXPECT_NE(message({{"M", 0}}).find("illegal value for axis M: 0"), std::string::npos);
  EXPECT_NE(message({{"M", -5}}).find("illegal value"), std::string::npos);
  EXPECT_NE(message({{"K", 12}}).find("K % 8 == 0"), std::string::npos);
  EXPECT_NE(message({{"M", int64_t{1} << 32}, {"N", int64_t{1} << 32}}).find("GiB"),
            std::string::npos);
}

TEST(ParseOverrides, ReadsPairsAndRefusesTheRest) {
  EXPECT_EQ(*parse_overrides("M=256,K=512"), (Overrides{{"M", 256}, {"K", 512}}));
  for (const char* text :
       {"M", "M=", "=3", "M=1x", "M=1.5", "M=99999999999999999999", "M=1,,K=2"}) {
    EXPECT_FALSE(parse_overrides(text).ok()) << text;
  }
}

}  // namespace
}  // namespace weft::problems
