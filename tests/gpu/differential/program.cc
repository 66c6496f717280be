// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/differential/program.h"

#include <bit>

namespace weft::differential {

namespace {

uint64_t mix(uint64_t z) {  // splitmix64's output function
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

uint64_t hash(const std::string& text) {  // FNV-1a
  uint64_t h = 0xcbf29ce484222325ull;
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3ull;
  return h;
}

std::string register_type(Kind kind) {
  switch (kind) {
    case 'l':
      return ".b64";
    case 'D':
      return ".f64";
    case 'F':
      return ".f32";
    case 'h':
    case 'H':
    case 'B':
    case 'E':
    case 'V':
      return ".b16";
    default:
      return ".b32";
  }
}

std::string memory_type(Kind kind) {
  switch (kind) {
    case 'l':
      return "b64";
    case 'D':
      return "f64";
    case 'F':
      return "f32";
    case 'h':
    case 'H':
    case 'B':
    case 'E':
    case 'V':
      return "b16";
    default:
      return "b32";
  }
}

// Zeros, ones, limits, subnormals, infinities and NaN with both signs, by width.
constexpr uint16_t kHalfSpecials[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00,
                                      0x7e00, 0x0001, 0x83ff, 0x0400, 0x7bff, 0xfbff,
                                      0x3800, 0x0200, 0x4248, 0xfe01};
constexpr uint16_t kBfloatSpecials[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80,
                                        0x7fc0, 0x0001, 0x807f, 0x0080, 0x7f7f, 0xff7f,
                                        0x3f00, 0x0040, 0x4049, 0xffc1};
constexpr uint32_t kFloatSpecials[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
    0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x00400000, 0x40490fdb, 0x4f000000,
    0xcf000000, 0x5f000000, 0xffc12345, 0x4b000000, 0x3effffff, 0x3fc00000, 0x42fe0000, 0xc2fc0000};
constexpr uint64_t kDoubleSpecials[] = {0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000,
                                        0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
                                        0x7ff8000000000000, 0x0000000000000001, 0x800fffffffffffff,
                                        0x0010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
                                        0x41dfffffffc00000, 0xc1e0000000000000, 0x43e0000000000000,
                                        0x3690000000000000, 0x47efffffe0000000, 0x3810000000000000};
constexpr uint64_t kIntegerSpecials[] = {0,
                                         1,
                                         ~0ull,
                                         0x7fff'ffff,
                                         0x8000'0000,
                                         0x7fff'ffff'ffff'ffff,
                                         0x8000'0000'0000'0000,
                                         0x8000,
                                         0x7fff,
                                         0xffff,
                                         31,
                                         32,
                                         33,
                                         63,
                                         64};

template <typename T, size_t N>
T pick(const T (&values)[N], uint64_t r) {
  return values[r % N];
}

uint64_t half_value(uint64_t r, bool bfloat) {
  const uint64_t kind = r & 7;
  r = mix(r);
  if (kind == 0) return bfloat ? pick(kBfloatSpecials, r) : pick(kHalfSpecials, r);
  if (kind < 4) {  // moderate magnitudes, so that sums and products stay finite
    const uint64_t exponent = bfloat ? 120 + r % 16 : 8 + r % 14;
    return (r >> 8 & 0x8000) |
           (bfloat ? exponent << 7 | (r >> 32 & 0x7f) : exponent << 10 | (r >> 32 & 0x3ff));
  }
  return r >> 16 & 0xffff;
}

uint64_t value(Kind kind, uint64_t r) {
  const uint64_t choice = r & 7;
  const uint64_t s = mix(r + 1);
  switch (kind) {
    case 'F':
      if (choice == 0) return pick(kFloatSpecials, s);
      if (choice < 4) return (s & 0x80000000) | (117 + s % 20) << 23 | (s >> 32 & 0x7fffff);
      if (choice == 4) return (s & 0x80000000) | (140 + s % 30) << 23 | (s >> 32 & 0x7fffff);
      return s & 0xffffffff;
    case 'D':
      if (choice == 0) return pick(kDoubleSpecials, s);
      if (choice < 4)
        return (s & 0x8000000000000000) | (1013 + s % 20) << 52 | (mix(s) & 0xfffffffffffff);
      if (choice == 4)
        return (s & 0x8000000000000000) | (870 + s % 300) << 52 | (mix(s) & 0xfffffffffffff);
      return s;
    case 'H':
      return half_value(s, false);
    case 'B':
      return half_value(s, true);
    case 'X':
      return half_value(s, false) | half_value(mix(s), false) << 16;
    case 'Y':
      return half_value(s, true) | half_value(mix(s), true) << 16;
    case 'E':
    case 'V':
      return s & 0xffff;
    case 'i':
      return choice == 0 ? s & 0xffffffff : s % 70;
    case 'p':
      return s & 1;
    case 'h':
      return (choice == 0 ? pick(kIntegerSpecials, s) : choice < 3 ? s % 200 : s) & 0xffff;
    case 'w':
      return (choice == 0 ? pick(kIntegerSpecials, s) : choice < 3 ? s % 2000 : s) & 0xffffffff;
    default:
      return choice == 0 ? pick(kIntegerSpecials, s) : choice < 3 ? s % 2000 : s;
  }
}

}  // namespace

std::vector<uint64_t> operand_cells(const Case& c, size_t which) {
  std::vector<uint64_t> cells(kThreads);
  const Kind kind = which < c.operands.size() ? c.operands[which] : 'w';
  const uint64_t seed = hash(c.name.substr(0, c.name.find('/'))) + which * 0x1234567;
  for (uint32_t i = 0; i < kThreads; ++i) cells[i] = value(kind, mix(seed + i));
  return cells;
}

std::string program_of(const Case& c, const std::string& target) {
  std::string body = c.text;
  std::string named;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] == '$' && i + 1 < body.size()) {
      named += std::string("%v_") + body[++i];
    } else {
      named += body[i];
    }
  }
  std::string text = ".version 8.6\n.target " + target + "\n.address_size 64\n";
  text += ".visible .entry run(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)\n{\n";
  text += ".shared .align 4 .b8 cells[512];\n";
  text += ".reg .b64 %at, %off;\n.reg .b32 %index, %block;\n";
  text += ".reg " + register_type(c.result) + " %v_d;\n";
  for (size_t k = 0; k < c.operands.size(); ++k)
    text += ".reg " + register_type(c.operands[k]) + " %v_" + static_cast<char>('a' + k) + ";\n";
  text += "mov.u32 %index, %tid.x;\nmov.u32 %block, %ctaid.x;\n";
  text += "mad.lo.u32 %block, %block, 128, %index;\nmul.wide.u32 %off, %block, 8;\n";
  for (size_t k = 0; k < c.operands.size(); ++k) {
    const std::string name(1, static_cast<char>('a' + k));
    text += "ld.param.u64 %at, [" + name + "];\nadd.u64 %at, %at, %off;\n";
    text += "ld.global." + memory_type(c.operands[k]) + " %v_" + name + ", [%at];\n";
  }
  text += named + "\n";
  text += "ld.param.u64 %at, [out];\nadd.u64 %at, %at, %off;\n";
  text += "st.global." + memory_type(c.result) + " [%at], %v_d;\nret;\n}\n";
  return text;
}

}  // namespace weft::differential
