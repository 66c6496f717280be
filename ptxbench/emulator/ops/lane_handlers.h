// SPDX-License-Identifier: Apache-2.0

// Handlers made of a pure function on values: one each for one, two and three operands. `F` is a
// functor type; it is built from the op when it wants to know Op::small, else from nothing. They
// are flattened: a value function that stays a call keeps its loop over lanes from becoming vector
// code.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "ptxbench/emulator/lanes.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

template <typename F>
inline F functor(const Op& op) {
  if constexpr (std::is_constructible_v<F, const Op&>)
    return F(op);
  else if constexpr (std::is_constructible_v<F, uint32_t>)
    return F(op.small);
  else
    return F{};
}

template <typename F, typename D, typename A = D>
[[gnu::flatten]] Outcome unary(Warp& warp, const Op& op, LaneMask exec) {
  each_lane(exec, functor<F>(op), warp.write<D>(op.d), warp.read<A>(op.a));
  return Outcome::Next;
}

template <typename F, typename D, typename A = D, typename B = A>
[[gnu::flatten]] Outcome binary(Warp& warp, const Op& op, LaneMask exec) {
  each_lane(exec, functor<F>(op), warp.write<D>(op.d), warp.read<A>(op.a), warp.read<B>(op.b));
  return Outcome::Next;
}

template <typename F, typename D, typename A = D, typename B = A, typename C = D>
[[gnu::flatten]] Outcome ternary(Warp& warp, const Op& op, LaneMask exec) {
  each_lane(exec, functor<F>(op), warp.write<D>(op.d), warp.read<A>(op.a), warp.read<B>(op.b),
            warp.read<C>(op.c));
  return Outcome::Next;
}

// Emits `handler` for an instruction of the plain shape: operand 0 is the destination, the others
// are the sources a, b, c in order.
Result<Done> emit_values(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                         isa::Type destination, std::initializer_list<isa::Type> sources,
                         uint32_t small = 0);
// The same with one type for all operands.
Result<Done> emit_uniform(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                          isa::Type type, uint32_t small = 0);

// The refusal of a form that has no handler.
Error no_such_form(Lowering& lowering, const ptx::Instruction& instruction);

// The first type modifier, None when there is none.
isa::Type first_type(const ptx::Instruction& instruction);

}  // namespace weft::emulator
