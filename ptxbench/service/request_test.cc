// SPDX-License-Identifier: Apache-2.0

// Requests of the contract: what is accepted, what is refused and how, and which are the same
// question. The SHA-1 values are the examples of FIPS 180-4 and RFC 3174; the name of the example
// solution was computed with Python's hashlib over the fields in the contract's order.
#include "ptxbench/service/request.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ptxbench/service/sha1.h"

namespace weft::service {
namespace {

Json body() {
  return {{"solution",
           {{"name", "mine"},
            {"definition", "gemm_n128_k2048"},
            {"author", "me"},
            {"spec",
             {{"language", "cuda"},
              {"target_hardware", {"H100"}},
              {"entry_point", "kernel.cu::run"},
              {"dependencies", Json::array()},
              {"destination_passing_style", true},
              {"binding", "tvm-ffi"}}},
            {"sources", {{{"path", "kernel.cu"}, {"content", "int x;\n"}}}}}},
          {"workload_uuids", {"u1"}}};
}

JudgeRequest accepted(const Json& json, Kind kind = Kind::Evaluate) {
  Issues issues;
  JudgeRequest request = read_request(kind, json, issues);
  EXPECT_TRUE(issues.none()) << issues.to_json().dump();
  return request;
}

// The place of the first issue, with dots.
std::string refused(const Json& json, Kind kind = Kind::Evaluate) {
  Issues issues;
  read_request(kind, json, issues);
  if (issues.none()) return "";
  std::string place;
  for (const std::string& part : issues.all().front().place) place += "." + part;
  return place;
}

TEST(Sha1, OfTheExamplesOfTheStandard) {
  EXPECT_EQ(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

TEST(Request, OfTheContractIsAccepted) {
  const JudgeRequest request = accepted(body());
  EXPECT_EQ(request.solution.entry_function, "run");
  EXPECT_EQ(request.workload_uuids->front(), "u1");
  EXPECT_EQ(request.solution.normalized_name(), "mine_6fde8d13");
}

TEST(Request, FieldsOfTheContractWithoutEffectAreAccepted) {
  Json json = body();
  json["baseline_cache_mode"] = "bypass";
  json["profile_baseline"] = false;
  json["atol"] = nullptr;
  accepted(json);
  json = body();
  json.update({{"set", nullptr},
               {"sections", nullptr},
               {"metrics", {"inst_executed"}},
               {"page", "source"},
               {"max_lines", nullptr},
               {"timeout", 60}});
  accepted(json, Kind::Profile);
  json = body();
  json.update({{"sanitizer_types", {"memcheck"}},
               {"timeout", 120},
               {"max_lines", nullptr},
               {"print_limit", 100},
               {"source_context_lines", 4},
               {"enable_coredump", false},
               {"coredump_grace_seconds", 30}});
  accepted(json, Kind::Debug);
}

TEST(Request, WhatIsWrongIsNamedWithItsPlace) {
  Json json = body();
  json["solution"].erase("author");
  EXPECT_EQ(refused(json), ".body.solution.author");
  json = body();
  json["solution"]["spec"]["language"] = "triton";
  EXPECT_EQ(refused(json), ".body.solution.spec.language");
  json = body();
  json["solution"]["sources"][0]["path"] = "../kernel.cu";
  EXPECT_EQ(refused(json), ".body.solution.sources.0.path");
  json = body();
  json["solution"]["sources"][0]["path"] = "other.cu";
  EXPECT_EQ(refused(json), ".body.solution.sources");
  json = body();
  json["timeout"] = 0;
  EXPECT_EQ(refused(json), ".body.timeout");
  // As many trials as the judge makes, no more.
  json = body();
  json["trials"] = 64;
  EXPECT_EQ(accepted(json).trials, 64);
  json["trials"] = 65;
  EXPECT_EQ(refused(json), ".body.trials");
  json = body();
  json["workload_uuid"] = "u1";
  EXPECT_EQ(refused(json), ".body.workload_uuid");
  json = body();
  json["atol"] = 0.5;
  EXPECT_EQ(refused(json), ".body.atol");
  json = body();
  json["axes"] = {{"M", "16"}};
  EXPECT_EQ(refused(json), ".body.axes.M");
  EXPECT_EQ(refused(Json::array()), ".body");
  EXPECT_EQ(refused(Json::object()), ".body.solution");
}

TEST(Request, TheSameQuestionHasTheSameId) {
  const std::string id = to_submission(accepted(body())).id;
  EXPECT_EQ(id.size(), 32u);
  Json json = body();
  json["solution"]["name"] = "another name";
  json["solution"]["author"] = "somebody else";
  json["profile_baseline"] = true;
  EXPECT_EQ(to_submission(accepted(json)).id, id);
  const auto differs = [&](auto&& change, Kind kind = Kind::Evaluate) {
    Json other = body();
    change(other);
    return to_submission(accepted(other, kind)).id != id;
  };
  EXPECT_TRUE(differs([](Json& j) { j["solution"]["sources"][0]["content"] = "int y;\n"; }));
  EXPECT_TRUE(differs([](Json& j) { j["workload_uuids"] = {"u2"}; }));
  EXPECT_TRUE(differs([](Json& j) { j["workload_uuids"] = nullptr; }));
  EXPECT_TRUE(differs([](Json& j) { j["axes"] = {{"M", 16}}; }));
  EXPECT_TRUE(differs([](Json& j) { j["input_seed"] = 7; }));
  EXPECT_TRUE(differs([](Json&) {}, Kind::Sanitize));
}

TEST(Request, SurvivesTheStore) {
  Json json = body();
  json["axes"] = {{"M", 16}, {"K", 64}};
  json["input_seed"] = "18446744073709551615";
  json["timeout"] = 7;
  json["trials"] = 1;
  JudgeRequest request = accepted(json, Kind::Sanitize);
  request.stamp = "s";
  request.nonce = "n";
  const Submission submission = to_submission(request);
  const auto again = read_submission(submission.request);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->axes.at("K"), 64);
  EXPECT_EQ(*again->input_seed, 18446744073709551615u);
  EXPECT_EQ(*again->timeout_seconds, 7);
  EXPECT_EQ(to_submission(*again).id, submission.id);
  EXPECT_EQ(to_submission(*again).solution, submission.solution);
  EXPECT_FALSE(read_submission("{}").ok());
  EXPECT_FALSE(read_submission("no JSON").ok());
}

}  // namespace
}  // namespace weft::service
