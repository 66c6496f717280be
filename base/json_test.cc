// SPDX-License-Identifier: Apache-2.0

// Expected texts follow from the JSON grammar (RFC 8259) and from counting lines by hand.
#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/temporary_directory.h"

namespace weft {
namespace {

TEST(Json, KeepsTheOrderOfKeys) {
  const Json value = parse_json(R"({"b": 1, "a": [true, null, 1.5]})").value();
  EXPECT_EQ(to_line(value), R"({"b":1,"a":[true,null,1.5]})");
}

TEST(Json, PointsAtTheMistake) {
  const Result<Json> value = parse_json("{\n  \"a\": 1,\n  \"b\": ]\n}", "x.json");
  ASSERT_FALSE(value.ok());
  const Diagnostic& diagnostic = value.error().diagnostics.front();
  EXPECT_EQ(diagnostic.file, "x.json");
  EXPECT_EQ(diagnostic.position, (SourcePosition{.line = 3, .column = 8}));
  EXPECT_EQ(diagnostic.source_line, "  \"b\": ]");
  EXPECT_TRUE(diagnostic.message.starts_with("not valid JSON: ")) << diagnostic.message;
}

TEST(Json, SaysWhereATruncatedTextEnds) {
  const Result<Json> value = parse_json("{\"a\": [1, 2");
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.error().diagnostics.front().position.line, 1u);
}

TEST(Json, RefusesNothingAndGarbage) {
  EXPECT_FALSE(parse_json("").ok());
  EXPECT_FALSE(parse_json("\xff\xfe\x00").ok());
  EXPECT_FALSE(parse_json("[1] trailing").ok());
}

TEST(Json, SurvivesDeepNesting) {
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')).ok());
}

TEST(Json, WritesWhatJsonCannotSayAsSomethingItCan) {
  Json value;
  value["bytes"] = "a\xff";
  value["infinite"] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_line(value), "{\"bytes\":\"a\xef\xbf\xbd\",\"infinite\":null}");
}

TEST(Json, RoundTripsThroughAFile) {
  const TemporaryDirectory folder = TemporaryDirectory::create("test").value();
  const Json value = {{"name", "gemm"}, {"axes", {{"M", 256}}}};
  ASSERT_TRUE(write_json(folder.file("value.json"), value).ok());
  EXPECT_EQ(read_json(folder.file("value.json")).value(), value);
}

}  // namespace
}  // namespace weft
