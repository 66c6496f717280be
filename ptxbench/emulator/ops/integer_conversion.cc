// SPDX-License-Identifier: Apache-2.0

// cvt between integers. Registers may be wider than the types: the low bits count, and the result
// is extended to the whole destination register by the sign of its type.

#include <limits>

#include "ptxbench/emulator/ops/conversion_forms.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using ptx::Instruction;

template <typename T>
struct Extend {
  template <typename From>
  T operator()(From value) const {
    return static_cast<T>(value);
  }
};

// Reads From, keeps T, writes To. Where To is no wider than T the sign makes no difference.
template <typename T, typename From>
Handler extend_to(int to_bits) {
  switch (to_bits) {
    case 8:
      return unary<Extend<uint8_t>, uint8_t, From>;
    case 16:
      return unary<Extend<T>, uint16_t, From>;
    case 32:
      return unary<Extend<T>, uint32_t, From>;
    case 64:
      return unary<Extend<T>, uint64_t, From>;
    default:
      return nullptr;
  }
}

template <typename T>
Handler extend_from(int from_bits, int to_bits) {
  switch (from_bits) {
    case 8:
      if constexpr (sizeof(T) <= 1) return extend_to<T, uint8_t>(to_bits);
      return nullptr;
    case 16:
      if constexpr (sizeof(T) <= 2) return extend_to<T, uint16_t>(to_bits);
      return nullptr;
    case 32:
      if constexpr (sizeof(T) <= 4) return extend_to<T, uint32_t>(to_bits);
      return nullptr;
    case 64:
      return extend_to<T, uint64_t>(to_bits);
    default:
      return nullptr;
  }
}

// .sat: the source as a wide integer, clamped to the target's range. Rare, so the widths are looked
// up as it runs.
struct Clamp final : Extra {
  int source_bits = 0, source_register = 0, target_bits = 0, target_register = 0;
  bool source_signed = false, target_signed = false;
};

uint64_t read_register(const Warp& warp, Slot slot, int bits, int lane) {
  switch (bits) {
    case 8:
      return warp.read<uint8_t>(slot)[lane];
    case 16:
      return warp.read<uint16_t>(slot)[lane];
    case 32:
      return warp.read<uint32_t>(slot)[lane];
    default:
      return warp.read<uint64_t>(slot)[lane];
  }
}

void write_register(Warp& warp, Slot slot, int bits, int lane, uint64_t value) {
  switch (bits) {
    case 8:
      warp.write<uint8_t>(slot)[lane] = static_cast<uint8_t>(value);
      break;
    case 16:
      warp.write<uint16_t>(slot)[lane] = static_cast<uint16_t>(value);
      break;
    case 32:
      warp.write<uint32_t>(slot)[lane] = static_cast<uint32_t>(value);
      break;
    default:
      warp.write<uint64_t>(slot)[lane] = value;
      break;
  }
}

Outcome clamp_integer(Warp& warp, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const Clamp*>(op.extra);
  const int unused = 64 - form.source_bits;
  const __int128 one = 1;
  const __int128 low = form.target_signed ? -(one << (form.target_bits - 1)) : 0;
  const __int128 high = (one << (form.target_bits - (form.target_signed ? 1 : 0))) - 1;
  for_lanes(exec, [&](int lane) {
    const uint64_t bits = read_register(warp, op.a, form.source_register, lane) << unused;
    const __int128 value = form.source_signed
                               ? static_cast<__int128>(static_cast<int64_t>(bits) >> unused)
                               : static_cast<__int128>(bits >> unused);
    const __int128 clamped = value < low ? low : value > high ? high : value;
    write_register(warp, op.d, form.target_register, lane, static_cast<uint64_t>(clamped));
  });
  return Outcome::Next;
}

}  // namespace

bool is_integer(Type type) {
  switch (type) {
    case Type::U8:
    case Type::U16:
    case Type::U32:
    case Type::U64:
    case Type::S8:
    case Type::S16:
    case Type::S32:
    case Type::S64:
      return true;
    default:
      return false;
  }
}

Handler extension(Type type, int from_bits, int to_bits) {
  switch (isa::is_signed(type) ? -isa::bits(type) : isa::bits(type)) {
    case 8:
      return extend_from<uint8_t>(from_bits, to_bits);
    case 16:
      return extend_from<uint16_t>(from_bits, to_bits);
    case 32:
      return extend_from<uint32_t>(from_bits, to_bits);
    case 64:
      return extend_from<uint64_t>(from_bits, to_bits);
    case -8:
      return extend_from<int8_t>(from_bits, to_bits);
    case -16:
      return extend_from<int16_t>(from_bits, to_bits);
    case -32:
      return extend_from<int32_t>(from_bits, to_bits);
    case -64:
      return extend_from<uint64_t>(from_bits, to_bits);
    default:
      return nullptr;
  }
}

Slot fitted(Lowering& l, Lowering::Sized source, Type type, int bits) {
  if (source.bits == bits && isa::bits(type) == bits) return source.slot;
  const Handler handler = extension(type, source.bits, bits);
  INVARIANT(handler != nullptr);
  const Slot slot = l.scratch(bits);
  Op& op = l.emit(handler);
  op.d = slot;
  op.a = source.slot;
  return slot;
}

Result<Done> convert_integer(Lowering& l, const Instruction& i) {
  const Type target = i.types[0], source = i.types[1];
  const auto a = TRY(l.any_source(i.operands[1], source));
  const auto d = TRY(l.any_destination(i.operands[0], target));
  if (i.has("sat")) {
    auto form = std::make_unique<Clamp>();
    form->source_bits = isa::bits(source);
    form->source_register = a.bits;
    form->target_bits = isa::bits(target);
    form->target_register = d.bits;
    form->source_signed = isa::is_signed(source);
    form->target_signed = isa::is_signed(target);
    const Clamp* kept = l.keep(std::move(form));
    Op& op = l.emit(clamp_integer);
    op.d = d.slot;
    op.a = a.slot;
    op.extra = kept;
    return Done{};
  }
  // Narrowing keeps the target's bits. Widening extends by the source's sign as far as the target
  // type, and from there by the target's: one step unless a signed source meets a wide unsigned
  // target.
  const bool narrows = isa::bits(target) <= isa::bits(source);
  Slot from = a.slot;
  int from_bits = a.bits;
  Type by = narrows ? target : source;
  if (!narrows && isa::is_signed(source) && !isa::is_signed(target) && d.bits > isa::bits(target)) {
    from = fitted(l, a, source, isa::bits(target));
    from_bits = isa::bits(target);
    by = target;
  }
  const Handler handler = extension(by, from_bits, d.bits);
  if (handler == nullptr) return no_such_form(l, i);
  Op& op = l.emit(handler);
  op.d = d.slot;
  op.a = from;
  return Done{};
}

}  // namespace weft::emulator
