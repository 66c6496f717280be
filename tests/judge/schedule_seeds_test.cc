// SPDX-License-Identifier: Apache-2.0

// ptxbench emulate --schedule-seeds on a CUDA program with and without a race.
#include <gtest/gtest.h>

#include "base/subprocess.h"
#include "base/temporary_directory.h"
#include "ptxbench/judge/toolchain.h"
#include "tests/judge/command_line.h"

namespace weft::judge_test {
namespace {

class ScheduleSeeds : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_for_eval(true); !missing.empty())
      GTEST_SKIP() << missing;
    program_ = folder_.file("neighbour");
    Command compile;
    compile.arguments = {judge::find_toolchain().nvcc,
                         "-cudart",
                         "shared",
                         "-gencode",
                         "arch=compute_90a,code=compute_90a",
                         "-o",
                         program_,
                         "tests/judge/programs/neighbour.cu"};
    const Result<ProcessOutcome> compiled = run(compile);
    ASSERT_TRUE(compiled.ok() && compiled->passed()) << (compiled.ok() ? compiled->errors : "");
  }

  Ran seeds(const std::string& argument) const {
    return ptxbench({"emulate", "--schedule-seeds", "1..20", "--json", "--", program_, argument});
  }

  TemporaryDirectory folder_ = TemporaryDirectory::create("schedule_seeds_test").value();
  std::string program_;
};

TEST_F(ScheduleSeeds, AgreeOnAProgramThatWaits) {
  const Ran ran = seeds("waits");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  const Json report = ran.json();
  EXPECT_TRUE(report["agree"].get<bool>());
  ASSERT_EQ(report["runs"].size(), 20u);
  EXPECT_EQ(report["runs"][0]["host_reads"], 1);
}

TEST_F(ScheduleSeeds, NameTheFirstThatShowsARaceAndHowToRepeatIt) {
  const Ran ran = seeds("races");
  EXPECT_EQ(ran.exit_code, 1) << ran.errors;
  const Json report = ran.json();
  EXPECT_FALSE(report["agree"].get<bool>());
  const Json& found = report["difference"];
  EXPECT_EQ(found["against"], 1);
  EXPECT_TRUE(found["repeats"].get<bool>());
  EXPECT_NE(found["what"].get<std::string>().find("copy 0 (after 1 launches, 1024 bytes) differs"),
            std::string::npos)
      << found["what"];
  const std::string seed = std::to_string(found["seed"].get<int>());
  EXPECT_EQ(found["repeat"][1], "ptxbench emulate --schedule-seed " + seed +
                                    " --workers 1 --device h100 -- " + program_ + " races");
}

TEST_F(ScheduleSeeds, FailWhenEveryRunFaults) {
  const Ran ran = seeds("faults");
  EXPECT_EQ(ran.exit_code, 1) << ran.errors;
  const Json report = ran.json();
  EXPECT_TRUE(report["agree"].get<bool>());
  EXPECT_FALSE(report["passed"].get<bool>());
  EXPECT_EQ(report["runs"][0]["fault"]["kind"], "out of bounds");
}

TEST(ScheduleSeedRange, IsCheckedBeforeAnythingRuns) {
  for (const char* seeds : {"", "x", "5..2", "1..", "1..999999"})
    EXPECT_EQ(ptxbench({"emulate", "--schedule-seeds", seeds, "--", "true"}).exit_code, 2) << seeds;
}

}  // namespace
}  // namespace weft::judge_test
