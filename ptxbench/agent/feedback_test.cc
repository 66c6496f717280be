// SPDX-License-Identifier: Apache-2.0

// Envelopes are cut down from real ones; what must and must not be said is read off them by hand.
#include "ptxbench/agent/feedback.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace weft::agent {
namespace {

std::string feedback(const std::string& envelope, const std::string& code = "") {
  return verdict_feedback(parse_json(envelope).value(), code, {});
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Feedback, QuotesTheLinesRoundAFault) {
  const std::string text = feedback(
      R"({"status": "RUNTIME_ERROR", "audit": {"stages": [{"stage": "sanitize", "passed": false,
          "evidence": "out of bounds"}], "fault": {"kind": "out of bounds", "source_line": 2,
          "text": "fault: out of bounds: write of 2 bytes\n"}}})",
      "one\ntwo\nthree\n");
  EXPECT_TRUE(text.starts_with("RUNTIME_ERROR. sanitize: out of bounds"));
  EXPECT_TRUE(has(text, ">    2 | two"));
  EXPECT_TRUE(has(text, "     3 | three"));
}

TEST(Feedback, HasTheCompilersWords) {
  const std::string text = feedback(
      R"({"status": "COMPILE_ERROR", "compile_log": "kernel.cu(3): error: x is undefined"})");
  EXPECT_TRUE(has(text, "Failed to compile kernel."));
  EXPECT_TRUE(has(text, "kernel.cu(3): error: x is undefined"));
}

TEST(Feedback, SaysWhereAnAnswerIsWrongButNotWhatWouldBeNearEnough) {
  const std::string text = feedback(
      R"({"status": "INCORRECT_NUMERICAL", "audit": {"target_instructions_executed": false,
          "stages": [{"stage": "correctness", "passed": false, "evidence": "beyond 0.0123"}]},
          "traces": [{"evaluation": {"environment": {"libs": {"input_seed": "77001"}}, "correctness":
          {"extra": {"outputs": [{"output": "C", "trial": 1, "passed": false, "rule": "0.0123",
          "tolerance_origin": "0.0123", "reason": "beyond 0.0123", "elements": 64, "mismatched": 8,
          "non_finite": 2, "never_written": 1, "max_absolute_error": 0.5, "relative_norm": 0.25,
          "constant_factor": 2.0, "first_bad": {"index": [3, 4], "expected": 1.5, "actual": 3.0},
          "bad_rows": [3, 7], "bad_columns": [4, 4]}]}}}}]})");
  EXPECT_TRUE(has(text, "8 of 64 elements wrong, 2 NaN or infinite, 1 never written"));
  EXPECT_TRUE(has(text, "First bad element [3,4]: 3.0 instead of 1.5. Bad rows [3,7]"));
  EXPECT_TRUE(has(text, "factor: 2"));
  EXPECT_FALSE(has(text, "0.0123"));
  EXPECT_FALSE(has(text, "77001"));
  EXPECT_FALSE(has(text, "PASSED"));
}

TEST(Feedback, SaysHowFastAndWhatBoundsIt) {
  const std::string text = verdict_feedback(parse_json(R"({"status": "PASSED", "compile_log":
          "ptxas info: 16 bytes stack frame, 24 bytes spill stores, 24 bytes spill loads\nmore",
          "audit": {"target_instructions_executed": true, "share": 0.97, "share_class": "full",
          "executed": {"wgmma_warps": 8, "tma_warps": 4}}, "traces": [{"evaluation": {"performance":
          {"latency_ms": 2.0, "speedup_factor": 0.5, "extra": {"roofline_floor_ms": 1.0}}}}]})")
                                                .value(),
                                            "", {.target_speedup = 0.9});
  EXPECT_TRUE(has(text, "wgmma did 97.0 % of the arithmetic (full)"));
  EXPECT_TRUE(has(text, "0.500 times as fast as the library (wanted: 0.900)"));
  EXPECT_TRUE(has(text, "you are at 50 % of it"));
  EXPECT_TRUE(has(text, "24 bytes spill stores"));
}

TEST(Feedback, IsBounded) {
  const std::string log(100000, 'x');
  const Json envelope =
      parse_json("{\"status\": \"COMPILE_ERROR\", \"compile_log\": \"" + log + "\"}").value();
  EXPECT_LE(verdict_feedback(envelope, "", {.bytes = 2000}).size(), 2000u);
  EXPECT_EQ(bounded("short", 100), "short");
  EXPECT_LE(bounded(log, 1000).size(), 1000u);
  // Characters stay whole.
  std::string accents;
  for (int i = 0; i < 500; ++i) accents += "\xC3\xA9";
  const std::string cut = bounded(accents, 301);
  EXPECT_EQ(cut.find('\xA9'), 1u);
  EXPECT_EQ(cut[cut.size() - 2], '\xC3');
}

TEST(Feedback, AnEnvelopeOfAnotherVersionIsNoCrash) {
  for (const char* envelope : {"{}", "[]", "null", R"({"status": 3, "audit": [], "traces": [1]})"})
    EXPECT_FALSE(feedback(envelope).empty());
}

}  // namespace
}  // namespace weft::agent
