// SPDX-License-Identifier: Apache-2.0

// Field names and their values for "not measured" are those of the envelope's definition in
// docs/candidates.md and of the FlashInfer Trace schema.
#include "ptxbench/wire/envelope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::wire {
namespace {

Envelope passed() {
  Envelope envelope;
  envelope.status = Status::Passed;
  envelope.workload_uuids = {"u"};
  Trace trace;
  trace.definition = "gemm_n128_k2048";
  trace.workload = {"u", {{"M", 70}}, {}, {{"A", {}}, {"scale", 0.125}}};
  trace.evaluation.status = Status::Passed;
  trace.evaluation.correctness = Correctness{0.5, 0.25, {}};
  trace.evaluation.performance_reason = "no GPU";
  envelope.traces.push_back(trace);
  return envelope;
}

TEST(Envelope, HasEveryFieldOfTheSchema) {
  const Json json = to_json(passed());
  for (const char* field : {"schema", "evaluation_id", "task_id", "definition", "workload_uuids",
                            "kernel_sha256", "status", "all_passed", "min_speedup", "target_met",
                            "sanitizer", "compile_log", "ptx", "traces", "audit"}) {
    EXPECT_TRUE(json.contains(field)) << field;
  }
  EXPECT_EQ(json["schema"], "ptxbench.eval.v1");
  EXPECT_EQ(json["status"], "PASSED");
}

TEST(Envelope, LeavesWhatWasNotMeasuredNullWithAReason) {
  const Json json = to_json(passed());
  EXPECT_TRUE(json["min_speedup"].is_null());
  EXPECT_EQ(json["min_speedup_reason"], "no GPU");
  EXPECT_TRUE(json["target_met"].is_null());
  EXPECT_FALSE(json["target_met_reason"].get<std::string>().empty());
  const Json& evaluation = json["traces"][0]["evaluation"];
  EXPECT_TRUE(evaluation["performance"].is_null());
  EXPECT_EQ(evaluation["performance_reason"], "no GPU");
  EXPECT_TRUE(json["audit"]["share"].is_null());
  EXPECT_TRUE(json["audit"]["target_instructions_executed"].is_null());
}

TEST(Trace, SaysWhatIsRandomAndWhatIsGiven) {
  const Json inputs = to_json(passed().traces[0])["workload"]["inputs"];
  EXPECT_EQ(inputs["A"], Json({{"type", "random"}}));
  EXPECT_EQ(inputs["scale"], Json({{"type", "scalar"}, {"value", 0.125}}));
}

Trace timed(std::optional<double> speedup) {
  Trace trace;
  Performance& performance = trace.evaluation.performance.emplace();
  performance.speedup_factor = speedup;
  if (!speedup) performance.timing.library_reason = "no library is known";
  return trace;
}

TEST(Envelope, HasTheLeastSpeedupOfItsWorkloads) {
  Envelope envelope;
  envelope.traces = {timed(1.5), timed(0.75), timed(2.0)};
  const Json json = to_json(envelope);
  EXPECT_EQ(json["min_speedup"], 0.75);
  EXPECT_FALSE(json.contains("min_speedup_reason"));
}

TEST(Envelope, HasNoSpeedupWhereOneWorkloadHasNone) {
  Envelope envelope;
  envelope.traces = {timed(1.5), timed(std::nullopt)};
  EXPECT_TRUE(to_json(envelope)["min_speedup"].is_null());
  EXPECT_EQ(to_json(envelope)["min_speedup_reason"], "no library is known");
  Envelope empty;
  EXPECT_EQ(to_json(empty)["min_speedup_reason"], "no workload was judged");
}

TEST(Envelope, WithoutTracesHasNotPassed) {
  EXPECT_FALSE(Envelope{}.all_passed());
  EXPECT_TRUE(passed().all_passed());
  Envelope missing = passed();
  missing.workload_uuids.push_back("v");
  EXPECT_FALSE(missing.all_passed());
}

TEST(Trace, SaysWhyThereIsNoLibrary) {
  Envelope envelope = passed();
  Performance performance;
  performance.latency_ms = 0.5;
  performance.timing.timer = "cupti";
  performance.timing.library_reason = "no library is known";
  envelope.traces[0].evaluation.performance = performance;
  const Json json = to_json(envelope.traces[0])["evaluation"]["performance"];
  EXPECT_EQ(json["latency_ms"], 0.5);
  EXPECT_TRUE(json["speedup_factor"].is_null());
  EXPECT_TRUE(json["extra"]["library"].is_null());
  EXPECT_EQ(json["extra"]["library_reason"], "no library is known");
  EXPECT_FALSE(json["extra"].contains("ratio"));
}

TEST(Trace, ShowsOverriddenAxes) {
  Envelope envelope = passed();
  EXPECT_FALSE(to_json(envelope.traces[0])["workload"].contains("overrides"));
  envelope.traces[0].workload.overrides = {{"M", 70}};
  EXPECT_EQ(to_json(envelope.traces[0])["workload"]["overrides"]["M"], 70);
}

TEST(Status, SpellsAndReadsEveryName) {
  for (int i = 0; i < 7; ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_EQ(status_named(name(status)), status);
  }
  EXPECT_EQ(status_named("FINE"), std::nullopt);
}

}  // namespace
}  // namespace weft::wire
