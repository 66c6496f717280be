// SPDX-License-Identifier: Apache-2.0

// Packed attention against dense attention on the same numbers (an independent path through the
// references), by hand where a sequence has one key; the gated delta rule by hand on states of zero
// and one.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "ptxbench/problems/catalogue.h"
#include "ptxbench/problems/inputs.h"
#include "ptxbench/problems/reference.h"

namespace weft::problems {
namespace {

Task task(const char* name, Overrides overrides) {
  const Result<Task> made = Catalogue::open("problems")->task(name, "", std::move(overrides));
  EXPECT_TRUE(made.ok()) << format(made.error());
  return *made;
}

std::vector<int64_t> whole(const Tensor& tensor) {
  std::vector<int64_t> values;
  for (const float value : to_float(tensor)) values.push_back(static_cast<int64_t>(value));
  return values;
}

TEST(Offsets, AreRaggedAndLeaveNoSequenceEmpty) {
  const Task ragged = task("gqa_ragged_prefill_causal_h32_kv8_d128",
                           {{"total_q", 40}, {"total_kv", 100}, {"len_indptr", 6}});
  const auto inputs = *make_inputs(ragged, 3, 0);
  const std::vector<int64_t> q = whole(inputs[3]), kv = whole(inputs[4]);
  EXPECT_EQ(q.front(), 0);
  EXPECT_EQ(q.back(), 40);
  EXPECT_EQ(kv.back(), 100);
  for (size_t s = 0; s + 1 < q.size(); ++s) {
    EXPECT_GE(q[s + 1] - q[s], 1);
    EXPECT_GE(kv[s + 1] - kv[s], q[s + 1] - q[s]);
  }
  EXPECT_EQ(whole((*make_inputs(ragged, 3, 0))[3]), q);
  EXPECT_NE(whole((*make_inputs(ragged, 4, 0))[3]), q);
}

TEST(Offsets, RefuseWhatDoesNotFit) {
  Task ragged = task("gqa_ragged_prefill_causal_h32_kv8_d128",
                     {{"total_q", 40}, {"total_kv", 100}, {"len_indptr", 6}});
  ragged.axes["total_q"] = 3;
  EXPECT_FALSE(make_inputs(ragged, 3, 0).ok());
}

TEST(Pages, AreDifferent) {
  const Task decode =
      task("gqa_paged_decode_h32_kv8_d128_ps1",
           {{"batch_size", 3}, {"len_indptr", 4}, {"num_pages", 50}, {"num_kv_indices", 48}});
  std::vector<int64_t> pages = whole((*make_inputs(decode, 5, 0))[4]);
  std::sort(pages.begin(), pages.end());
  EXPECT_EQ(std::unique(pages.begin(), pages.end()), pages.end());
  EXPECT_GE(pages.front(), 0);
  EXPECT_LT(pages.back(), 50);
}

// One sequence with as many keys as queries, one key head for every query head and pages in order:
// dense causal attention, whose tensors have heads before tokens.
TEST(PagedPrefill, AgreesWithDenseAttention) {
  constexpr int64_t kTokens = 30, kHeads = 2, kDim = 128;
  const Task paged = task("gqa_paged_prefill_causal_h32_kv8_d128_ps1", {{"total_q", kTokens},
                                                                        {"len_indptr", 2},
                                                                        {"num_pages", kTokens},
                                                                        {"num_kv_indices", kTokens},
                                                                        {"num_qo_heads", kHeads},
                                                                        {"num_kv_heads", kHeads}});
  const Task dense = task("mha_with_lse_d128_causal", {{"B", 1}, {"H", kHeads}, {"S", kTokens}});
  auto inputs = *make_inputs(paged, 7, 0);
  const std::vector<int64_t> pages = whole(inputs[5]);
  auto dense_inputs = *make_inputs(dense, 7, 0);
  const auto row = [&](const Tensor& tensor, int64_t index) {
    return tensor.bytes.data() + index * kDim * 2;
  };
  for (int64_t t = 0; t < kTokens; ++t) {
    for (int64_t h = 0; h < kHeads; ++h) {
      const auto copy = [&](size_t to, int64_t from_row, size_t from) {
        std::memcpy(dense_inputs[to].bytes.data() + (h * kTokens + t) * kDim * 2,
                    row(inputs[from], from_row * kHeads + h), kDim * 2);
      };
      copy(0, t, 0);
      copy(1, pages[t], 1);
      copy(2, pages[t], 2);
    }
  }
  const Expected got = *reference(paged, inputs), want = *reference(dense, dense_inputs);
  for (int64_t t = 0; t < kTokens; ++t) {
    for (int64_t h = 0; h < kHeads; ++h) {
      EXPECT_NEAR(got[1][t * kHeads + h] * std::log(2.0), want[1][h * kTokens + t], 1e-4);
      for (int64_t i = 0; i < kDim; i += 9) {
        EXPECT_NEAR(got[0][(t * kHeads + h) * kDim + i], want[0][(h * kTokens + t) * kDim + i],
                    1e-4);
      }
    }
  }
}

// 2 heads x 30 keys x (128 + 128) multiply-adds of two operations; 576 + 512 for latent keys.
TEST(PagedDecode, CountsItsOperations) {
  const Overrides axes{{"batch_size", 3},
                       {"len_indptr", 4},
                       {"num_pages", 40},
                       {"num_kv_indices", 30},
                       {"num_qo_heads", 2}};
  Overrides grouped = axes;
  grouped.emplace_back("num_kv_heads", 1);
  EXPECT_EQ(floating_point_operations(task("gqa_paged_decode_h32_kv8_d128_ps1", grouped)),
            2.0 * 2 * 30 * 256);
  EXPECT_EQ(floating_point_operations(task("mla_paged_decode_h16_ckv512_kpe64_ps1", axes)),
            2.0 * 2 * 30 * (576 + 512));
}

// With one key a sequence the output is its value, shared by the query heads of a group, and the
// log-sum-exp the score in units of log 2.
TEST(PagedDecode, OfOneKeyIsItsValue) {
  const Task decode = task("gqa_paged_decode_h32_kv8_d128_ps1", {{"batch_size", 2},
                                                                 {"len_indptr", 3},
                                                                 {"num_pages", 5},
                                                                 {"num_kv_indices", 2},
                                                                 {"num_qo_heads", 4},
                                                                 {"num_kv_heads", 2}});
  const auto inputs = *make_inputs(decode, 9, 0);
  const Expected got = *reference(decode, inputs);
  const std::vector<int64_t> pages = whole(inputs[4]);
  const std::vector<float> q = to_float(inputs[0]), k = to_float(inputs[1]),
                           v = to_float(inputs[2]);
  for (int64_t s = 0; s < 2; ++s) {
    for (int64_t h = 0; h < 4; ++h) {
      const int64_t key = (pages[s] * 2 + h / 2) * 128;
      double dot = 0;
      for (int64_t i = 0; i < 128; ++i) {
        dot += double{q[(s * 4 + h) * 128 + i]} * k[key + i];
        EXPECT_NEAR(got[0][(s * 4 + h) * 128 + i], v[key + i], 1e-6);
      }
      EXPECT_NEAR(got[1][s * 4 + h], dot / std::sqrt(128.0) / std::log(2.0), 1e-4);
    }
  }
}

// Packed sequences of which some have no keys, and pages whose last is filled in part, against
// loops over the definition's words: token t of a sequence lies in row t % 16 of its page t / 16.
TEST(PartialPages, AgreeWithLoopsAndMayBeNone) {
  const Task prefill = task("gqa_paged_prefill_causal_h32_kv8_d128_ps16", {{"total_q", 9},
                                                                           {"num_sequences", 4},
                                                                           {"len_indptr", 5},
                                                                           {"num_pages", 14},
                                                                           {"num_kv_indices", 12},
                                                                           {"num_qo_heads", 2},
                                                                           {"num_kv_heads", 1}});
  const auto inputs = *make_inputs(prefill, 11, 0);
  const Expected got = *reference(prefill, inputs);
  const std::vector<int64_t> queries = whole(inputs[3]), offsets = whole(inputs[4]),
                             pages = whole(inputs[5]), last = whole(inputs[6]);
  const std::vector<float> q = to_float(inputs[0]), k = to_float(inputs[1]),
                           v = to_float(inputs[2]);
  int empty = 0;
  for (size_t s = 0; s < 4; ++s) {
    const int64_t used = offsets[s + 1] - offsets[s];
    const int64_t keys = used == 0 ? 0 : (used - 1) * 16 + last[s];
    empty += used == 0 ? 1 : 0;
    EXPECT_TRUE(used == 0 ? last[s] == 0 : last[s] >= 1 && last[s] <= 16);
    EXPECT_TRUE(used == 0 || keys >= queries[s + 1] - queries[s]);
    for (int64_t row = queries[s]; row < queries[s + 1]; ++row) {
      const int64_t visible = std::max<int64_t>(0, keys - (queries[s + 1] - 1 - row));
      for (int64_t h = 0; h < 2; ++h) {
        const float* query = &q[(row * 2 + h) * 128];
        double sum = 0;
        std::vector<double> out(128);
        for (int64_t t = 0; t < visible; ++t) {
          const int64_t key = (pages[offsets[s] + t / 16] * 16 + t % 16) * 128;
          double score = 0;
          for (int64_t i = 0; i < 128; ++i) score += double{query[i]} * k[key + i];
          const double weight = std::exp(score / std::sqrt(128.0));
          sum += weight;
          for (int64_t i = 0; i < 128; ++i) out[i] += weight * v[key + i];
        }
        if (visible == 0)
          EXPECT_EQ(got[1][row * 2 + h], -INFINITY);
        else
          EXPECT_NEAR(got[1][row * 2 + h], std::log2(sum), 1e-4);
        for (int64_t i = 0; i < 128; ++i)
          EXPECT_NEAR(got[0][(row * 2 + h) * 128 + i], visible == 0 ? 0 : out[i] / sum, 1e-4);
      }
    }
  }
  EXPECT_GE(empty, 1);
  EXPECT_LT(empty, 4);
  EXPECT_FALSE(floating_point_operations(prefill).has_value());
}

// The latent key is the value too; the positional key only enters the score.
TEST(LatentDecode, OfOneKeyIsTheCompressedKey) {
  const Task decode = task("mla_paged_decode_h16_ckv512_kpe64_ps1", {{"batch_size", 1},
                                                                     {"len_indptr", 2},
                                                                     {"num_pages", 3},
                                                                     {"num_kv_indices", 1},
                                                                     {"num_qo_heads", 2}});
  const auto inputs = *make_inputs(decode, 9, 0);
  const Expected got = *reference(decode, inputs);
  const int64_t page = whole(inputs[5])[0];
  const std::vector<float> q = to_float(inputs[0]), q_pe = to_float(inputs[1]),
                           ckv = to_float(inputs[2]), kpe = to_float(inputs[3]);
  for (int64_t h = 0; h < 2; ++h) {
    double dot = 0;
    for (int64_t i = 0; i < 512; ++i) {
      dot += double{q[h * 512 + i]} * ckv[page * 512 + i];
      EXPECT_NEAR(got[0][h * 512 + i], ckv[page * 512 + i], 1e-6);
    }
    for (int64_t i = 0; i < 64; ++i) dot += double{q_pe[h * 64 + i]} * kpe[page * 64 + i];
    EXPECT_NEAR(got[1][h], dot / std::sqrt(192.0) / std::log(2.0), 1e-3);
  }
}

// From a state of zero, S = beta v k' and the output is scale beta (k . q) v.
TEST(GatedDelta, WritesAValueIntoAnEmptyState) {
  const Task decode =
      task("gdn_decode_qk4_v8_d128_k_last",
           {{"batch_size", 1}, {"num_q_heads", 1}, {"num_k_heads", 1}, {"num_v_heads", 2}});
  auto inputs = *make_inputs(decode, 11, 0);
  std::fill(inputs[3].bytes.begin(), inputs[3].bytes.end(), std::byte{0});
  const Expected got = *reference(decode, inputs);
  const std::vector<float> q = to_float(inputs[0]), k = to_float(inputs[1]),
                           v = to_float(inputs[2]), b = to_float(inputs[7]);
  double dot = 0;
  for (int64_t i = 0; i < 128; ++i) dot += double{q[i]} * k[i];
  for (int64_t h = 0; h < 2; ++h) {
    const double beta = 1 / (1 + std::exp(-double{b[h]}));
    for (int64_t i = 0; i < 128; i += 5) {
      EXPECT_NEAR(got[0][h * 128 + i], beta * dot * v[h * 128 + i] / std::sqrt(128.0), 1e-5);
      EXPECT_NEAR(got[1][(h * 128 + i) * 128 + 3], beta * v[h * 128 + i] * k[3], 1e-5);
    }
  }
}

// A prefill of single-token sequences is a decode, and a multi-token decode of T tokens gives the
// outputs of a prefill of one sequence of T.
TEST(GatedDelta, FormsAgreeWithEachOther) {
  const Overrides heads{{"num_q_heads", 1}, {"num_k_heads", 1}, {"num_v_heads", 2}};
  Overrides of_prefill = heads, of_mtp = heads;
  of_prefill.insert(of_prefill.end(),
                    {{"total_seq_len", 3}, {"num_seqs", 1}, {"len_cu_seqlens", 2}});
  of_mtp.insert(of_mtp.end(), {{"batch_size", 1}, {"seq_len", 3}, {"pool_size", 1}});
  const Task prefill = task("gdn_prefill_qk4_v8_d128_k_last", of_prefill);
  const Task mtp = task("gdn_mtp_qk4_v8_d128_k_last", of_mtp);
  const auto inputs = *make_inputs(prefill, 13, 0);
  auto of = *make_inputs(mtp, 13, 0);
  // q, k, v, state | indices | A_log, a, dt_bias, b
  for (size_t i = 0; i < 4; ++i) of[i].bytes = inputs[i].bytes;
  for (size_t i = 4; i < 8; ++i) of[i + 1].bytes = inputs[i].bytes;
  const Expected whole_sequence = *reference(prefill, inputs), proposals = *reference(mtp, of);
  EXPECT_EQ(whole_sequence[0], proposals[0]);
  EXPECT_EQ(proposals[1], to_float(inputs[3]));
  EXPECT_NE(whole_sequence[1], proposals[1]);
}

// Quantized operands times their scales give back what was quantized, to 2^-4 of a value.
TEST(Fp8Gemm, UndoesItsScales) {
  const Task gemm = task("fp8_gemm_nt_1d2d_n4096_k7168",
                         {{"m", 4}, {"n", 128}, {"num_nblock", 1}, {"k", 256}, {"num_kblock", 2}});
  const auto inputs = *make_inputs(gemm, 15, 0);
  const std::vector<float> a = to_float(inputs[0]), sa = to_float(inputs[1]),
                           b = to_float(inputs[2]), sb = to_float(inputs[3]);
  float largest = 0;
  for (int64_t i = 0; i < 128; ++i) largest = std::max(largest, std::abs(a[i]));
  EXPECT_EQ(largest, 448.0f);
  double sum = 0;
  for (int64_t i = 0; i < 256; ++i)
    sum += double{a[256 + i]} * sa[2 + i / 128] * b[5 * 256 + i] * sb[i / 128];
  EXPECT_NEAR((*reference(gemm, inputs))[0][128 + 5], sum, 1e-4 * (1 + std::abs(sum)));
}

// The same with a scale for each row of B, as the verdict adds and as models of kernels do.
TEST(Fp8Gemm, TakesAScaleOfEachRow) {
  const Task gemm =
      task("fp8_gemm_nt_1d1d_n4096_k7168", {{"m", 4}, {"n", 256}, {"k", 256}, {"num_kblock", 2}});
  const auto inputs = *make_inputs(gemm, 15, 0);
  const std::vector<float> a = to_float(inputs[0]), sa = to_float(inputs[1]),
                           b = to_float(inputs[2]), sb = to_float(inputs[3]);
  EXPECT_EQ(sb.size(), 512u);
  EXPECT_NE(sb[5 * 2], sb[6 * 2]);
  double sum = 0;
  for (int64_t i = 0; i < 256; ++i)
    sum += double{a[256 + i]} * sa[2 + i / 128] * b[5 * 256 + i] * sb[5 * 2 + i / 128];
  const Model model{Operands::Fp32, Order::InOrder};
  for (const Expected& got : {*reference(gemm, inputs), *modelled(gemm, inputs, model)})
    EXPECT_NEAR(got[0][256 + 5], sum, 1e-4 * (1 + std::abs(sum)));
}

// The largest value of V times one factor from 1 to 4 fills e4m3, whatever the factor: only the
// scale tells it.
TEST(Fp8Attention, HasAScaleThatCannotBeGuessed) {
  const Task fp8 = task("fp8_mha_with_lse_d64", {{"B", 1}, {"H", 1}, {"L", 64}});
  float least = 1e9f, most = 0;
  for (uint64_t seed = 1; seed < 20; ++seed) {
    const auto inputs = *make_inputs(fp8, seed, 0);
    const std::vector<float> v = to_float(inputs[2]);
    float largest = 0;
    for (const float value : v) largest = std::max(largest, std::abs(value));
    EXPECT_EQ(largest, 448.0f);
    least = std::min(least, to_float(inputs[5])[0]);
    most = std::max(most, to_float(inputs[5])[0]);
  }
  EXPECT_GT(most / least, 2);
}

TEST(Inputs, RefuseAnUnknownKind) {
  Task fp8 = task("fp8_mha_with_lse_d64", {{"B", 1}, {"H", 1}, {"L", 64}});
  for (const char* kind : {"quantized spiky 0", "quantized spiky 0 0 0.5", "quantized gauss 0 0",
                           "distinct nothing", "offsets", "scales_of Z", "constant x"}) {
    std::erase_if(fp8.definition.tags,
                  [](const std::string& tag) { return tag.starts_with("input.V:"); });
    fp8.definition.tags.push_back(std::string("input.V:") + kind);
    EXPECT_FALSE(make_inputs(fp8, 1, 0).ok()) << kind;
  }
}

TEST(Fp8Attention, AgreesWithAttentionOverTheScaledOperands) {
  const Task fp8 = task("fp8_mha_with_lse_d64", {{"B", 1}, {"H", 1}, {"L", 2}});
  const auto inputs = *make_inputs(fp8, 17, 0);
  const std::vector<float> q = to_float(inputs[0]), k = to_float(inputs[1]);
  const double scale = double{to_float(inputs[3])[0]} * to_float(inputs[4])[0] / 8;
  double scores[2] = {0, 0};
  for (int64_t i = 0; i < 64; ++i) {
    scores[0] += scale * q[i] * k[i];
    scores[1] += scale * q[i] * k[64 + i];
  }
  EXPECT_NEAR((*reference(fp8, inputs))[1][0], std::log(std::exp(scores[0]) + std::exp(scores[1])),
              1e-4);
}

}  // namespace
}  // namespace weft::problems
