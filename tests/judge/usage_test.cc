// SPDX-License-Identifier: Apache-2.0

// Wrong command lines and broken files: each ends with its exit code and a message that helps.
#include <set>

#include <gtest/gtest.h>

#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "tests/judge/command_line.h"

namespace weft::judge_test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Usage, EveryVerbHelpsWithExamples) {
  for (const char* verb : {"eval", "emulate", "inspect", "tasks", "demo", "doctor"}) {
    const Ran ran = ptxbench({verb, "--help"});
    EXPECT_EQ(ran.exit_code, 0) << verb;
    EXPECT_TRUE(contains(ran.output, "Examples:")) << verb;
  }
}

TEST(Usage, WrongCommandLinesAreUsageErrors) {
  EXPECT_EQ(ptxbench({}).exit_code, 2);
  EXPECT_EQ(ptxbench({"judge"}).exit_code, 2);
  EXPECT_EQ(ptxbench({"eval", "k.cu"}).exit_code, 2);
  EXPECT_EQ(ptxbench({"eval", "k.cu", "--task", "t", "--device", "b200"}).exit_code, 2);
  EXPECT_EQ(ptxbench({"tasks", "show"}).exit_code, 2);
}

TEST(Usage, UnknownTasksListNearMatches) {
  const Ran ran = ptxbench({"eval", candidate("product.ptx"), "--task", "gemm_n7168_k512"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_TRUE(contains(ran.errors, "unknown task: \"gemm_n7168_k512\"")) << ran.errors;
  EXPECT_TRUE(contains(ran.errors, "gemm_n7168_k5120")) << ran.errors;
  EXPECT_EQ(ptxbench({"tasks", "show", "mha"}).exit_code, 2);
}

TEST(Usage, UnknownAxesAndIllegalValuesSayWhichAreThere) {
  const auto eval = [](const char* set) {
    return ptxbench({"eval", candidate("product.ptx"), "--task", "gemm_n128_k2048", "--set", set});
  };
  const Ran unknown = eval("L=4");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(unknown.errors, "unknown axis: \"L\"")) << unknown.errors;
  EXPECT_TRUE(contains(unknown.errors, "M")) << unknown.errors;
  for (const char* set :
       {"M=0", "M=-1", "M=x", "M", "K=7", "M=99999999999", "M=4294967296,N=4294967296"}) {
    EXPECT_EQ(eval(set).exit_code, 2) << set;
  }
}

TEST(Usage, UnknownWorkloadsListKnownOnes) {
  const Ran ran = ptxbench(
      {"eval", candidate("product.ptx"), "--task", "gemm_n7168_k5120", "--workload", "0d2d6ae8"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_TRUE(contains(ran.errors, "unknown workload")) << ran.errors;
}

TEST(Usage, CandidatesThatCannotBeReadAreUsageErrors) {
  const auto eval = [](const std::string& file) {
    return ptxbench({"eval", file, "--task", "gemm_n128_k2048", "--set", "M=8"});
  };
  EXPECT_EQ(eval("none.cu").exit_code, 2);
  EXPECT_EQ(eval("README.md").exit_code, 2);
  EXPECT_EQ(eval("tests").exit_code, 2);
  const TemporaryDirectory folder = TemporaryDirectory::create("usage_test").value();
  ASSERT_TRUE(write_file(folder.file("k.ptx"), ".version 8.0\n").ok());
  const Ran undescribed = eval(folder.file("k.ptx"));
  EXPECT_EQ(undescribed.exit_code, 2);
  EXPECT_TRUE(contains(undescribed.errors, "how it is launched")) << undescribed.errors;
}

TEST(Usage, BrokenTaskFilesAreLocated) {
  const TemporaryDirectory folder = TemporaryDirectory::create("usage_test").value();
  ASSERT_TRUE(write_file(folder.file("definitions/gemm/broken.json"),
                         "{\n  \"name\": \"broken\",\n  \"opp_type\": 3\n}\n")
                  .ok());
  const Ran ran = ptxbench({"tasks", "show", "broken", "--problems", folder.path()});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_TRUE(contains(ran.errors, "broken.json:3:")) << ran.errors;
  EXPECT_TRUE(contains(ran.errors, "opp_type")) << ran.errors;
}

TEST(Usage, AMissingCompilerIsTheEnvironmentsFault) {
  const Ran ran =
      ptxbench({"eval", candidate("crash.cu"), "--task", "gemm_n128_k2048", "--set", "M=8"},
               {{"WEFT_NVCC", "/nonexistent/nvcc"}});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_TRUE(contains(ran.errors, "compiler is missing")) << ran.errors;
  EXPECT_TRUE(contains(ran.errors, "WEFT_NVCC")) << ran.errors;
}

TEST(Inspect, SaysWhereGarbageGoesWrong) {
  const TemporaryDirectory folder = TemporaryDirectory::create("usage_test").value();
  ASSERT_TRUE(write_file(folder.file("garbage.ptx"),
                         ".version 8.0\n.target sm_90a\n.address_size 64\n\x01\x02 what {{{\n")
                  .ok());
  const Ran ran = ptxbench({"inspect", folder.file("garbage.ptx")});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(contains(ran.errors, "garbage.ptx:4:")) << ran.errors;
  EXPECT_EQ(ptxbench({"inspect", folder.file("none.ptx")}).exit_code, 2);
}

TEST(Inspect, FindsNothingSpecialInAPlainKernel) {
  const Ran ran = ptxbench({"inspect", candidate("product.ptx"), "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(ran.json()["virtual_arch"], "compute_90a");
  EXPECT_TRUE(ran.json()["architecture"].empty());
  EXPECT_EQ(ran.json()["instruction_counts"]["fma"], 1);
}

TEST(Tasks, AreListedAndShown) {
  EXPECT_EQ(ptxbench({"tasks"}).exit_code, 0);
  const Ran list = ptxbench({"tasks", "list", "--json"});
  EXPECT_EQ(list.json().size(), 67u);
  const Ran one = ptxbench({"tasks", "show", "mha_with_lse_d128_causal", "--json"});
  EXPECT_EQ(one.json()["axes"]["H"]["value"], 48);
  EXPECT_TRUE(contains(ptxbench({"tasks", "show", "gemm_n7168_k5120"}).output, "bfloat16[M, K]"));
}

// What is wrong with the planted task follows from arithmetic: a product with zeros is zero
// whatever A is, so a kernel that stores zeros would pass.
TEST(Tasks, LintAdmitsAGoodTaskAndNamesTheRuleThatABadOneBreaks) {
  const std::string task = "gemm_n128_k2048";
  const Ran good = ptxbench({"tasks", "lint", task, "--json"});
  EXPECT_EQ(good.exit_code, 0) << good.errors;
  ASSERT_FALSE(good.json()[task].empty()) << good.output;
  for (const Json& run : good.json()[task]) EXPECT_EQ(run["admitted"], true);

  const TemporaryDirectory folder = TemporaryDirectory::create("usage_test").value();
  Json planted = read_json("problems/definitions/gemm/" + task + ".json").value();
  planted["tags"].push_back("input.B:constant 0");
  ASSERT_TRUE(write_json(folder.file("definitions/gemm/" + task + ".json"), planted).ok());
  const std::string workloads = "workloads/gemm/" + task + ".jsonl";
  ASSERT_TRUE(write_file(folder.file(workloads), read_file("problems/" + workloads).value()).ok());
  const Ran bad = ptxbench({"tasks", "lint", task, "--json", "--problems", folder.path()});
  EXPECT_EQ(bad.exit_code, 1) << bad.errors;
  const Json run = bad.json()[task][0];
  EXPECT_EQ(run["admitted"], false);
  std::set<std::string> broken;
  for (const Json& check : run["checks"])
    if (check["passed"] == false) broken.insert(check["rule"]);
  EXPECT_EQ(broken, (std::set<std::string>{"influence", "null_kernel", "spread"}));
  EXPECT_TRUE(contains(ptxbench({"tasks", "lint", task, "--problems", folder.path()}).output,
                       "null_kernel  C: zeros: accepted"));
}

TEST(Tasks, LintWantsOneKnownTaskOrAll) {
  const Ran unknown = ptxbench({"tasks", "lint", "gemm_n128_k204"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(unknown.errors, "gemm_n128_k2048")) << unknown.errors;
  EXPECT_EQ(ptxbench({"tasks", "lint"}).exit_code, 2);
  EXPECT_EQ(ptxbench({"tasks", "lint", "gemm_n128_k2048", "--all"}).exit_code, 2);
}

TEST(Doctor, ReportsInBothForms) {
  EXPECT_TRUE(contains(ptxbench({"doctor"}).output, "sandbox"));
  EXPECT_TRUE(ptxbench({"doctor", "--json"}).json()["checks"].is_array());
}

constexpr const char* kWithoutMeaning =
    ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
    ".reg .b64 %d;\nld.param.u64 %d, [out];\n"
    "st.async.mmio.release.gpu.global.u32 [%d], 1;\n"
    "st.async.mmio.release.sys.global.u32 [%d], 2;\nret;\n}\n";

TEST(Usage, SupportListsWhatTheEmulatorDoesNotExecute) {
  const TemporaryDirectory folder = TemporaryDirectory::create("usage_test").value();
  const std::string file = folder.file("k.ptx");
  ASSERT_TRUE(write_file(file, kWithoutMeaning).ok());
  const Ran told = ptxbench({"inspect", "--support", file});
  EXPECT_EQ(told.exit_code, 1) << told.errors;
  EXPECT_TRUE(contains(told.output, "st.async.mmio.release.gpu.global.u32")) << told.output;
  EXPECT_TRUE(contains(told.output, "2 instructions have no meaning")) << told.output;
  const Json report = ptxbench({"inspect", "--support", "--json", file}).json();
  EXPECT_FALSE(report["executes"].get<bool>());
  ASSERT_EQ(report["unsupported"].size(), 2u);
  EXPECT_EQ(report["unsupported"][0]["ptx_line"], 8);
  EXPECT_EQ(report["unsupported"][1]["ptx_line"], 9);
  EXPECT_EQ(report["unsupported"][1]["function"], "k");
}

TEST(Usage, SupportIsFineWithWhatExecutesAndTellsWhatIsNoPtx) {
  EXPECT_EQ(ptxbench({"inspect", "--support", candidate("product.ptx")}).exit_code, 0);
  const TemporaryDirectory folder = TemporaryDirectory::create("usage_test").value();
  const std::string file = folder.file("k.ptx");
  ASSERT_TRUE(write_file(file,
                         ".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".visible .entry k()\n{\nfoo.u32 %r1;\n}\n")
                  .ok());
  const Ran ran = ptxbench({"inspect", "--support", "--json", file});
  EXPECT_EQ(ran.exit_code, 1);
  ASSERT_EQ(ran.json()["refused"].size(), 1u) << ran.output;
  EXPECT_EQ(ran.json()["refused"][0]["ptx_line"], 6);
}

}  // namespace
}  // namespace weft::judge_test
