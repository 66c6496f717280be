// SPDX-License-Identifier: Apache-2.0

// Reciprocal, roots and the transcendental functions of f32 and f64 (PTX ISA 9.7.3.13 to 9.7.3.21).

#include "ptxbench/emulator/numeric/approximate.h"
#include "ptxbench/emulator/numeric/float_values.h"
#include "ptxbench/emulator/ops/arithmetic_dispatch.h"
#include "ptxbench/emulator/ops/float_forms.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using numeric::Subnormals;
using ptx::Instruction;

// A functor type for a function.
template <auto kFunction>
struct Calls {
  template <std::floating_point T>
  T operator()(T a) const {
    return kFunction(a);
  }
};

template <auto kFunction>
Result<Done> approximate(Lowering& l, const Instruction& i) {
  using Function = Calls<kFunction>;
  return emit_uniform(l, i,
                      i.has("ftz") ? unary<numeric::Nearest<Function, Subnormals::Flush>, float>
                                   : unary<Function, float>,
                      Type::F32);
}

Result<Done> exponential(Lowering& l, const Instruction& i) {
  // A subnormal argument gives 1 like a zero one, so there is nothing to flush on the way in.
  return emit_uniform(l, i,
                      i.has("ftz") ? unary<Calls<numeric::exp2_flushed>, float>
                                   : unary<Calls<numeric::exp2_approximate>, float>,
                      Type::F32);
}

Result<Done> reciprocal(Lowering& l, const Instruction& i) {
  if (first_type(i) == Type::F64 && i.has("approx"))
    return emit_uniform(l, i, unary<Calls<numeric::reciprocal_gross>, double>, Type::F64);
  return rounded_form<numeric::FloatReciprocal, 1>(l, i);
}

double rsqrt_double(double a) {
  return 1.0 / __builtin_sqrt(a);
}

Result<Done> reciprocal_square_root(Lowering& l, const Instruction& i) {
  if (first_type(i) == Type::F64)
    return emit_uniform(l, i,
                        i.has("ftz") ? unary<Calls<numeric::rsqrt_gross>, double>
                                     : unary<Calls<rsqrt_double>, double>,
                        Type::F64);
  return approximate<numeric::rsqrt_approximate>(l, i);
}

constexpr Meaning kFunctions[] = {
    {"rcp", reciprocal},
    {"sqrt", rounded_form<numeric::FloatSquareRoot, 1>},
    {"rsqrt", reciprocal_square_root},
    {"sin", approximate<numeric::sin_approximate>},
    {"cos", approximate<numeric::cos_approximate>},
    {"lg2", approximate<numeric::log2_approximate>},
    {"ex2", exponential},
    {"tanh", approximate<numeric::tanh_approximate>},
};

}  // namespace

Result<Done> float_functions(Lowering& lowering, const Instruction& instruction) {
  for (const Meaning& meaning : kFunctions)
    if (meaning.opcode == instruction.opcode) return meaning.lower(lowering, instruction);
  return no_such_form(lowering, instruction);
}

}  // namespace weft::emulator
