// SPDX-License-Identifier: Apache-2.0

// Candidates that misbehave, and two that do not, through the whole judge: the right verdict,
// evidence in it, and nothing left behind. What is right is said in each candidate's first comment.
#include <gtest/gtest.h>

#include "tests/judge/command_line.h"

namespace weft::judge_test {
namespace {

struct Verdict {
  Ran ran;
  Json json;

  std::string status() const { return json.value("status", "no status: " + ran.errors); }
  std::string evidence() const {
    std::string all;
    for (const Json& stage : json["audit"]["stages"]) all += stage["evidence"].get<std::string>();
    return all;
  }
};

struct Task {
  std::string name = "gemm_n128_k2048", axes = "M=16,N=32,K=64";
};

Verdict judge(const std::string& name, std::vector<std::string> more = {}, const Task& task = {}) {
  std::vector<std::string> arguments = {"eval",  candidate(name), "--task", task.name,
                                        "--set", task.axes,       "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Verdict verdict{ptxbench(std::move(arguments)), {}};
  verdict.json = verdict.ran.json();
  EXPECT_TRUE(verdict.ran.left_behind.empty()) << verdict.ran.left_behind.front();
  EXPECT_EQ(verdict.json.value("schema", ""), "ptxbench.eval.v1") << verdict.ran.errors;
  return verdict;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

#define SKIP_UNLESS_JUDGING(needs_compiler)                                           \
  if (const std::string missing = missing_for_eval(needs_compiler); !missing.empty()) \
  GTEST_SKIP() << missing

TEST(Verdict, OfAPlainPtxProductIsPassed) {
  SKIP_UNLESS_JUDGING(false);
  const Verdict verdict = judge("product.ptx");
  EXPECT_EQ(verdict.status(), "PASSED") << verdict.evidence();
  EXPECT_EQ(verdict.ran.exit_code, 0);
  const Json& audit = verdict.json["audit"];
  EXPECT_EQ(audit["target_instructions_executed"], false);
  EXPECT_EQ(audit["share_class"], "absent");
  // One call: 16 * 32 dot products of 64 multiply-adds.
  EXPECT_EQ(audit["operations"]["scalar"], 2.0 * 16 * 32 * 64);
  const Json& correctness = verdict.json["traces"][0]["evaluation"]["correctness"]["extra"];
  EXPECT_EQ(correctness["deterministic"], true);
  // At least three calls and one repetition.
  EXPECT_GE(correctness["elements_compared"], 4 * 16 * 32);
  EXPECT_TRUE(verdict.json["traces"][0]["evaluation"]["performance"].is_null());
}

TEST(Verdict, OfACrashNamesTheSignalAndLeavesAUsableDevice) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("crash.cu");
  const Json& libs = verdict.json["traces"][0]["evaluation"]["environment"]["libs"];
  EXPECT_EQ(libs["device_after_failure"], "usable");
  EXPECT_EQ(verdict.status(), "RUNTIME_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(), "signal 11")) << verdict.evidence();
  EXPECT_EQ(verdict.ran.exit_code, 1);
}

TEST(Verdict, OfAHangIsTimeout) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("hang.cu", {"--timeout", "5"});
  EXPECT_EQ(verdict.status(), "TIMEOUT");
  EXPECT_TRUE(contains(verdict.evidence(), "longer than 5")) << verdict.evidence();
}

TEST(Verdict, OfAFloodIsAboutTheOutputsThatWereNotWritten) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("flood.cu");
  EXPECT_EQ(verdict.status(), "INCORRECT_NUMERICAL");
  EXPECT_TRUE(contains(verdict.evidence(), "never written")) << verdict.evidence();
  const std::string log = verdict.json["traces"][0]["evaluation"]["log"];
  EXPECT_TRUE(contains(log, "were dropped"));
  EXPECT_LT(log.size(), 300000u);
}

TEST(Verdict, OfATerabyteIsAnErrorAndNoHarm) {
  SKIP_UNLESS_JUDGING(true);
  EXPECT_TRUE(contains(judge("device_terabyte.cu").evidence(), "cudaErrorMemoryAllocation"));
  const Verdict host = judge("host_terabyte.cu");
  EXPECT_EQ(host.status(), "RUNTIME_ERROR");
  EXPECT_TRUE(contains(host.evidence(), "memory")) << host.evidence();
}

TEST(Verdict, OfAForkBombStopsIt) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("fork_bomb.cu", {"--timeout", "60"});
  EXPECT_EQ(verdict.status(), "RUNTIME_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(), "processes")) << verdict.evidence();
}

TEST(Verdict, OfLeavingEarlyIsNotAPass) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("leaves_early.cu");
  EXPECT_EQ(verdict.status(), "RUNTIME_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(), "ended its process")) << verdict.evidence();
}

TEST(Verdict, OfARaisedErrorCarriesItsMessage) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("refuses.cu");
  EXPECT_EQ(verdict.status(), "RUNTIME_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(), "ValueError")) << verdict.evidence();
  EXPECT_TRUE(contains(verdict.evidence(), "only 7 rows, not 16")) << verdict.evidence();
}

TEST(Verdict, OfRememberedResultsIsWrongNumbersInTheSecondTrial) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("remembers.cu");
  EXPECT_EQ(verdict.status(), "INCORRECT_NUMERICAL");
  EXPECT_TRUE(contains(verdict.evidence(), "call 1")) << verdict.evidence();
}

TEST(Verdict, OfChangedInputsNamesTheInput) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("changes_input.cu");
  EXPECT_EQ(verdict.status(), "RUNTIME_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(), "input A was changed")) << verdict.evidence();
}

TEST(Verdict, OfSumsReadBeforeTheWgmmaWaitNamesTheLine) {
  SKIP_UNLESS_JUDGING(true);
  // The results are right, here and on an H200, because the assembler mends the code.
  const Verdict verdict = judge("../../../kernels/hopper/faulty/gemm_missing_wgmma_wait.cu");
  EXPECT_EQ(verdict.status(), "RUNTIME_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(), "register of a wgmma in flight: accumulator %f"))
      << verdict.evidence();
  EXPECT_TRUE(contains(verdict.evidence(), "is read before the wgmma.wait_group that covers it"))
      << verdict.evidence();
  EXPECT_TRUE(contains(verdict.evidence(), "inlined at ")) << verdict.evidence();
  EXPECT_TRUE(contains(verdict.evidence(), "gemm_wgmma.cu:140")) << verdict.evidence();
}

// Counts are hand arithmetic: a block of 128 x 128 of C issues one product of 128 x 128 x 16 for 16
// columns of K, and two transfers for 64.
TEST(Verdict, OfABlackwellProductIsPassedAndItsProductsAreCounted) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict =
      judge("../../../kernels/blackwell/gemm_tcgen05.cu", {"--arch", "blackwell"});
  EXPECT_EQ(verdict.status(), "PASSED") << verdict.evidence();
  const Json& audit = verdict.json["audit"];
  EXPECT_EQ(audit["family"], "B");
  EXPECT_EQ(audit["target_instructions_executed"], true) << audit.dump();
  EXPECT_EQ(audit["share_class"], "full") << audit.dump();
  EXPECT_EQ(audit["executed"]["tcgen05_warps"], 4);
  EXPECT_EQ(audit["executed"]["tma_warps"], 2);
  EXPECT_EQ(audit["operations"]["target"], 4 * 2 * 128 * 128 * 16);
  EXPECT_EQ(audit["output_changed_without"]["tcgen05"], 1);
}

// Two blocks multiply 256 x 256 x 16 at once, for 16 of 320 columns of K; each loads its halves of
// A and B, 64 columns at a time.
TEST(Verdict, OfAProductByPairsOfBlocksIsPassed) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("../../../kernels/blackwell/gemm_tcgen05_pair.cu",
                                {"--arch", "blackwell"}, {.axes = "M=136,N=264,K=320"});
  EXPECT_EQ(verdict.status(), "PASSED") << verdict.evidence();
  const Json& audit = verdict.json["audit"];
  EXPECT_EQ(audit["share_class"], "full") << audit.dump();
  EXPECT_EQ(audit["executed"]["tcgen05_warps"], 2 * 20);
  EXPECT_EQ(audit["executed"]["tma_warps"], 2 * 2 * 2 * 5);
  EXPECT_EQ(audit["operations"]["target"], 2 * 20 * 2 * 256 * 256 * 16);
}

