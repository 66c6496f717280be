// SPDX-License-Identifier: Apache-2.0

// One instruction to try on random operands, on whatever device answers. The same program runs on a
// GPU and on the emulator; what they store is compared bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::differential {

// How an operand looks: its register width and the values that make the instruction interesting.
//   p predicate   h 16 bits   w 32 bits   l 64 bits   i shift amounts and bit positions
//   H f16   X f16x2   B bf16   Y bf16x2   F f32   D f64   E two e4m3 bytes   V two e5m2 bytes
using Kind = char;

// How results are judged.
enum class Judge : uint8_t {
  Exact,        // every bit
  Approximate,  // within the bound that the PTX manual states, in ulps of the result
  Absolute,     // within such a bound on the error itself, or on its share of results above 1
  Product,      // matrix sums: relative to the sum of magnitudes
};

struct Case {
  // The instruction with its modifiers: "add.sat.s32", unlike all others. "/64" puts the result
  // into a register of that width and leaves the operands alike.
  std::string name;
  std::string family;
  std::string text;  // PTX with $d, $a, $b, $c for registers
  Kind result = 'w';
  std::string operands;  // kinds of $a, $b, $c
  Judge judge = Judge::Exact;
  double bound = 0;  // ulps, an absolute error, or relative to the magnitude of the sum
};

// All cases, in a fixed order.
std::vector<Case> all_cases();

}  // namespace weft::differential
