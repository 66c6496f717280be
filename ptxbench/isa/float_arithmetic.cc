// SPDX-License-Identifier: Apache-2.0

// Floating-point instructions on f32 and f64, and the mixed-precision forms (sections 9.7.3 and
// 9.7.5).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "add{.<rnd>}{.ftz}{.sat}.f32  d, a, b",
     .since = 10, .status = Executes, .family = Float},
    {.syntax = "add{.<rnd>}{.ftz}.f32x2  d, a, b",
     .since = 86, .target = "sm_100", .status = Executes, .family = Float},
    {.syntax = "add{.<rnd>}.f64  d, a, b",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "add{.<rnd>}{.sat}.f32.<type>  d, a, c",
     .types = "f16 bf16", .since = 86, .target = "sm_100", .status = Executes, .family = Float},
    {.syntax = "sub{.<rnd>}{.ftz}{.sat}.f32  d, a, b",
     .since = 10, .status = Executes, .family = Float},
    {.syntax = "sub{.<rnd>}{.ftz}.f32x2  d, a, b",
     .since = 86, .target = "sm_100", .status = Executes, .family = Float},
    {.syntax = "sub{.<rnd>}.f64  d, a, b",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "sub{.<rnd>}{.sat}.f32.<type>  d, a, c",
     .types = "f16 bf16", .since = 86, .target = "sm_100", .status = Executes, .family = Float},
    {.syntax = "mul{.<rnd>}{.ftz}{.sat}.f32  d, a, b",
     .since = 10, .status = Executes, .family = Float},
    {.syntax = "mul{.<rnd>}{.ftz}.f32x2  d, a, b",
     .since = 86, .target = "sm_100", .status = Executes, .family = Float},
    {.syntax = "mul{.<rnd>}.f64  d, a, b",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "fma.<rnd>{.ftz}{.sat}.f32  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Float},
    {.syntax = "fma.<rnd>{.ftz}.f32x2  d, a, b, c",
     .since = 86, .target = "sm_100", .status = Executes, .family = Float},
    {.syntax = "fma.<rnd>.f64  d, a, b, c",
     .since = 14, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "fma.<rnd>{.sat}.f32.<type>  d, a, b, c",
     .types = "f16 bf16", .since = 86, .target = "sm_100", .status = Executes, .family = Float},
    {.syntax = "mad{.<rnd>}{.ftz}{.sat}.f32  d, a, b, c",
     .since = 10, .status = Executes, .family = Float},
    {.syntax = "mad.<rnd>.f64  d, a, b, c",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "div{.approx|full|rn|rz|rm|rp}{.ftz}.f32  d, a, b",
     .since = 10, .status = Executes, .family = Float},
    {.syntax = "div{.<rnd>}.f64  d, a, b",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "abs{.ftz}.f32  d, a", .since = 10, .status = Executes, .family = Float},
    {.syntax = "abs.f64  d, a",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "neg{.ftz}.f32  d, a", .since = 10, .status = Executes, .family = Float},
    {.syntax = "neg.f64  d, a",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "min{.ftz}{.NaN}.f32  d, a, b", .since = 10, .status = Executes, .family = Float},
    {.syntax = "min{.ftz}{.NaN}.xorsign.abs.f32  d, a, b",
     .since = 72, .target = "sm_86", .status = Executes, .family = Float},
    {.syntax = "min{.ftz}{.NaN}{.abs}.f32  d, a, b, c",
     .since = 88, .target = "sm_100", .status = Executes, .family = Float},
    {.syntax = "min.f64  d, a, b",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "max{.ftz}{.NaN}.f32  d, a, b", .since = 10, .status = Executes, .family = Float},
    {.syntax = "max{.ftz}{.NaN}.xorsign.abs.f32  d, a, b",
     .since = 72, .target = "sm_86", .status = Executes, .family = Float},
    {.syntax = "max{.ftz}{.NaN}{.abs}.f32  d, a, b, c",
     .since = 88, .target = "sm_100", .status = Executes, .family = Float},
    {.syntax = "max.f64  d, a, b",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "rcp{.approx|rn|rz|rm|rp}{.ftz}.f32  d, a",
     .since = 10, .status = Executes, .family = Float},
    {.syntax = "rcp.<rnd>.f64  d, a",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "rcp.approx.ftz.f64  d, a",
     .since = 21, .target = "sm_20", .status = Executes, .family = Float},
    {.syntax = "sqrt{.approx|rn|rz|rm|rp}{.ftz}.f32  d, a",
     .since = 10, .status = Executes, .family = Float},
    {.syntax = "sqrt.<rnd>.f64  d, a",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "rsqrt.approx{.ftz}.f32  d, a", .since = 10, .status = Executes, .family = Float},
    {.syntax = "rsqrt.approx{.ftz}.f64  d, a",
     .since = 10, .target = "sm_13", .status = Executes, .family = Float},
    {.syntax = "sin.approx{.ftz}.f32  d, a", .since = 10, .status = Executes, .family = Float},
    {.syntax = "cos.approx{.ftz}.f32  d, a", .since = 10, .status = Executes, .family = Float},
    {.syntax = "lg2.approx{.ftz}.f32  d, a", .since = 10, .status = Executes, .family = Float},
    {.syntax = "ex2.approx{.ftz}.f32  d, a", .since = 10, .status = Executes, .family = Float},
    {.syntax = "tanh.approx.f32  d, a",
     .since = 70, .target = "sm_75", .status = Executes, .family = Float},
    {.syntax = "testp.finite|infinite|number|notanumber|normal|subnormal.<type>  p, a",
     .types = "f32 f64", .since = 20, .target = "sm_20", .status = Executes, .family = Float},
    {.syntax = "copysign.<type>  d, a, b",
     .types = "f32 f64", .since = 20, .target = "sm_20", .status = Executes, .family = Float},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> float_arithmetic() {
  return kForms;
}

}  // namespace weft::isa
