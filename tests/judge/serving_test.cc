// SPDX-License-Identifier: Apache-2.0

// Every family of FP8, serving attention and gated delta net through the whole judge: our plain
// kernel passes, the same kernel with one mistake (kernels/serving/faulty says which) does not.
#include <ostream>

#include <gtest/gtest.h>

#include "tests/judge/command_line.h"

namespace weft::judge_test {
namespace {

struct Family {
  const char *kernel, *task, *axes;
};

void PrintTo(const Family& family, std::ostream* out) {
  *out << family.kernel;
}

constexpr Family kFamilies[] = {
    {"gqa_paged_decode", "gqa_paged_decode_h32_kv8_d128_ps1",
     "batch_size=3,len_indptr=4,num_pages=40,num_kv_indices=30,num_qo_heads=4,num_kv_heads=2"},
    {"gqa_paged_prefill", "gqa_paged_prefill_causal_h32_kv8_d128_ps1",
     "total_q=12,len_indptr=4,num_pages=40,num_kv_indices=30,num_qo_heads=4,num_kv_heads=2"},
    {"gqa_ragged_prefill", "gqa_ragged_prefill_causal_h32_kv8_d128",
     "total_q=12,len_indptr=4,total_kv=30,num_qo_heads=4,num_kv_heads=2"},
    {"gqa_paged_decode_ps16", "gqa_paged_decode_h32_kv8_d128_ps16",
     "batch_size=3,len_indptr=4,num_pages=9,num_kv_indices=6,num_qo_heads=4,num_kv_heads=2"},
    {"gqa_paged_prefill_ps16", "gqa_paged_prefill_causal_h32_kv8_d128_ps16",
     "total_q=12,num_sequences=3,len_indptr=4,num_pages=13,num_kv_indices=10,num_qo_heads=4,"
     "num_kv_heads=2"},
    {"gqa_ragged_prefill_empty", "gqa_ragged_prefill_causal_h32_kv8_d128_empty",
     "total_q=12,len_indptr=4,total_kv=30,num_qo_heads=4,num_kv_heads=2"},
    {"mla_paged_decode", "mla_paged_decode_h16_ckv512_kpe64_ps1",
     "batch_size=2,len_indptr=3,num_pages=20,num_kv_indices=14,num_qo_heads=2"},
    {"mla_paged_prefill", "mla_paged_prefill_causal_h16_ckv512_kpe64_ps1",
     "total_q=5,len_indptr=3,num_pages=20,num_kv_indices=14,num_qo_heads=2"},
    {"gdn_decode", "gdn_decode_qk4_v8_d128_k_last",
     "batch_size=2,num_q_heads=1,num_k_heads=1,num_v_heads=2"},
    {"gdn_mtp", "gdn_mtp_qk4_v8_d128_k_last",
     "batch_size=3,seq_len=2,pool_size=5,num_q_heads=1,num_k_heads=1,num_v_heads=2"},
    {"gdn_prefill", "gdn_prefill_qk4_v8_d128_k_last",
     "total_seq_len=7,num_seqs=2,len_cu_seqlens=3,num_q_heads=1,num_k_heads=1,num_v_heads=2"},
    {"fp8_gemm", "fp8_gemm_nt_1d2d_n4096_k7168", "m=4,n=256,num_nblock=2,k=256,num_kblock=2"},
    {"fp8_gemm_1d1d", "fp8_gemm_nt_1d1d_n4096_k7168", "m=4,n=256,k=256,num_kblock=2"},
    {"fp8_attention", "fp8_mha_with_lse_d64", "B=1,H=2,L=40"},
};

std::string status(const Family& family, const std::string& folder) {
  const Ran ran = ptxbench({"eval", "kernels/serving/" + folder + family.kernel + ".cu", "--task",
                            family.task, "--set", family.axes, "--json"});
  const Json json = ran.json();
  std::string said = json.value("status", "no status: " + ran.errors);
  // What a surprise is about.
  if (said != "PASSED" && said != "INCORRECT_NUMERICAL" && json.contains("audit"))
    for (const Json& stage : json["audit"]["stages"]) said += " " + stage.value("evidence", "");
  return said;
}

class Serving : public testing::TestWithParam<Family> {};

TEST_P(Serving, PassesWhenRight) {
  if (const std::string missing = missing_for_eval(true); !missing.empty()) GTEST_SKIP() << missing;
  EXPECT_EQ(status(GetParam(), ""), "PASSED");
}

TEST_P(Serving, FailsWhenWrong) {
  if (const std::string missing = missing_for_eval(true); !missing.empty()) GTEST_SKIP() << missing;
  EXPECT_EQ(status(GetParam(), "faulty/"), "INCORRECT_NUMERICAL");
}

INSTANTIATE_TEST_SUITE_P(Kernels, Serving, testing::ValuesIn(kFamilies),
                         [](const auto& family) { return std::string(family.param.kernel); });

}  // namespace
}  // namespace weft::judge_test
