// SPDX-License-Identifier: Apache-2.0

// Instructions that advise or observe: nanosleep, pmevent (section 9.7.19).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "nanosleep.u32  t",
     .since = 63, .target = "sm_70", .status = Executes, .family = Hint},
    {.syntax = "pmevent  n", .since = 14, .status = Executes, .family = Hint},
    {.syntax = "pmevent.mask  n",
     .since = 30, .target = "sm_20", .status = Executes, .family = Hint},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> hints() {
  return kForms;
}

}  // namespace weft::isa
