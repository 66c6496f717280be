// SPDX-License-Identifier: Apache-2.0

// Every fault of the catalogue on a few lines, with the changed text written down by hand.
#include "ptxbench/sft/faults.h"

#include <gtest/gtest.h>

namespace weft::sft {
namespace {

std::vector<std::string> mutants(std::string_view fault, const std::string& source) {
  const CudaText text(source);
  std::vector<std::string> out;
  for (const Site& site : fault_named(fault)->sites(text)) out.push_back(with_fault(source, site));
  return out;
}

struct Case {
  std::string_view fault;
  std::string source;
  std::vector<std::string> expected;
};

TEST(Faults, ChangeOnePlaceEach) {
  const Case cases[] = {
      {"barrier_count",
       "weft::barrier_init(full(s), 1);",
       {"weft::barrier_init(full(s), (1) + 1);"}},
      {"missing_arrival", "barrier_arrive(b); x = arrive(b);", {"; x = arrive(b);"}},
      {"transaction_bytes", "arrive_expect(b, kBytes);", {"arrive_expect(b, (kBytes) + 16);"}},
      {"missing_fence", "asm volatile(\"fence.proxy.async;\" ::: \"memory\");", {";"}},
      {"missing_wait", "a(); w::wgmma_wait<0>(); b();", {"a(); ; b();"}},
      {"missing_commit", "{ tma_commit(); }", {"{ ; }"}},
      {"race", "s[i] = 1; __syncthreads(); y = s[j];", {"s[i] = 1; ; y = s[j];"}},
      {"phase",
       "wait(b, parity ^ 1); phase ^= 1;",
       {"wait(b, parity ); phase ^= 1;", "wait(b, parity ^ 1); phase ^= 0;"}},
      {"swizzle", "x = (chunk ^ (row % 8)) * 16;", {"x = (chunk | (row % 8)) * 16;"}},
      {"descriptor_stride",
       "constexpr int kStride = 1024 >> 4;",
       {"constexpr int kStride = (1024 >> 4) / 2;"}},
      {"index", "float s[4]; y = s[i * n + j];", {"float s[4]; y = s[(i * n + j) + 1];"}},
      {"coordinate", "int r = t / 4, c = t % n;", {"int r = t % 4, c = t % n;"}},
      {"bounds",
       "if (c >= n) return; if (r < m && c < n) f();",
       {" if (r < m && c < n) f();", "if (c >= n) return; if (true && c < n) f();",
        "if (c >= n) return; if (r < m && true) f();"}},
      {"predicate", "int a = b == c; if (t == 0) f();", {"int a = b == c; if (t != 0) f();"}},
      {"loop_bound",
       "for (int i = 0; i < n; ++i) f();",
       {"for (int i = 1; i < n; ++i) f();", "for (int i = 0; i < n - 1; ++i) f();"}},
      {"scale", "y = x * scale;", {"y = x * (2 * scale);"}},
      {"accumulation",
       "sum += x; for (; i < n; i += 2) f();",
       {"sum = x; for (; i < n; i += 2) f();"}},
      {"operand_order", "y = pack_bf16(a, b + 1);", {"y = pack_bf16(b + 1, a);"}},
      {"function",
       "y = expf(x) + fmaxf(a, b);",
       {"y = exp2f(x) + fmaxf(a, b);", "y = expf(x) + fminf(a, b);"}},
      {"launch",
       "k<<<g, 128, bytes, s>>>(x);",
       {"k<<<g, 128 / 2, bytes, s>>>(x);", "k<<<g, 128, bytes / 2, s>>>(x);"}},
      {"alignment",
       "*reinterpret_cast<uint32_t*>(c + i) = v;",
       {"*reinterpret_cast<uint32_t*>(c + i + 1) = v;"}},
      {"undeclared_name", "y = total;", {"y = total_value;"}},
      {"missing_semicolon", "f(x); y = 1;", {"f(x)  y = 1;"}},
      {"missing_include", "#include <a.h>\nint x;", {"\nint x;"}},
      {"missing_argument", "copy(a, b);", {"copy(a);"}},
      {"register_spill",
       "void __launch_bounds__(256, 2) k();",
       {"void __launch_bounds__(256, 4) k();"}},
  };
  for (const Case& one : cases)
    EXPECT_EQ(mutants(one.fault, one.source), one.expected) << one.fault;
  EXPECT_EQ(std::size(cases), fault_catalogue().size());
}

TEST(Faults, FindNothingInBrokenText) {
  for (const char* source : {"", ")", "((", "<<<", "if (", "for (;", "\"", "f(,)", "parity ^"})
    for (const Fault& fault : fault_catalogue()) {
      const CudaText text(source);
      for (const Site& site : fault.sites(text))
        EXPECT_LE(site.offset + site.length, text.source().size()) << fault.name << " " << source;
    }
}

TEST(Faults, FitOnlyTheirClasses) {
  EXPECT_TRUE(may_show_as(*fault_named("bounds"), "fault: out of bounds"));
  EXPECT_TRUE(may_show_as(*fault_named("bounds"), "incorrect"));
  EXPECT_FALSE(may_show_as(*fault_named("bounds"), "compile error"));
  EXPECT_FALSE(may_show_as(*fault_named("bounds"), "fault"));
  EXPECT_FALSE(may_show_as(*fault_named("race"), "passed"));
  EXPECT_EQ(fault_named("rase"), nullptr);
}

TEST(Faults, SpreadOverTheSource) {
  std::vector<Site> sites;
  for (size_t i = 0; i < 10; ++i)
    sites.push_back({.offset = i, .length = 1, .replacement = "", .line = 1});
  const auto chosen = spread(sites, 3);
  ASSERT_EQ(chosen.size(), 3u);
  EXPECT_EQ(chosen[0].offset, 0u);
  EXPECT_EQ(chosen[1].offset, 3u);
  EXPECT_EQ(chosen[2].offset, 6u);
  EXPECT_EQ(spread(sites, 20).size(), 10u);
}

}  // namespace
}  // namespace weft::sft
