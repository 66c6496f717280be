// SPDX-License-Identifier: Apache-2.0

// One planted bad definition for each rule, and the project's own as the control.
#include "ptxbench/problems/lint.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "ptxbench/problems/catalogue.h"

namespace weft::problems {
namespace {

Task gemm() {
  return *Catalogue::open("problems")
              ->task("gemm_n128_k2048", "", {{"M", 32}, {"N", 64}, {"K", 256}});
}

void replace_tag(Task& task, const std::string& key, const std::string& value) {
  std::erase_if(task.definition.tags,
                [&](const std::string& tag) { return tag.starts_with(key + ":"); });
  task.definition.tags.push_back(key + ":" + value);
}

// Rules that failed, each once.
std::vector<std::string> broken(const Task& task) {
  const Result<Admission> admission = lint_task(task, 1);
  EXPECT_TRUE(admission.ok()) << format(admission.error());
  std::vector<std::string> rules;
  for (const LintCheck& check : admission->checks) {
    if (!check.passed && std::find(rules.begin(), rules.end(), check.rule) == rules.end())
      rules.push_back(check.rule);
  }
  EXPECT_EQ(admission->admitted(), rules.empty());
  std::sort(rules.begin(), rules.end());
  return rules;
}

using Rules = std::vector<std::string>;

TEST(Lint, AdmitsAProduct) {
  EXPECT_EQ(broken(gemm()), Rules{});
}

// Log-sum-exps of 128 keys differ by tenths from query to query and by several where there are
// spikes: their mean is far outside the measured limit of 2e-3 and right for a limit of ten.
TEST(Lint, TellsTheMeanOfLogSumExps) {
  Task task =
      *Catalogue::open("problems")->task("mha_with_lse_d64", "", {{"B", 1}, {"H", 1}, {"S", 128}});
  const auto passed = [&task](const std::string& subject) {
    const Admission admission = *lint_task(task, 1);
    const auto found = std::find_if(
        admission.checks.begin(), admission.checks.end(), [&subject](const LintCheck& check) {
          return check.rule == "null_kernel" && check.subject == subject;
        });
    EXPECT_NE(found, admission.checks.end());
    return found->passed;
  };
  EXPECT_TRUE(passed("LSE: the mean of the output everywhere"));
  replace_tag(task, "tolerance.LSE", "matched_ratio absolute=10");
  EXPECT_FALSE(passed("LSE: the mean of the output everywhere"));
}

// Outputs of size 1.6e-4, below the absolute tolerance of 3.7e-3: 1e-5 times sums of 256 normal
// numbers.
TEST(Lint, RefusesOutputsBelowTheAbsoluteTolerance) {
  Task task = gemm();
  replace_tag(task, "input.A", "constant 0.00001");
  EXPECT_EQ(broken(task), (Rules{"influence", "null_kernel"}));
}

// Rounding to e4m3 errs by 2^-4 / sqrt(3) times 0.7, more than the norm of 1e-2 that is allowed.
TEST(Lint, RefusesAToleranceThatTheReferenceItselfFails) {
  Task task = gemm();
  task.definition.outputs[0].dtype = DType::Float8E4M3;
  replace_tag(task, "tolerance.C", "relative_norm");
  EXPECT_EQ(broken(task), (Rules{"control"}));
}

// A product with zeros is zero whatever A is (weights that were never initialised).
TEST(Lint, RefusesInputsThatMakeTheOutputConstant) {
  Task task = gemm();
  replace_tag(task, "input.B", "constant 0");
  EXPECT_EQ(broken(task), (Rules{"influence", "null_kernel", "spread"}));
}

// With A constant every row of C is the same; A and the row have no influence, B has.
TEST(Lint, RefusesOutputsThatRepeatARow) {
  Task task = gemm();
  replace_tag(task, "input.A", "constant 1");
  EXPECT_EQ(broken(task), (Rules{"null_kernel"}));
}

TEST(Lint, RefusesAMaskOverEverything) {
  Task task = gemm();
  replace_tag(task, "masked.C", "i0 >= 0");
  const Rules rules = broken(task);
  EXPECT_NE(std::find(rules.begin(), rules.end(), "elements"), rules.end());
}

// The LSE of queries that see no key is minus infinity.
TEST(Lint, RefusesAnInfiniteReferenceOutsideTheMask) {
  Task task =
      *Catalogue::open("problems")
           ->task("mha_with_lse_qk_d64_causal", "", {{"B", 1}, {"H", 1}, {"Sq", 80}, {"Sk", 64}});
  EXPECT_EQ(broken(task), Rules{});
  std::erase_if(task.definition.tags,
                [](const std::string& tag) { return tag.starts_with("masked.LSE:"); });
  EXPECT_EQ(broken(task), (Rules{"finite"}));
}

// Uniform attention, the mean of V, is the reference with Q = 0; it must be among the null kernels.
TEST(Lint, TriesUniformAttention) {
  const Task task =
      *Catalogue::open("problems")->task("mha_with_lse_d64", "", {{"B", 1}, {"H", 1}, {"S", 96}});
  const Admission admission = *lint_task(task, 1);
  EXPECT_TRUE(admission.admitted());
  EXPECT_TRUE(std::any_of(admission.checks.begin(), admission.checks.end(), [](const auto& check) {
    return check.subject.find("right answer to Q = 0") != std::string::npos;
  }));
}

TEST(Lint, ShrinksByTheTagAndThenByHalving) {
  const Result<Catalogue> catalogue = Catalogue::open("problems");
  const Definition definition = *catalogue->definition("mha_with_lse_d128");
  const std::vector<Workload> workloads = *catalogue->workloads(definition);
  const Task small = *shrunk(definition, workloads[0], 1e12);
  EXPECT_EQ(small.axis("B"), 1);
  EXPECT_EQ(small.axis("H"), 1);
  EXPECT_EQ(small.axis("S"), 512);
  // 4 S^2 D of S = 16384 is 1.4e11; 1.5e9 is passed at S = 1024, where it is 5.4e8.
  EXPECT_EQ(shrunk(definition, workloads.back(), 1.5e9)->axis("S"), 1024);
}

}  // namespace
}  // namespace weft::problems