TEST(Verdict, OfACommitThatMissesABlockOfThePairNamesWhoWaits) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict =
      judge("../../../kernels/blackwell/faulty/gemm_pair_commit_to_one_block.cu",
            {"--arch", "blackwell"}, {.axes = "M=16,N=32,K=320"});
  EXPECT_EQ(verdict.status(), "RUNTIME_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(), "deadlock")) << verdict.evidence();
  EXPECT_TRUE(contains(verdict.evidence(), "gemm_tcgen05_pair.cu:")) << verdict.evidence();
  // The producer of block 1, at the mbarrier of its first stage.
  const std::string text = verdict.json["audit"]["fault"].value("text", "");
  EXPECT_TRUE(contains(text, "block (1,0,0) warp 0: waits for the phase of parity 0 of mbarrier"))
      << text;
}

TEST(Verdict, OfAttentionInTensorMemoryIsPassed) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict =
      judge("../../../kernels/blackwell/attention_forward_causal_tcgen05.cu",
            {"--arch", "blackwell"}, {.name = "mha_with_lse_d128_causal", .axes = "B=1,H=2,S=300"});
  EXPECT_EQ(verdict.status(), "PASSED") << verdict.evidence();
  EXPECT_EQ(verdict.json["audit"]["share_class"], "full") << verdict.json["audit"].dump();
}

