// SPDX-License-Identifier: Apache-2.0

// Moving data (PTX ISA 9.0, section 9.7.9): mov, ld, ldu, st, cvta, isspacep. Copies, prefetches
// and conversions have chapters of their own.

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "ptxbench/emulator/check/shared_watch.h"
#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/memory/gather.h"
#include "ptxbench/emulator/memory/lane_words.h"
#include "ptxbench/emulator/ops/async_copy.h"
#include "ptxbench/emulator/ops/multimem.h"
#include "ptxbench/emulator/ops/transfer.h"

namespace weft::emulator {

namespace {

using isa::Space;
using isa::Type;

// --- mov ----------------------------------------------------------------------------------------

template <typename T>
Outcome move(Warp& w, const Op& op, LaneMask exec) {
  if (exec == kAllLanes) {
    copy_vectors<sizeof(T) * kLanes>(w.write<T>(op.d), w.read<T>(op.a));
  } else {
    merge_lanes(exec, w.write<T>(op.d), w.read<T>(op.a));
  }
  return Outcome::Next;
}

Outcome move_predicate(Warp& w, const Op& op, LaneMask exec) {
  merge_predicate(exec, w.predicate(op.d),
                  w.predicate_value(op.a) ^ static_cast<LaneMask>(op.small));
  return Outcome::Next;
}

Handler move_handler(int bits) {
  switch (bits) {
    case 8:
      return move<uint8_t>;
    case 16:
      return move<uint16_t>;
    case 32:
      return move<uint32_t>;
    case 64:
      return move<uint64_t>;
    default:
      return move<Wide>;
  }
}

// mov with a vector on one side: `small` pieces, each `sizeof(Piece)` bytes, of one wider value.
// Piece 0 is the least significant.
struct Pieces final : Extra {
  Slot slots[16];
};

template <typename Piece>
Outcome pack(Warp& w, const Op& op, LaneMask exec) {
  const auto& pieces = *static_cast<const Pieces*>(static_cast<const Extra*>(op.extra));
  const uint32_t count = op.small;
  alignas(64) std::byte value[kLanes * 16];
  for (uint32_t k = 0; k < count; ++k) {
    const Piece* from = w.read<Piece>(pieces.slots[k]);
    for (uint32_t i = 0; i < kLanes; ++i)
      std::memcpy(value + (i * count + k) * sizeof(Piece), &from[i], sizeof(Piece));
  }
  const uint32_t width = count * sizeof(Piece);
  std::byte* to = w.write<std::byte>(op.d);
  if (exec == kAllLanes) {
    std::memcpy(to, value, width * kLanes);
  } else {
    for_lanes(exec, [&](int lane) {
      const uint32_t at = static_cast<uint32_t>(lane) * width;
      std::memcpy(to + at, value + at, width);
    });
  }
  return Outcome::Next;
}

template <typename Piece>
Outcome unpack(Warp& w, const Op& op, LaneMask exec) {
  const auto& pieces = *static_cast<const Pieces*>(static_cast<const Extra*>(op.extra));
  const uint32_t count = op.small;
  alignas(64) std::byte value[kLanes * 16];
  std::memcpy(value, w.read<std::byte>(op.a), count * sizeof(Piece) * kLanes);
  for (uint32_t k = 0; k < count; ++k) {
    alignas(64) Piece lanes[kLanes];
    for (uint32_t i = 0; i < kLanes; ++i)
      std::memcpy(&lanes[i], value + (i * count + k) * sizeof(Piece), sizeof(Piece));
    merge_lanes(exec, w.write<Piece>(pieces.slots[k]), lanes);
  }
  return Outcome::Next;
}

template <template <typename> class F>
Handler by_piece(int bits) {
  switch (bits) {
    case 8:
      return F<uint8_t>::handler;
    case 16:
      return F<uint16_t>::handler;
    case 32:
      return F<uint32_t>::handler;
    default:
      return F<uint64_t>::handler;
  }
}
template <typename T>
struct PackOf {
  static constexpr Handler handler = pack<T>;
};
template <typename T>
struct UnpackOf {
  static constexpr Handler handler = unpack<T>;
};

bool is_vector(const ptx::Operand& operand) {
  return std::holds_alternative<ptx::VectorOperand>(operand.value);
}

Type untyped(int bits) {
  switch (bits) {
    case 8:
      return Type::B8;
    case 16:
      return Type::B16;
    case 32:
      return Type::B32;
    case 64:
      return Type::B64;
    default:
      return Type::B128;
  }
}

Result<Done> lower_mov(Lowering& l, const ptx::Instruction& i) {
  const Type type = i.types.empty() ? Type::B32 : i.types[0];
  const ptx::Operand& to = i.operands[0];
  const ptx::Operand& from = i.operands[1];
  if (type == Type::Pred) {
    const auto source = TRY(l.predicate_source(from));
    const Slot d = TRY(l.predicate_destination(to));
    Op& op = l.emit(move_predicate);
    op.d = d;
    op.a = source.slot;
    op.small = source.flip;
    return Done{};
  }
  const int bits = isa::bits(type);
  if (is_vector(to) != is_vector(from)) {
    const bool packing = is_vector(from);
    const auto list = l.elements(packing ? from : to);
    const int piece_bits = bits / static_cast<int>(list.size());
    if (piece_bits < 8 || list.size() > 16 || piece_bits * static_cast<int>(list.size()) != bits)
      return l.error(
          fmt::format("{}: {} elements do not make up {} bits", i.spelling(), list.size(), bits));
    auto pieces = std::make_unique<Pieces>();
    for (size_t k = 0; k < list.size(); ++k)
      pieces->slots[k] = packing ? TRY(l.source(*list[k], untyped(piece_bits)))
                                 : TRY(l.destination(*list[k], untyped(piece_bits)));
    Pieces* kept = l.keep(std::move(pieces));
    const Slot whole =
        packing ? TRY(l.destination(to, untyped(bits))) : TRY(l.source(from, untyped(bits)));
    Op& op = l.emit(packing ? by_piece<PackOf>(piece_bits) : by_piece<UnpackOf>(piece_bits));
    (packing ? op.d : op.a) = whole;
    op.small = static_cast<uint32_t>(list.size());
    op.extra = static_cast<const Extra*>(kept);
    return Done{};
  }
  const auto targets = l.elements(to), sources = l.elements(from);
  if (targets.size() != sources.size())
    return l.error(fmt::format("{}: vectors of different length", i.spelling()));
  for (size_t k = 0; k < targets.size(); ++k) {
    const Slot a = TRY(l.source(*sources[k], type));
    const Slot d = TRY(l.destination(*targets[k], type));
    Op& op = l.emit(move_handler(bits));
    op.d = d;
    op.a = a;
  }
  return Done{};
}

// --- ld, st -------------------------------------------------------------------------------------

Order order_of(const ptx::Instruction& i) {
  for (std::string_view word : {"volatile", "relaxed", "acquire", "release", "mmio"})
    if (i.has(word)) return Order::Strong;
  return Order::Weak;
}

// Parameters of the function that is being lowered live in its frame; of a kernel, in the launch.
Space transfer_space(Lowering& l, const ptx::Instruction& i, const ptx::Operand& address) {
  if (i.space != Space::Param && i.space != Space::ParamFunction) return i.space;
  if (l.function().kind == ptx::Function::Kind::Device) return Space::Local;
  const auto* a = std::get_if<ptx::AddressOperand>(&address.value);
  if (a != nullptr && !a->parts.empty())
    if (const auto* s = std::get_if<ptx::SymbolOperand>(&a->parts[0].value);
        s != nullptr && s->kind == ptx::SymbolOperand::Kind::FunctionVariable)
      return Space::Local;  // a call's argument or result
  return Space::Global;
}

// A kernel's own parameter: the place is known when the kernel is loaded, and the same for all.
void resolve_parameter(Warp& w, const Op& op, LaneMask, uint32_t, uint32_t, bool,
                       LanePointers& pointers) {
  pointers.shape = LanePointers::Shape::Uniform;
  pointers.first = w.block->grid->parameters.data() + op.immediate;
}

// Bytes from the first parameter on when `address` names a kernel's parameter and `bytes` of it,
// aligned; nothing for whatever has to be checked while the kernel runs.
std::optional<int64_t> parameter_place(Lowering& l, const ptx::Operand& address, uint32_t bytes) {
  const auto* a = std::get_if<ptx::AddressOperand>(&address.value);
  if (a == nullptr || a->parts.empty() || l.function().kind != ptx::Function::Kind::Entry)
    return std::nullopt;
  const auto* s = std::get_if<ptx::SymbolOperand>(&a->parts[0].value);
  if (s == nullptr || s->kind != ptx::SymbolOperand::Kind::Parameter) return std::nullopt;
  const int64_t inside = a->offset + s->offset;
  const int64_t place = int64_t{l.parameter_offset(s->index)} + inside;
  const auto size = static_cast<int64_t>(l.function().parameters[s->index].size());
  if (inside < 0 || inside + bytes > size || place % bytes != 0) return std::nullopt;
  return place;
}

Result<Done> lower_transfer(Lowering& l, const ptx::Instruction& i, bool storing) {
  const ptx::Operand& address_operand = i.operands[storing ? 0 : 1];
  const ptx::Operand& value_operand = i.operands[storing ? 1 : 0];
  const Type type = i.types.empty() ? Type::B32 : i.types[0];
  const auto values = l.elements(value_operand);
  if (values.size() > 8) return l.error(fmt::format("{}: more than 8 elements", i.spelling()));
  auto transfer = std::make_unique<Transfer>();
  int register_bits = 0;
  for (size_t k = 0; k < values.size(); ++k) {
    const Lowering::Sized sized =
        storing ? TRY(l.any_source(*values[k], type)) : TRY(l.any_destination(*values[k], type));
    const bool sink = std::holds_alternative<ptx::Sink>(values[k]->value);
    if (!sink && register_bits != 0 && sized.bits != register_bits)
      return l.error(fmt::format("{}: elements of different width", i.spelling()));
    if (!sink || register_bits == 0) register_bits = sized.bits;
    transfer->slots[k] = sized.slot;
  }
  // Sinks get room of the other elements' width.
  for (size_t k = 0; k < values.size(); ++k)
    if (std::holds_alternative<ptx::Sink>(values[k]->value))
      transfer->slots[k] = l.scratch(register_bits);
  const Handler handler =
      (storing ? find_store : find_load)(order_of(i), type, values.size(), register_bits);
  if (handler == nullptr)
    return l.error(fmt::format("{}: {} registers of {} bits do not fit", i.spelling(),
                               values.size(), register_bits));
  transfer->bytes =
      static_cast<uint32_t>(isa::bits(type) / 8) * static_cast<uint32_t>(values.size());
  transfer->alignment = transfer->bytes;
  if (!storing && i.space == Space::Param)
    if (const auto place = parameter_place(l, address_operand, transfer->bytes)) {
      transfer->resolve = resolve_parameter;
      Transfer* kept = l.keep(std::move(transfer));
      Op& op = l.emit(handler);
      op.immediate = *place;
      op.extra = static_cast<const Extra*>(kept);
      return Done{};
    }
  const Address address = TRY(l.address(address_operand, transfer_space(l, i, address_operand)));
  transfer->resolve = find_resolver(address.space, address.wide);
  Transfer* kept = l.keep(std::move(transfer));
  const bool word = !storing && order_of(i) == Order::Weak && values.size() == 1 &&
                    isa::bits(type) == 32 && register_bits == 32;
  const Handler quick = word ? find_word_load(address.space, address.wide) : nullptr;
  const bool strong = order_of(i) == Order::Strong;
  const Watched watched = storing ? (strong ? Watched::StrongStore : Watched::Store)
                                  : (strong ? Watched::StrongLoad : Watched::Load);
  lower_watch(l, address, kept->bytes, watched);
  Op& op = l.emit(quick != nullptr ? quick : handler);
  op.d = kept->slots[0];
  op.a = address.slot;
  op.immediate = address.offset;
  op.small = l.known_addresses(address);
  op.extra = static_cast<const Extra*>(kept);
  lower_watch_end(l, address, watched);
  return Done{};
}

Result<Done> lower_ld(Lowering& l, const ptx::Instruction& i) {
  return lower_transfer(l, i, false);
}
Result<Done> lower_st(Lowering& l, const ptx::Instruction& i) {
  if (i.has("async")) return lower_store_async(l, i);
  if (i.has("bulk")) return lower_store_bulk(l, i);
  return lower_transfer(l, i, true);
}

Result<Done> lower_multimem(Lowering& l, const ptx::Instruction& i) {
  if (i.has("red")) return lower_multimem_reduction(l, i);
  return lower_transfer(l, i, i.has("st"));
}

// --- cvta, isspacep -----------------------------------------------------------------------------

template <typename From, typename To, bool kToGeneric>
Outcome convert_address(Warp& w, const Op& op, LaneMask exec) {
  const uint64_t window = static_cast<uint64_t>(op.immediate);
  each_lane(
      exec,
      [window](From a) {
        return static_cast<To>(kToGeneric ? static_cast<uint64_t>(a) + window
                                          : static_cast<uint64_t>(a) - window);
      },
      w.write<To>(op.d), w.read<From>(op.a));
  return Outcome::Next;
}

// Shared addresses keep their rank bits; everything that is no window is the host's address itself.
Result<Done> lower_cvta(Lowering& l, const ptx::Instruction& i) {
  const bool to_space = i.has("to");
  const Type type = i.types.empty() ? Type::U64 : i.types[0];
  uint64_t window = 0;
  if (i.space == Space::Shared || i.space == Space::SharedCluster) window = kSharedWindow;
  if (i.space == Space::Local) window = kLocalWindow;
  if (isa::bits(type) != 64)
    return l.unsupported("32-bit generic addresses: the emulator's device has 64-bit addresses");
  const Lowering::Sized from = TRY(l.any_source(i.operands[1], Type::U64));
  const Slot d = TRY(l.destination(i.operands[0], Type::U64));
  Op& op = l.emit(from.bits == 32 ? (to_space ? convert_address<uint32_t, uint64_t, false>
                                              : convert_address<uint32_t, uint64_t, true>)
                                  : (to_space ? convert_address<uint64_t, uint64_t, false>
                                              : convert_address<uint64_t, uint64_t, true>));
  op.a = from.slot;
  op.d = d;
  op.immediate = static_cast<int64_t>(window);
  return Done{};
}

template <Space kSpace>
Outcome is_space(Warp& w, const Op& op, LaneMask exec) {
  const uint64_t* address = w.read<uint64_t>(op.a);
  LaneMask result = 0;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t a = address[i];
    bool inside = false;
    if constexpr (kSpace == Space::Shared)
      inside = in_shared_window(a) && ((a - kSharedWindow) >> kSharedRankShift) == w.block->rank;
    if constexpr (kSpace == Space::SharedCluster)
      inside = in_shared_window(a) &&
               ((a - kSharedWindow) >> kSharedRankShift) < w.block->cluster->blocks.size();
    if constexpr (kSpace == Space::Local) inside = in_local_window(a);
    if constexpr (kSpace == Space::Global || kSpace == Space::Param)
      inside = !in_shared_window(a) && !in_local_window(a);
    if constexpr (kSpace == Space::Param) {
      const auto& parameters = w.block->grid->parameters;
      inside = a - reinterpret_cast<uint64_t>(parameters.data()) < parameters.size();
    }
    result |= static_cast<LaneMask>(inside) << i;
  }
  merge_predicate(exec, w.predicate(op.d), result);
  return Outcome::Next;
}

Result<Done> lower_isspacep(Lowering& l, const ptx::Instruction& i) {
  const Slot d = TRY(l.predicate_destination(i.operands[0]));
  const Slot a = TRY(l.source(i.operands[1], Type::U64));
  Handler handler = is_space<Space::Global>;
  if (i.space == Space::Shared) handler = is_space<Space::Shared>;
  if (i.space == Space::SharedCluster) handler = is_space<Space::SharedCluster>;
  if (i.space == Space::Local) handler = is_space<Space::Local>;
  if (i.space == Space::Param) handler = is_space<Space::Param>;
  Op& op = l.emit(handler);
  op.d = d;
  op.a = a;
  return Done{};
}

constexpr Meaning kMeanings[] = {
    {"mov", lower_mov},
    {"ld", lower_ld},
    {"ldu", lower_ld},
    {"st", lower_st},
    {"cvta", lower_cvta},
    {"isspacep", lower_isspacep},
    {"multimem", lower_multimem},
};

}  // namespace

std::span<const Meaning> data_movement_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
