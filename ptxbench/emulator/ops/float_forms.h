// SPDX-License-Identifier: Apache-2.0

// Handlers of the operations that round: by type (f32, f32x2, f64), rounding mode, `.ftz` and
// `.sat`.
#pragma once

#include "ptxbench/emulator/numeric/float_values.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

inline numeric::Rounding rounding_of(const ptx::Instruction& instruction) {
  if (instruction.has("rz")) return numeric::Rounding::Zero;
  if (instruction.has("rm")) return numeric::Rounding::Down;
  if (instruction.has("rp")) return numeric::Rounding::Up;
  return numeric::Rounding::Nearest;
}

template <typename F, typename T, int kOperands>
constexpr Handler float_handler() {
  if constexpr (kOperands == 1)
    return unary<F, T>;
  else if constexpr (kOperands == 2)
    return binary<F, T>;
  else
    return ternary<F, T>;
}

template <typename F, int kOperands>
Handler by_float_type(isa::Type type) {
  switch (type) {
    case isa::Type::F32:
      return float_handler<F, float, kOperands>();
    case isa::Type::F64:
      return float_handler<F, double, kOperands>();
    case isa::Type::F32x2:
      if constexpr (kOperands > 1)
        return float_handler<numeric::OnFloatPair<F>, uint64_t, kOperands>();
      return nullptr;
    default:
      return nullptr;
  }
}

// Op::small of the handlers below.
inline uint32_t rounded_flags(const ptx::Instruction& instruction) {
  return (instruction.has("ftz") ? numeric::kFlush : 0) |
         (instruction.has("sat") ? numeric::kSaturate : 0);
}

template <typename Operation, int kOperands>
Handler rounded_handler(const ptx::Instruction& instruction, isa::Type type) {
  using numeric::Range;
  using numeric::Rounding;
  using numeric::Subnormals;
  const bool flush = instruction.has("ftz"), saturate = instruction.has("sat");
  switch (rounding_of(instruction)) {
    case Rounding::Zero:
      return by_float_type<numeric::Directed<Operation, Rounding::Zero>, kOperands>(type);
    case Rounding::Down:
      return by_float_type<numeric::Directed<Operation, Rounding::Down>, kOperands>(type);
    case Rounding::Up:
      return by_float_type<numeric::Directed<Operation, Rounding::Up>, kOperands>(type);
    case Rounding::Nearest:
      break;
  }
  if (!flush && !saturate)
    return by_float_type<numeric::Nearest<Operation, Subnormals::Keep>, kOperands>(type);
  if (type == isa::Type::F32x2)
    return by_float_type<numeric::Nearest<Operation, Subnormals::Flush>, kOperands>(type);
  if (!saturate)
    return float_handler<numeric::Nearest<Operation, Subnormals::Flush>, float, kOperands>();
  if (!flush)
    return float_handler<numeric::Nearest<Operation, Subnormals::Keep, Range::Unit>, float,
                         kOperands>();
  return float_handler<numeric::Nearest<Operation, Subnormals::Flush, Range::Unit>, float,
                       kOperands>();
}

template <typename Operation, int kOperands>
Result<Done> rounded_form(Lowering& lowering, const ptx::Instruction& instruction) {
  const isa::Type type = first_type(instruction);
  return emit_uniform(lowering, instruction,
                      rounded_handler<Operation, kOperands>(instruction, type), type,
                      rounded_flags(instruction));
}

}  // namespace weft::emulator
