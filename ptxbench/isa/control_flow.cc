// SPDX-License-Identifier: Apache-2.0

// Control flow (section 9.7.12).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "bra{.uni}  target", .since = 10, .status = Executes, .family = Control},
    {.syntax = "brx.idx{.uni}  a, targets",
     .since = 60, .target = "sm_30", .status = Executes, .family = Control},
    {.syntax = "call{.uni}  a{, b}{, c}{, d}", .since = 10, .status = Executes, .family = Control},
    {.syntax = "ret{.uni}", .since = 10, .status = Executes, .family = Control},
    {.syntax = "exit", .since = 10, .status = Executes, .family = Control},
    {.syntax = "trap", .since = 10, .status = Executes, .family = Hint},
    {.syntax = "brkpt", .since = 10, .status = Executes, .family = Hint},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> control_flow() {
  return kForms;
}

}  // namespace weft::isa
