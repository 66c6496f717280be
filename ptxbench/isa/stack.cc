// SPDX-License-Identifier: Apache-2.0

// The per-thread stack (section 9.7.17).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "stacksave.<type>  d",
     .types = "u32 u64", .since = 73, .target = "sm_52", .status = Executes, .family = Stack},
    {.syntax = "stackrestore.<type>  a",
     .types = "u32 u64", .since = 73, .target = "sm_52", .status = Executes, .family = Stack},
    {.syntax = "alloca.<type>  p, size{, align}",
     .types = "u32 u64", .since = 73, .target = "sm_52", .status = Executes, .family = Stack},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> stack() {
  return kForms;
}

}  // namespace weft::isa