// The first to notice is the warp that gives the columns back: the output may be fetched before the
// product has been issued at all.
TEST(Verdict, OfAttentionThatDoesNotWaitForItsOutputNamesTheLine) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict =
      judge("../../../kernels/blackwell/faulty/attention_output_too_early.cu",
            {"--arch", "blackwell"}, {.name = "mha_with_lse_d64", .axes = "B=1,H=1,S=256"});
  EXPECT_EQ(verdict.status(), "RUNTIME_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(),
                       "columns 256 to 319 of tensor memory are given back "
                       "while the tensor core writes them"))
      << verdict.evidence();
  EXPECT_TRUE(contains(verdict.evidence(), "attention_forward_tcgen05.cu:")) << verdict.evidence();
}

// Two blocks of a cluster, three times 64 columns of K: 24 products of 128 x 128 x 16.
TEST(Verdict, OfAnOperandInTensorMemoryAndASharedOneIsPassed) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict =
      judge("tensor_memory_operand.cu", {"--arch", "blackwell"}, {.axes = "M=200,K=192"});
  EXPECT_EQ(verdict.status(), "PASSED") << verdict.evidence();
  EXPECT_EQ(verdict.json["audit"]["executed"]["tcgen05_warps"], 24);
  EXPECT_EQ(verdict.json["audit"]["operations"]["target"], 24 * 2 * 128 * 128 * 16);
}

TEST(Verdict, OfTensorMemoryReadBeforeTheCommitIsWaitedForNamesTheLine) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("../../../kernels/blackwell/faulty/gemm_missing_commit_wait.cu",
                                {"--arch", "blackwell"});
  EXPECT_EQ(verdict.status(), "RUNTIME_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(), "are read while the tensor core writes them"))
      << verdict.evidence();
  EXPECT_TRUE(contains(verdict.evidence(), "gemm_tcgen05.cu:")) << verdict.evidence();
  EXPECT_EQ(verdict.json["audit"]["family"], "B");
}

TEST(Verdict, OfSourceThatDoesNotCompileNamesTheLine) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("does_not_compile.cu");
  EXPECT_EQ(verdict.status(), "COMPILE_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(), "error")) << verdict.evidence();
  EXPECT_TRUE(verdict.json["audit"]["target_instructions_executed"].is_null());
}

TEST(Verdict, OfALibraryShortcutComesBeforeTheCompiler) {
  SKIP_UNLESS_JUDGING(true);
  const Verdict verdict = judge("shortcut.cu");
  EXPECT_EQ(verdict.status(), "COMPILE_ERROR");
  EXPECT_TRUE(contains(verdict.evidence(), "cuBLAS")) << verdict.evidence();
  EXPECT_TRUE(verdict.json["audit"]["stages"][1]["passed"].is_null());
}

}  // namespace
}  // namespace weft::judge_test
