// SPDX-License-Identifier: Apache-2.0

// Named sets of modifier words that several rows share, and the compile-time reading of sets.
// A set is written with bars or spaces between its words; <name> inside stands for another set.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace weft::isa {

struct NamedSet {
  std::string_view name;
  std::string_view words;
};

inline constexpr NamedSet kNamedSets[] = {
    {"rnd", "rn|rz|rm|rp"},       // to nearest even, zero, minus and plus infinity
    {"rndi", "rni|rzi|rmi|rpi"},  // the same, to an integral value
    {"cmp", "eq|ne|lt|le|gt|ge"},
    {"cmpu", "lo|ls|hi|hs"},                      // old spellings for unsigned integers
    {"cmpf", "equ|neu|ltu|leu|gtu|geu|num|nan"},  // unordered forms
    {"bool", "and|or|xor"},
    {"scope", "cta|cluster|gpu|sys"},
    {"shared", "shared|shared::cta|shared::cluster"},
    {"vec", "v2|v4"},
    {"loadcache", "ca|cg|cs|lu|cv"},
    {"storecache", "wb|cg|cs|wt"},
    {"level1",
     "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    {"level2", "L2::evict_normal|L2::evict_first|L2::evict_last"},
    {"prefetch2", "L2::64B|L2::128B|L2::256B"},
    {"geometry", "1d|2d|3d|a1d|a2d|cube|acube"},
    {"dim", "1d|2d|3d|4d|5d"},
    {"group", "cta_group::1|cta_group::2"},
    {"wgmma8",
     "m64n8k8|m64n16k8|m64n24k8|m64n32k8|m64n40k8|m64n48k8|m64n56k8|m64n64k8|m64n72k8|"
     "m64n80k8|m64n88k8|m64n96k8|m64n104k8|m64n112k8|m64n120k8|m64n128k8|m64n136k8|m64n144k8|"
     "m64n152k8|m64n160k8|m64n168k8|m64n176k8|m64n184k8|m64n192k8|m64n200k8|m64n208k8|"
     "m64n216k8|m64n224k8|m64n232k8|m64n240k8|m64n248k8|m64n256k8"},
    {"wgmma16",
     "m64n8k16|m64n16k16|m64n24k16|m64n32k16|m64n40k16|m64n48k16|m64n56k16|m64n64k16|"
     "m64n72k16|m64n80k16|m64n88k16|m64n96k16|m64n104k16|m64n112k16|m64n120k16|m64n128k16|"
     "m64n136k16|m64n144k16|m64n152k16|m64n160k16|m64n168k16|m64n176k16|m64n184k16|m64n192k16|"
     "m64n200k16|m64n208k16|m64n216k16|m64n224k16|m64n232k16|m64n240k16|m64n248k16|m64n256k16"},
    {"wgmma32",
     "m64n8k32|m64n16k32|m64n24k32|m64n32k32|m64n40k32|m64n48k32|m64n56k32|m64n64k32|"
     "m64n72k32|m64n80k32|m64n88k32|m64n96k32|m64n104k32|m64n112k32|m64n120k32|m64n128k32|"
     "m64n136k32|m64n144k32|m64n152k32|m64n160k32|m64n168k32|m64n176k32|m64n184k32|m64n192k32|"
     "m64n200k32|m64n208k32|m64n216k32|m64n224k32|m64n232k32|m64n240k32|m64n248k32|m64n256k32"},
    {"wgmma64",
     "m64n8k64|m64n16k64|m64n24k64|m64n32k64|m64n40k64|m64n48k64|m64n56k64|m64n64k64|"
     "m64n72k64|m64n80k64|m64n88k64|m64n96k64|m64n104k64|m64n112k64|m64n120k64|m64n128k64|"
     "m64n136k64|m64n144k64|m64n152k64|m64n160k64|m64n168k64|m64n176k64|m64n184k64|m64n192k64|"
     "m64n200k64|m64n208k64|m64n216k64|m64n224k64|m64n232k64|m64n240k64|m64n248k64|m64n256k64"},
    {"wgmma256",
     "m64n8k256|m64n16k256|m64n24k256|m64n32k256|m64n48k256|m64n64k256|m64n80k256|m64n96k256|"
     "m64n112k256|m64n128k256|m64n144k256|m64n160k256|m64n176k256|m64n192k256|m64n208k256|"
     "m64n224k256|m64n240k256|m64n256k256"},
    {"count", "x1|x2|x4|x8|x16|x32|x64|x128"},
    {"collector_b",
     "collector::b0::fill|collector::b0::use|collector::b0::lastuse|collector::b0::discard|"
     "collector::b1::fill|collector::b1::use|collector::b1::lastuse|collector::b1::discard|"
     "collector::b2::fill|collector::b2::use|collector::b2::lastuse|collector::b2::discard|"
     "collector::b3::fill|collector::b3::use|collector::b3::lastuse|collector::b3::discard"},
};

inline constexpr std::string_view kTypeWords =
    "pred|b1|b4|b8|b16|b32|b64|b128|u4|u8|u16|u32|u64|s4|s8|s16|s32|s64|f16|f16x2|bf16|bf16x2|tf32|"
    "f32|f32x2|f64|u16x2|s16x2|u8x4|s8x4|b6x16_p32|b4x16_p64|b8x16|e4m3|e5m2|e4m3x2|e5m2x2|e4m3x4|"
    "e5m2x4|e2m1|e2m1x2|e2m1x4|e2m3|e2m3x2|e2m3x4|e3m2|e3m2x2|e3m2x4|ue8m0|ue8m0x2|ue4m3|s2f6x2|"
    "texref|samplerref|surfref";
inline constexpr std::string_view kSpaceWords =
    "reg|const|global|local|param|param::entry|param::func|shared|shared::cta|shared::cluster|tex";

constexpr bool is_separator(char c) {
  return c == '|' || c == ' ';
}

// Takes the first word off a set.
constexpr std::string_view take_word(std::string_view& set) {
  std::size_t begin = 0;
  while (begin < set.size() && is_separator(set[begin])) ++begin;
  std::size_t end = begin;
  while (end < set.size() && !is_separator(set[end])) ++end;
  const std::string_view word = set.substr(begin, end - begin);
  set.remove_prefix(end);
  return word;
}

// The words that <name> stands for; empty when there is no such set.
constexpr std::string_view named_set(std::string_view bracketed, std::string_view types) {
  const std::string_view name = bracketed.substr(1, bracketed.size() - 2);
  if (name == "type") return types;
  for (const NamedSet& set : kNamedSets) {
    if (set.name == name) return set.words;
  }
  return {};
}

constexpr bool contains_word(std::string_view set, std::string_view types, std::string_view word) {
  for (std::string_view w = take_word(set); !w.empty(); w = take_word(set)) {
    if (w == word) return true;
    if (w.front() == '<' && contains_word(named_set(w, types), types, word)) return true;
  }
  return false;
}

constexpr std::string_view first_word(std::string_view set, std::string_view types) {
  const std::string_view word = take_word(set);
  if (word.empty() || word.front() != '<') return word;
  return first_word(named_set(word, types), types);
}

constexpr bool sets_overlap(std::string_view a, std::string_view b, std::string_view types) {
  for (std::string_view w = take_word(a); !w.empty(); w = take_word(a)) {
    if (w.front() == '<' ? sets_overlap(named_set(w, types), b, types)
                         : contains_word(b, types, w)) {
      return true;
    }
  }
  return false;
}

constexpr bool is_type_word(std::string_view word) {
  return contains_word(kTypeWords, {}, word);
}
constexpr bool is_space_word(std::string_view word) {
  return contains_word(kSpaceWords, {}, word);
}

}  // namespace weft::isa
