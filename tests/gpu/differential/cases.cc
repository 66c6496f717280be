// SPDX-License-Identifier: Apache-2.0

#include <string_view>

#include "tests/gpu/differential/case.h"
#include "tests/gpu/differential/matrix_text.h"

namespace weft::differential {

namespace {

struct Row {
  std::string_view family;
  std::string_view pattern;  // {x|y} alternatives expand; the registers follow from `operands`
  std::string_view kinds;    // result(s) ':' operands
  Judge judge = Judge::Exact;
  double bound = 0;
  std::string_view text = {};  // when the usual "pattern d, a, b, c;" does not serve
};

constexpr Row kRows[] = {
    // Integer arithmetic. Division by zero is undefined, so divisors are forced odd.
    {"integer", "{add|sub|mul.lo|mul.hi|min|max}.{u16|s16}", "h:hh"},
    {"integer", "{add|sub|mul.lo|mul.hi|min|max}.{u32|s32}", "w:ww"},
    {"integer", "{add|sub|mul.lo|mul.hi|min|max}.{u64|s64}", "l:ll"},
    {"integer", "{add|sub}.sat.s32", "w:ww"},
    {"integer", "mul.wide.{u16|s16}", "w:hh"},
    {"integer", "mul.wide.{u32|s32}", "l:ww"},
    {"integer", "{mul24|mul24.hi}.{u32|s32}", "w:ww", Judge::Exact, 0, "MUL24"},
    {"integer", "mad.{lo|hi}.{u16|s16}", "h:hhh"},
    {"integer", "mad.{lo|hi}.{u32|s32}", "w:www"},
    {"integer", "mad.{lo|hi}.{u64|s64}", "l:lll"},
    {"integer", "mad.hi.sat.s32", "w:www"},
    {"integer", "mad.wide.{u16|s16}", "w:hhw"},
    {"integer", "mad.wide.{u32|s32}", "l:wwl"},
    {"integer", "sad.{u16|s16}", "h:hhh"},
    {"integer", "sad.{u32|s32}", "w:www"},
    {"integer", "sad.{u64|s64}", "l:lll"},
    {"integer", "{div|rem}.{u32|s32}", "w:ww", Judge::Exact, 0, "or.b32 $b, $b, 1; @ $d, $a, $b;"},
    {"integer", "{div|rem}.{u64|s64}", "l:ll", Judge::Exact, 0, "or.b64 $b, $b, 1; @ $d, $a, $b;"},
    {"integer", "{div|rem}.{u16|s16}", "h:hh", Judge::Exact, 0, "or.b16 $b, $b, 1; @ $d, $a, $b;"},
    {"integer", "{abs|neg}.s16", "h:h"},
    {"integer", "{abs|neg}.s32", "w:w"},
    {"integer", "{abs|neg}.s64", "l:l"},
    {"integer", "{popc|clz|brev}.b32", "w:w"},
    {"integer", "{popc|clz}.b64", "w:l"},
    {"integer", "brev.b64", "l:l"},
    {"integer", "{bfind|bfind.shiftamt}.{u32|s32}", "w:w"},
    {"integer", "{bfind|bfind.shiftamt}.{u64|s64}", "w:l"},
    {"integer", "bfe.{u32|s32}", "w:wii"},
    {"integer", "bfe.{u64|s64}", "l:lii"},
    {"integer", "{bmsk.clamp|bmsk.wrap}.b32", "w:ii"},
    {"integer", "szext.{clamp|wrap}.{u32|s32}", "w:wi"},
    {"integer", "{dp4a}.{u32|s32}.{u32|s32}", "w:www"},
    {"integer", "dp2a.{lo|hi}.{u32|s32}.{u32|s32}", "w:www"},
    {"integer", "{min|max}.{u16x2|s16x2}", "w:ww"},
    {"integer", "add.{u16x2|s16x2}", "w:ww"},
    {"integer", "{min|max}.relu.{s16x2|s32}", "w:ww"},
    {"integer", "bfi.b32", "w:wwi", Judge::Exact, 0, "bfi.b32 $d, $a, $b, $c, 7;"},
    {"integer", "bfi.b64", "l:lli", Judge::Exact, 0, "bfi.b64 $d, $a, $b, $c, 13;"},
    {"integer", "fns.b32", "w:w", Judge::Exact, 0, "fns.b32 $d, $a, 3, 2;"},
    {"extended", "add.cc.u32", "w:www", Judge::Exact, 0,
     "add.cc.u32 $d, $a, $b; addc.u32 $d, $c, $a;"},
    {"extended", "sub.cc.u32", "w:www", Judge::Exact, 0,
     "sub.cc.u32 $d, $a, $b; subc.u32 $d, $c, $a;"},
    {"extended", "add.cc.u64", "l:lll", Judge::Exact, 0,
     "add.cc.u64 $d, $a, $b; addc.u64 $d, $c, $a;"},
    {"extended", "mad.lo.cc.u32", "w:www", Judge::Exact, 0,
     "mad.lo.cc.u32 $d, $a, $b, $c; madc.hi.u32 $d, $a, $b, $c;"},
    // Logic and shifts.
    {"logic", "{and|or|xor}.b16", "h:hh"},
    {"logic", "{and|or|xor}.b32", "w:ww"},
    {"logic", "{and|or|xor}.b64", "l:ll"},
    {"logic", "not.b32", "w:w"},
    {"logic", "cnot.b32", "w:w"},
    {"logic", "lop3.b32", "w:www", Judge::Exact, 0, "lop3.b32 $d, $a, $b, $c, 0xca;"},
    {"logic", "shl.b16", "h:hi"},
    {"logic", "shl.b32", "w:wi"},
    {"logic", "shl.b64", "l:li"},
    {"logic", "shr.{u16|s16}", "h:hi"},
    {"logic", "shr.{u32|s32}", "w:wi"},
    {"logic", "shr.{u64|s64}", "l:li"},
    {"logic", "shf.{l|r}.{clamp|wrap}.b32", "w:wwi"},
    {"logic", "prmt.b32", "w:www"},
    {"logic", "prmt.b32.{f4e|b4e|rc8|ecl|ecr|rc16}", "w:www"},
    // Comparison and selection.
    {"comparison", "set.{eq|ne|lt|le|gt|ge}.u32.{u32|s32}", "w:ww"},
    {"comparison", "set.{lo|ls|hi|hs}.u32.u32", "w:ww"},
    {"comparison", "set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.u32.f32", "w:FF"},
    {"comparison", "set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.ftz.u32.f32", "w:FF"},
    {"comparison", "set.{eq|lt|gt|equ|ltu|nan}.u32.f64", "w:DD"},
    {"comparison", "set.{eq|lt|gt|equ|ltu|nan}.f16x2.f16x2", "w:XX"},
    {"comparison", "slct.u32.s32", "w:www"},
    {"comparison", "slct{|.ftz}.f32.f32", "w:FFF"},
    {"comparison", "testp.{finite|infinite|number|notanumber|normal|subnormal}.f32", "w:F",
     Judge::Exact, 0, "{ .reg .pred p; @ p, $a; selp.u32 $d, 1, 0, p; }"},
    {"comparison", "testp.{finite|infinite|number|notanumber|normal|subnormal}.f64", "w:D",
     Judge::Exact, 0, "{ .reg .pred p; @ p, $a; selp.u32 $d, 1, 0, p; }"},
    {"comparison", "setp.{lt|geu|nan}.{and|or|xor}.f32", "w:FFw", Judge::Exact, 0,
     "{ .reg .pred p, q, s; setp.ne.u32 s, $c, 0; @ p|q, $a, $b, s; selp.u32 $d, 2, 0, p; @q "
     "or.b32 $d, $d, 1; }"},
    // Single and double precision.
    {"float", "{add|sub|mul}{|.rn|.rz|.rm|.rp}{|.ftz}{|.sat}.f32", "F:FF"},
    {"float", "fma.{rn|rz|rm|rp}{|.ftz}{|.sat}.f32", "F:FFF"},
    {"float", "{add|sub|mul}{|.rn|.rz|.rm|.rp}.f64", "D:DD"},
    {"float", "fma.{rn|rz|rm|rp}.f64", "D:DDD"},
    {"float", "div.{rn|rz|rm|rp}{|.ftz}.f32", "F:FF"},
    {"float", "div.{rn|rz|rm|rp}.f64", "D:DD"},
    {"float", "{rcp|sqrt}.{rn|rz|rm|rp}{|.ftz}.f32", "F:F"},
    {"float", "{rcp|sqrt}.{rn|rz|rm|rp}.f64", "D:D"},
    {"float", "{abs|neg}{|.ftz}.f32", "F:F"},
    {"float", "{abs|neg}.f64", "D:D"},
    {"float", "{min|max}{|.ftz}{|.NaN}{|.xorsign.abs}.f32", "F:FF"},
    {"float", "{min|max}.f64", "D:DD"},
    {"float", "copysign.f32", "F:FF"},
    {"float", "copysign.f64", "D:DD"},
    {"approximate", "rcp.approx{|.ftz}.f32", "F:F", Judge::Approximate, 1},
    {"approximate", "sqrt.approx{|.ftz}.f32", "F:F", Judge::Approximate, 3},
    {"approximate", "rsqrt.approx{|.ftz}.f32", "F:F", Judge::Approximate, 3},
    {"approximate", "div.approx{|.ftz}.f32", "F:FF", Judge::Approximate, 2},
    {"approximate", "div.full{|.ftz}.f32", "F:FF", Judge::Approximate, 2},
    {"approximate", "ex2.approx{|.ftz}.f32", "F:F", Judge::Approximate, 2},
    {"approximate", "lg2.approx{|.ftz}.f32", "F:F", Judge::Absolute, 0x1p-22},
    {"approximate", "{sin|cos}.approx{|.ftz}.f32", "F:F", Judge::Absolute, 6.7e-7},
    {"approximate", "tanh.approx.f32", "F:F", Judge::Approximate, 0x1p12},
    {"approximate", "{rcp|rsqrt}.approx.ftz.f64", "D:D", Judge::Approximate, 0x1p32},
    // Half precision.
    {"half", "{add|sub|mul}{|.rn}{|.ftz}{|.sat}.f16", "H:HH"},
    {"half", "{add|sub|mul}{|.ftz}{|.sat}.f16x2", "X:XX"},
    {"half", "{add|sub|mul}.rn.bf16", "B:BB"},
    {"half", "{add|sub|mul}.rn.bf16x2", "Y:YY"},
    {"half", "fma.rn{|.ftz}{|.sat|.relu}.f16", "H:HHH"},
    {"half", "fma.rn{|.ftz}{|.sat|.relu}.f16x2", "X:XXX"},
    {"half", "fma.rn{|.relu}.bf16", "B:BBB"},
    {"half", "fma.rn{|.relu}.bf16x2", "Y:YYY"},
    {"half", "{abs|neg}{|.ftz}.f16", "H:H"},
    {"half", "{abs|neg}.bf16x2", "Y:Y"},
    {"half", "{min|max}{|.ftz}{|.NaN}{|.xorsign.abs}.f16", "H:HH"},
    {"half", "{min|max}{|.NaN}.f16x2", "X:XX"},
    {"half", "{min|max}{|.NaN}.bf16", "B:BB"},
    {"half", "{min|max}{|.NaN}.bf16x2", "Y:YY"},
    {"approximate", "ex2.approx.f16", "H:H", Judge::Approximate, 2.1},
    {"approximate", "tanh.approx.{f16}", "H:H", Judge::Approximate, 1},
    {"approximate", "tanh.approx.{bf16}", "B:B", Judge::Approximate, 1},
    {"approximate", "ex2.approx.ftz.bf16", "B:B", Judge::Approximate, 2},
    // Conversions.
    {"conversion", "cvt.{u8|s8|u16|s16}.u32/64", "l:w", Judge::Exact, 0, "CVT"},
    {"conversion", "cvt{|.sat}.{u8|s8|u16|s16}.{u32|s32}", "w:w"},
    {"conversion", "cvt.sat.{u32|s32}.{u64|s64}", "w:l"},
    {"conversion", "cvt.{u64|s64}.{u32|s32}", "l:w"},
    {"conversion", "cvt.{rn|rz|rm|rp}.f32.{u32|s32}", "F:w"},
    {"conversion", "cvt.{rn|rz|rm|rp}.f32.{u64|s64}", "F:l"},
    {"conversion", "cvt.{rn|rz|rm|rp}.f64.{u64|s64}", "D:l"},
    {"conversion", "cvt.rn.f64.{u32|s32}", "D:w"},
    {"conversion", "cvt.{rn|rz|rm|rp}.f16.{u32|s32}", "H:w"},
    {"conversion", "cvt.{rni|rzi|rmi|rpi}{|.ftz}.{u32|s32}.f32", "w:F"},
    {"conversion", "cvt.{rni|rzi|rmi|rpi}.{u64|s64}.f32", "l:F"},
    {"conversion", "cvt.{rni|rzi|rmi|rpi}.{u16|s16}.f32", "h:F"},
    {"conversion", "cvt.{rni|rzi|rmi|rpi}.{u32|s32}.f64", "w:D"},
    {"conversion", "cvt.{rni|rzi|rmi|rpi}.{u64|s64}.f64", "l:D"},
    {"conversion", "cvt.{rni|rzi|rmi|rpi}.{u32|s32}.f16", "w:H"},
    {"conversion", "cvt.{rni|rzi|rmi|rpi}{|.ftz}.f32.f32", "F:F"},
    {"conversion", "cvt.{rni|rzi|rmi|rpi}.f64.f64", "D:D"},
    {"conversion", "cvt.sat{|.ftz}.f32.f32", "F:F"},
    {"conversion", "cvt.{rn|rz|rm|rp}{|.ftz}{|.sat}.f32.f64", "F:D"},
    {"conversion", "cvt{|.ftz}.f64.f32", "D:F"},
    {"conversion", "cvt{|.ftz}.f32.f16", "F:H"},
    {"conversion", "cvt.f32.bf16", "F:B"},
    {"conversion", "cvt.{rn|rz}{|.relu}.f16.f32", "H:F"},
    {"conversion", "cvt.{rn|rz}{|.relu}.bf16.f32", "B:F"},
    {"conversion", "cvt.{rn|rz}.f16.f64", "H:D"},
    {"conversion", "cvt.{rn|rz}{|.relu}.{f16x2|bf16x2}.f32", "w:FF"},
    {"conversion", "cvt.{rna|rn|rz}.tf32.f32", "w:F"},
    {"conversion", "cvt.{rn|rz}.relu.tf32.f32", "w:F"},
    {"conversion", "cvt.rn.satfinite{|.relu}.{e4m3x2|e5m2x2}.f32", "h:FF"},
    {"conversion", "cvt.rn.satfinite{|.relu}.{e4m3x2|e5m2x2}.f16x2", "h:X"},
    {"conversion", "cvt.rn{|.relu}.f16x2.e4m3x2", "w:E"},
    {"conversion", "cvt.rn{|.relu}.f16x2.e5m2x2", "w:V"},
    {"conversion", "cvt.pack.sat.{u16|s16}.s32", "w:ww"},
    {"conversion", "cvt.pack.sat.{u8|s8}.s32.b32", "w:www"},
    // Lanes exchanging values. Every lane is active.
    {"exchange", "shfl.sync.{up|down|bfly}.b32", "w:w", Judge::Exact, 0,
     "{ .reg .pred p; @ $d|p, $a, 5, 0, 0xffffffff; @!p xor.b32 $d, $d, 0x5a5a5a5a; }"},
    {"exchange", "shfl.sync.idx.b32", "w:wi", Judge::Exact, 0,
     "{ .reg .pred p; @ $d|p, $a, $b, 0x1f, 0xffffffff; @!p xor.b32 $d, $d, 0x5a5a5a5a; }"},
    {"exchange", "shfl.sync.{down|bfly}.b32 width 8", "w:w", Judge::Exact, 0,
     "{ .reg .pred p; @ $d|p, $a, 3, 0x181f, 0xffffffff; @!p xor.b32 $d, $d, 0x5a5a5a5a; }"},
    {"exchange", "vote.sync.{all|any|uni}.pred", "w:w", Judge::Exact, 0,
     "{ .reg .pred p, q; setp.lt.s32 p, $a, 0; @ q, p, 0xffffffff; selp.u32 $d, 1, 0, q; }"},
    {"exchange", "vote.sync.ballot.b32", "w:w", Judge::Exact, 0,
     "{ .reg .pred p; setp.lt.s32 p, $a, 0; @ $d, p, 0xffffffff; }"},
    {"exchange", "match.any.sync.b32", "w:w", Judge::Exact, 0,
     "and.b32 $a, $a, 3; @ $d, $a, 0xffffffff;"},
    {"exchange", "match.all.sync.b32", "w:w", Judge::Exact, 0,
     "{ .reg .pred p; and.b32 $a, $a, 3; @ $d|p, $a, 0xffffffff; @p or.b32 $d, $d, 1; }"},
    {"exchange", "redux.sync.{add|min|max}.{u32|s32}", "w:w", Judge::Exact, 0,
     "@ $d, $a, 0xffffffff;"},
    {"exchange", "redux.sync.{and|or|xor}.b32", "w:w", Judge::Exact, 0, "@ $d, $a, 0xffffffff;"},
    // Atomics, each thread on a cell of its own: the old value and the new one.
    {"atomic", "atom.shared.{add|min|max}.u32", "w:ww", Judge::Exact, 0, "ATOM32"},
    {"atomic", "atom.shared.{min|max}.s32", "w:ww", Judge::Exact, 0, "ATOM32"},
    {"atomic", "atom.shared.{inc|dec}.u32", "w:ww", Judge::Exact, 0, "ATOM32"},
    {"atomic", "atom.shared.{and|or|xor|exch}.b32", "w:ww", Judge::Exact, 0, "ATOM32"},
    {"atomic", "atom.shared.add.f32", "F:FF", Judge::Exact, 0, "ATOM32"},
    {"atomic", "atom.shared.{add}.noftz.f16x2", "X:XX", Judge::Exact, 0, "ATOM32"},
    {"atomic", "atom.shared.{add}.noftz.bf16x2", "Y:YY", Judge::Exact, 0, "ATOM32"},
    // Sparse matrices: values for which every sum is exact (matrix_text.h).
    {"sparse",
     "{mma.sp|mma.sp::ordered_metadata}.sync.aligned.{m16n8k16|m16n8k32}.row.col.{f32.f16.f16.f32|"
     "f16.f16.f16.f16|f32.bf16.bf16.f32}",
     "w:www", Judge::Exact, 0, "SPARSE"},
    {"sparse",
     "{mma.sp|mma.sp::ordered_metadata}.sync.aligned.{m16n8k8|m16n8k16}.row.col.f32.tf32.tf32.f32",
     "w:www", Judge::Exact, 0, "SPARSE"},
    {"sparse",
     "mma.sp::ordered_metadata.sync.aligned.{m16n8k32|m16n8k64}.row.col.{s32.|satfinite.s32.}{s8|"
     "u8}.{s8|u8}.s32",
     "w:www", Judge::Exact, 0, "SPARSE"},
    {"sparse",
     "mma.sp::ordered_metadata.sync.aligned.{m16n8k64|m16n8k128}.row.col.s32.{s4|u4}.{s4|u4}.s32",
     "w:www", Judge::Exact, 0, "SPARSE"},
    {"sparse",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.{e4m3|e5m2}.{e4m3|e5m2}.f32",
     "w:www", Judge::Exact, 0, "SPARSE"},
    {"sparse",
     "wgmma.mma_async.sp.sync.aligned.m64n8k32.{f32.f16.f16|f16.f16.f16|f32.bf16.bf16} "
     "{registers|shared}",
     "w:www", Judge::Exact, 0, "SPARSE"},
    {"sparse", "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 {registers|shared}", "w:www",
     Judge::Exact, 0, "SPARSE"},
    {"sparse",
     "wgmma.mma_async.sp.sync.aligned.m64n8k64.{f32|f16}.{e4m3|e5m2}.{e4m3|e5m2} "
     "{registers|shared}",
     "w:www", Judge::Exact, 0, "SPARSE"},
    {"sparse", "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.{s8|u8}.{s8|u8} {registers|shared}",
     "w:www", Judge::Exact, 0, "SPARSE"},
    // Video.
    {"video", "{vadd|vsub|vabsdiff|vmin|vmax}.{u32|s32}.{u32|s32}.{u32|s32}", "w:ww"},
    {"video", "{vadd2|vsub2|vabsdiff2|vmin2|vmax2|vavrg2}.u32.u32.u32", "w:www", Judge::Exact, 0,
     "@ $d, $a, $b, $c;"},
    {"video", "{vadd4|vsub4|vabsdiff4|vmin4|vmax4|vavrg4}.u32.u32.u32", "w:www", Judge::Exact, 0,
     "@ $d, $a, $b, $c;"},
};

// "a{x|y}b" -> "axb", "ayb"; several groups multiply.
std::vector<std::string> expand(std::string_view pattern) {
  const size_t open = pattern.find('{');
  if (open == std::string_view::npos) return {std::string(pattern)};
  const size_t close = pattern.find('}', open);
  const std::vector<std::string> tails = expand(pattern.substr(close + 1));
  std::vector<std::string> all;
  std::string_view inside = pattern.substr(open + 1, close - open - 1);
  for (;;) {
    const size_t bar = inside.find('|');
    for (const std::string& tail : tails)
      all.push_back(std::string(pattern.substr(0, open)) + std::string(inside.substr(0, bar)) +
                    tail);
    if (bar == std::string_view::npos) return all;
    inside.remove_prefix(bar + 1);
  }
}

std::string usual(const std::string& name, size_t operands) {
  std::string text = name + " $d";
  for (size_t k = 0; k < operands; ++k) text += std::string(", $") + static_cast<char>('a' + k);
  return text + ";";
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string text_of(const Row& row, const std::string& name, size_t operands) {
  if (row.text.empty()) return usual(name, operands);
  const std::string opcode = name.substr(0, name.find_first_of(" /"));
  if (row.text == "MUL24") {
    const bool high = name.find(".hi") != std::string::npos;
    return std::string("mul24.") + (high ? "hi" : "lo") + name.substr(name.rfind('.')) +
           " $d, $a, $b;";
  }
  if (row.text == "CVT") {
    // Narrow results stand in wider registers; the 64-bit result register holds them all.
    return opcode + " $d, $a;";
  }
  if (row.text == "SPARSE") return sparse_matrix_text(name);
  if (row.text == "ATOM32")
    return "{ .reg .u32 at; .reg .b32 old, now; mov.u32 at, cells; mad.lo.u32 at, %index, 4, at; "
           "st.shared.b32 [at], $a; " +
           opcode +
           " old, [at], $b; ld.shared.b32 now, [at]; "
           "mul.lo.u32 old, old, 31; xor.b32 $d, old, now; }";
  std::string text(row.text);
  replace_all(text, "@ ", opcode + " ");
  return text;
}

}  // namespace

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Row& row : kRows)
    for (const std::string& name : expand(row.pattern)) {
      const size_t colon = row.kinds.find(':');
      Case c;
      c.name = name;
      c.family = std::string(row.family);
      c.result = row.kinds[0];
      c.operands = std::string(row.kinds.substr(colon + 1));
      c.text = text_of(row, name, c.operands.size());
      c.judge = row.judge;
      c.bound = row.bound;
      cases.push_back(std::move(c));
    }
  return cases;
}

}  // namespace weft::differential
