// SPDX-License-Identifier: Apache-2.0

// Half-precision instructions: f16, bf16 and their packed pairs (section 9.7.4).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "add{.rn}{.ftz}{.sat}.<type>  d, a, b",
     .types = "f16 f16x2", .since = 42, .target = "sm_53", .status = Executes, .family = Half},
    {.syntax = "add{.rn}.<type>  d, a, b",
     .types = "bf16 bf16x2", .since = 78, .target = "sm_90", .status = Executes, .family = Half},
    {.syntax = "sub{.rn}{.ftz}{.sat}.<type>  d, a, b",
     .types = "f16 f16x2", .since = 42, .target = "sm_53", .status = Executes, .family = Half},
    {.syntax = "sub{.rn}.<type>  d, a, b",
     .types = "bf16 bf16x2", .since = 78, .target = "sm_90", .status = Executes, .family = Half},
    {.syntax = "mul{.rn}{.ftz}{.sat}.<type>  d, a, b",
     .types = "f16 f16x2", .since = 42, .target = "sm_53", .status = Executes, .family = Half},
    {.syntax = "mul{.rn}.<type>  d, a, b",
     .types = "bf16 bf16x2", .since = 78, .target = "sm_90", .status = Executes, .family = Half},
    {.syntax = "fma.rn{.ftz}{.sat}.<type>  d, a, b, c",
     .types = "f16 f16x2", .since = 42, .target = "sm_53", .status = Executes, .family = Half},
    {.syntax = "fma.rn{.ftz}.relu.<type>  d, a, b, c",
     .types = "f16 f16x2", .since = 70, .target = "sm_80", .status = Executes, .family = Half},
    {.syntax = "fma.rn{.relu}.<type>  d, a, b, c",
     .types = "bf16 bf16x2", .since = 70, .target = "sm_80", .status = Executes, .family = Half},
    {.syntax = "fma.rn.oob{.relu}.<type>  d, a, b, c",
     .types = "f16 f16x2 bf16 bf16x2", .since = 81, .target = "sm_90", .status = Executes,
     .family = Half},
    {.syntax = "neg{.ftz}.<type>  d, a",
     .types = "f16 f16x2", .since = 60, .target = "sm_53", .status = Executes, .family = Half},
    {.syntax = "neg.<type>  d, a",
     .types = "bf16 bf16x2", .since = 70, .target = "sm_80", .status = Executes, .family = Half},
    {.syntax = "abs{.ftz}.<type>  d, a",
     .types = "f16 f16x2", .since = 65, .target = "sm_53", .status = Executes, .family = Half},
    {.syntax = "abs.<type>  d, a",
     .types = "bf16 bf16x2", .since = 70, .target = "sm_80", .status = Executes, .family = Half},
    {.syntax = "min{.ftz}{.NaN}.<type>  d, a, b",
     .types = "f16 f16x2", .since = 70, .target = "sm_80", .status = Executes, .family = Half},
    {.syntax = "min{.ftz}{.NaN}.xorsign.abs.<type>  d, a, b",
     .types = "f16 f16x2", .since = 72, .target = "sm_86", .status = Executes, .family = Half},
    {.syntax = "min{.NaN}.<type>  d, a, b",
     .types = "bf16 bf16x2", .since = 70, .target = "sm_80", .status = Executes, .family = Half},
    {.syntax = "min{.NaN}.xorsign.abs.<type>  d, a, b",
     .types = "bf16 bf16x2", .since = 72, .target = "sm_86", .status = Executes, .family = Half},
    {.syntax = "max{.ftz}{.NaN}.<type>  d, a, b",
     .types = "f16 f16x2", .since = 70, .target = "sm_80", .status = Executes, .family = Half},
    {.syntax = "max{.ftz}{.NaN}.xorsign.abs.<type>  d, a, b",
     .types = "f16 f16x2", .since = 72, .target = "sm_86", .status = Executes, .family = Half},
    {.syntax = "max{.NaN}.<type>  d, a, b",
     .types = "bf16 bf16x2", .since = 70, .target = "sm_80", .status = Executes, .family = Half},
    {.syntax = "max{.NaN}.xorsign.abs.<type>  d, a, b",
     .types = "bf16 bf16x2", .since = 72, .target = "sm_86", .status = Executes, .family = Half},
    {.syntax = "tanh.approx.<type>  d, a",
     .types = "f16 f16x2", .since = 70, .target = "sm_75", .status = Executes, .family = Half},
    {.syntax = "tanh.approx.<type>  d, a",
     .types = "bf16 bf16x2", .since = 78, .target = "sm_90", .status = Executes, .family = Half},
    {.syntax = "ex2.approx.<type>  d, a",
     .types = "f16 f16x2", .since = 70, .target = "sm_75", .status = Executes, .family = Half},
    {.syntax = "ex2.approx.ftz.<type>  d, a",
     .types = "bf16 bf16x2", .since = 78, .target = "sm_90", .status = Executes, .family = Half},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> half_arithmetic() {
  return kForms;
}

}  // namespace weft::isa
