// SPDX-License-Identifier: Apache-2.0

// Lines and columns are counted by hand in the texts below.
#include "ptxbench/problems/document.h"

#include <gtest/gtest.h>

namespace weft::problems {
namespace {

SourcePosition position(const Error& error) {
  return error.diagnostics.front().position;
}

TEST(Document, LocatesMalformedText) {
  const Result<Document> document = Document::parse("{\n  \"a\": 1,\n  \"b\" 2\n}", "x.json");
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(position(document.error()).line, 3u);
  EXPECT_EQ(document.error().diagnostics.front().source_line, "  \"b\" 2");
}

TEST(Document, LocatesAValueByItsPath) {
  const Result<Document> document = Document::parse(
      "{\"x\": {\"y\\\"}\": 0},\n \"list\": [1, {\"deep\": \"]\"},\n  {\"deep\": true}]}", "x.json",
      10);
  ASSERT_TRUE(document.ok());
  const Node list = *Node(*document).member("list");
  const Node deep = *(*list.elements())[2].member("deep");
  const Result<int64_t> wrong = deep.integer();
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(position(wrong.error()), (SourcePosition{12, 12}));
}

TEST(Document, RefusesUnknownFieldsWithASuggestion) {
  const Result<Document> document = Document::parse("{\"shap\": []}", "x.json");
  const Result<Done> checked = Node(*document).only({"shape", "dtype"});
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().message(), "unknown field: \"shap\"");
  EXPECT_NE(checked.error().diagnostics.front().hint.find("shape"), std::string::npos);
}

TEST(Document, SurvivesGarbage) {
  for (const char* text : {"", "{", "[", "\"", "\xff\xfe", "nul", "{\"a\":}", "[1,]", "1e999999"}) {
    EXPECT_FALSE(Document::parse(text, "x.json").ok()) << text;
  }
}

TEST(Document, KeepsOrder) {
  const Result<Document> document = Document::parse("{\"q\":1,\"k\":2,\"a\":3}", "x.json");
  const auto members = *Node(*document).members();
  EXPECT_EQ(members[0].name(), "q");
  EXPECT_EQ(members[2].name(), "a");
}

}  // namespace
}  // namespace weft::problems
