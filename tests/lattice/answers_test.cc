// SPDX-License-Identifier: Apache-2.0

// `store` and `sketch plan` from the outside: what they answer and which exit code they give, for
// good input and bad. Values that are stored are exact in fp16.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "lattice/distillation/rocks_store.h"

namespace weft::lattice {
namespace {

constexpr int64_t kMoment = 1'738'326'600'000'000;  // 2025-01-31T12:30:00Z

class AnswersTest : public testing::Test {
 protected:
  static ProcessOutcome lattice(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), LATTICE_PROGRAM);
    return run({.arguments = std::move(arguments), .limits = {.seconds = 60}}).value();
  }
  static void refused(std::vector<std::string> arguments, const std::string& why) {
    const ProcessOutcome outcome = lattice(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.describe();
    EXPECT_NE(outcome.errors.find(why), std::string::npos) << outcome.errors;
  }
  TemporaryDirectory folder_ = *TemporaryDirectory::create("lattice-answers");
};

TEST_F(AnswersTest, AStoreIsLookedIntoAskedAndEmptied) {
  const std::string store = folder_.file("store");
  {
    const auto written = *open_rocks_store(store, {.version = "t", .width = 2, .tasks = {"click"}});
    const std::vector<Pair> pairs = {{7, 11}};
    const std::vector<int64_t> times = {kMoment};
    const std::vector<float> embedding = {0.5f, -2}, logit = {0.25f};
    ASSERT_TRUE(written->write({pairs, times, embedding, logit}).ok());
  }
  const Json contents = *parse_json(lattice({"store", "inspect", store, "--json"}).output);
  EXPECT_EQ(contents["teacher"]["version"], "t");
  EXPECT_EQ(contents["entries_about"], 1);

  std::vector<std::string> get = {"store",  "get", store,    "--user",  "7",
                                  "--item", "11",  "--json", "--as-of", "2025-01-31T12:30:01Z"};
  const ProcessOutcome hit = lattice(get);
  EXPECT_EQ(hit.exit_code, 0);
  EXPECT_EQ((*parse_json(hit.output))["embedding"], (Json{0.5, -2.0}));
  get.back() = "2025-01-31T12:29:59Z";
  const ProcessOutcome early = lattice(get);
  EXPECT_EQ(early.exit_code, 1);
  EXPECT_EQ((*parse_json(early.output))["result"], "not_yet");
  EXPECT_TRUE((*parse_json(early.output))["embedding"].is_null());

  refused({"store", "get", store, "--user", "-7", "--item", "1"}, "--user '-7'");
  refused({"store", "get", store, "--user", "7"}, "--item ''");
  refused({"store", "get", store, "--user", "7", "--item", "1", "--as-of", "noon"}, "noon");
  refused({"store", "dance", store}, "inspect, get or expire");
  refused({"store", "inspect", folder_.file("nowhere")}, "there is no teacher store");

  EXPECT_EQ((*parse_json(lattice({"store", "expire", store, "--json"}).output))["dropped_buckets"],
            1);
  EXPECT_EQ((*parse_json(lattice({"store", "inspect", store, "--json"}).output))["entries_about"],
            0);
}

TEST_F(AnswersTest, APlanIsMadeOrSaysWhyNot) {
  const std::string profile = folder_.file("profile.json"), plan = folder_.file("plan.json");
  // One rank: nothing is shared, so a block takes 4 x 1000 + 100 bytes and 1 + 2 seconds.
  ASSERT_TRUE(write_file(profile, R"({"hardware": "a test", "ranks": 1, "ranks_per_host": 1,
      "blocks": [{"name": "only", "parameter_bytes": 1000, "batches": [{"rows": 60,
      "forward_seconds": 1, "backward_seconds": 2, "activation_bytes": 100}]}]})")
                  .ok());
  const ProcessOutcome made =
      lattice({"sketch", "plan", "--profile", profile, "--memory", "4.1kB", "--out", plan});
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  const Json written = *read_json(plan);
  EXPECT_EQ(written["predicted_rows_per_second"], 20);
  EXPECT_EQ(written["predicted_peak_bytes"], 4100);
  EXPECT_EQ(written["blocks"][0]["name"], "only");

  refused({"sketch", "plan", "--profile", profile, "--memory", "4kB"},
          "the largest is only, 4100 bytes; needed on a rank 4100, available 4000");
  refused({"sketch", "plan", "--profile", profile, "--memory", "much"}, "--memory is no number");
  refused({"sketch", "plan", "--profile", profile}, "needs --memory");
  refused({"sketch", "plan", "--profile", folder_.file("none"), "--memory", "1GB"}, "none");
  refused({"sketch", "draw"}, "sketch plan");
}

}  // namespace
}  // namespace weft::lattice
