// SPDX-License-Identifier: Apache-2.0

// What an instruction's operands become: slots for registers and constants, addresses, and ops that
// compute what is known only in the block or the frame.

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/memory/gather.h"
#include "ptxbench/emulator/ops/special_registers.h"
#include "ptxbench/emulator/slot_size.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

template <typename T>
T as(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double as_double(const ptx::Constant& constant) {
  switch (constant.kind) {
    case ptx::Constant::Kind::Float32:
      return as<float>(constant.bits & 0xffffffffu);
    case ptx::Constant::Kind::Float64:
      return as<double>(constant.bits);
    case ptx::Constant::Kind::Integer:
      return static_cast<double>(static_cast<int64_t>(constant.bits));
  }
  return 0;
}

}  // namespace

std::string shared_key(const ptx::Function& function, const ptx::Variable& variable) {
  // A function's own shared variables may share names with another function's.
  for (const ptx::Variable& own : function.variables)
    if (&own == &variable) return function.name + "\n" + variable.name;
  return variable.name;
}

Slot Lowering::constant_slot(const ptx::Constant& constant, isa::Type type) {
  const int bits = slot_bits(type);
  if (type == isa::Type::Pred) {
    const LaneMask mask = constant.bits != 0 ? kAllLanes : 0;
    return pool(&mask, sizeof mask);
  }
  // Float literals in float instructions take the instruction's precision; everywhere else the bits
  // stand for themselves, and integers are cut to the width.
  uint64_t value = constant.bits;
  const bool literal_float = constant.kind != ptx::Constant::Kind::Integer;
  if (type == isa::Type::F32 && (literal_float || isa::is_float(type))) {
    value = constant.kind == ptx::Constant::Kind::Float32
                ? constant.bits
                : std::bit_cast<uint32_t>(static_cast<float>(as_double(constant)));
  } else if (type == isa::Type::F64) {
    value = std::bit_cast<uint64_t>(as_double(constant));
  } else if (bits == 32 && constant.kind == ptx::Constant::Kind::Float64) {
    value = std::bit_cast<uint32_t>(static_cast<float>(as_double(constant)));
  }
  switch (bits) {
    case 8:
      return broadcast<uint8_t>(static_cast<uint8_t>(value));
    case 16:
      return broadcast<uint16_t>(static_cast<uint16_t>(value));
    case 32:
      return broadcast<uint32_t>(static_cast<uint32_t>(value));
    case 64:
      return broadcast<uint64_t>(value);
    default: {
      const uint64_t high =
          constant.kind == ptx::Constant::Kind::Integer && static_cast<int64_t>(value) < 0 ? ~0ull
                                                                                           : 0;
      uint64_t lanes[kLanes][2];
      for (auto& lane : lanes) {
        lane[0] = value;
        lane[1] = high;
      }
      return pool(lanes, sizeof lanes);
    }
  }
}

std::optional<int64_t> Lowering::constant(const ptx::Operand& operand) const {
  const auto* constant = std::get_if<ptx::Constant>(&operand.value);
  if (constant == nullptr) return std::nullopt;
  if (constant->kind == ptx::Constant::Kind::Integer) return static_cast<int64_t>(constant->bits);
  return static_cast<int64_t>(as_double(*constant));
}

Error Lowering::wrong_operand(const ptx::Operand& operand, std::string_view what,
                              std::string hint) const {
  if (&operand == &ptx::Operands::missing())
    return error(fmt::format("{}: an operand is missing", current_->spelling()),
                 "a modifier asks for one more operand, or an optional one was left out");
  return error(fmt::format("{}: {}", current_->spelling(), what), std::move(hint));
}

Result<Lowering::Sized> Lowering::any_source(const ptx::Operand& operand, isa::Type type) {
  if (const auto* r = std::get_if<ptx::RegisterOperand>(&operand.value)) {
    const ptx::Register& declared = function_.registers[r->index];
    const int bits = slot_bits(declared.type);
    Slot slot = register_slots_[r->index];
    if (r->component != ptx::Component::Whole)
      slot += slot_bytes(bits) * (static_cast<uint32_t>(r->component) - 1);
    return Sized{slot, bits};
  }
  if (const auto* c = std::get_if<ptx::Constant>(&operand.value))
    return Sized{constant_slot(*c, type), slot_bits(type)};
  if (const auto* s = std::get_if<ptx::SpecialRegister>(&operand.value))
    return TRY(read_special_register(*this, *s, slot_bits(type)));
  if (const auto* s = std::get_if<ptx::SymbolOperand>(&operand.value)) {
    const bool wide = isa::bits(type) != 32;
    return Sized{TRY(symbol_address(*s, wide)), wide ? 64 : 32};
  }
  return wrong_operand(operand, "operand is not a value",
                       "write a register, a constant or the name of a variable");
}

Result<Slot> Lowering::source(const ptx::Operand& operand, isa::Type type) {
  const Sized sized = TRY(any_source(operand, type));
  if (sized.bits != slot_bits(type))
    return error(fmt::format("{}: operand of {} bits where .{} needs {}", current_->spelling(),
                             sized.bits, isa::name(type), slot_bits(type)));
  return sized.slot;
}

Result<Lowering::Sized> Lowering::any_destination(const ptx::Operand& operand, isa::Type type) {
  if (std::holds_alternative<ptx::Sink>(operand.value))
    return Sized{scratch(slot_bits(type)), slot_bits(type)};
  if (!std::holds_alternative<ptx::RegisterOperand>(operand.value))
    return wrong_operand(operand, "the destination must be a register");
  const Sized sized = TRY(any_source(operand, type));
  written_.push_back(sized.slot);
  return sized;
}

Result<Slot> Lowering::destination(const ptx::Operand& operand, isa::Type type) {
  const Sized sized = TRY(any_destination(operand, type));
  if (sized.bits != slot_bits(type))
    return error(fmt::format("{}: destination of {} bits where .{} needs {}", current_->spelling(),
                             sized.bits, isa::name(type), slot_bits(type)));
  return sized.slot;
}

Result<Lowering::PredicateSource> Lowering::predicate_source(const ptx::Operand& operand) {
  const Sized sized = TRY(any_source(operand, isa::Type::Pred));
  if (sized.bits != 1)
    return error(fmt::format("{}: operand must be a predicate", current_->spelling()));
  const auto* r = std::get_if<ptx::RegisterOperand>(&operand.value);
  return PredicateSource{sized.slot, r != nullptr && r->negated ? kAllLanes : 0};
}

Result<Slot> Lowering::predicate_destination(const ptx::Operand& operand) {
  return destination(operand, isa::Type::Pred);
}

std::vector<const ptx::Operand*> Lowering::elements(const ptx::Operand& operand) const {
  std::vector<const ptx::Operand*> list;
  if (const auto* v = std::get_if<ptx::VectorOperand>(&operand.value)) {
    for (const ptx::Operand& element : v->elements) list.push_back(&element);
  } else if (const auto* p = std::get_if<ptx::PairOperand>(&operand.value)) {
    for (const ptx::Operand& element : p->elements) list.push_back(&element);
  } else if (const auto* l = std::get_if<ptx::ListOperand>(&operand.value)) {
    for (const ptx::Operand& element : l->elements) list.push_back(&element);
  } else {
    list.push_back(&operand);
  }
  return list;
}

Result<Address> Lowering::address(const ptx::Operand& operand, isa::Space space) {
  const ptx::Operand* base = &operand;
  int64_t offset = 0;
  if (const auto* a = std::get_if<ptx::AddressOperand>(&operand.value)) {
    if (a->parts.empty()) return error(fmt::format("{}: empty address", current_->spelling()));
    base = &a->parts[0];
    offset = a->offset;
  }
  if (std::holds_alternative<ptx::RegisterOperand>(base->value)) {
    const Sized sized = TRY(any_source(*base, isa::Type::U64));
    if (sized.bits != 32 && sized.bits != 64)
      return error(fmt::format("{}: an address register has 32 or 64 bits, this has {}",
                               current_->spelling(), sized.bits));
    return Address{sized.slot, sized.bits == 64, offset, space};
  }
  if (const auto* c = std::get_if<ptx::Constant>(&base->value))
    return Address{broadcast<uint64_t>(c->bits), true, offset, space};
  if (const auto* s = std::get_if<ptx::SymbolOperand>(&base->value))
    return Address{TRY(symbol_address(*s, true)), true, offset, space};
  return wrong_operand(operand, "this is no address",
                       "write [register], [register+offset] or [variable+offset]");
}

uint32_t Lowering::known_addresses(const Address& address) {
  const bool one_place = address.space == isa::Space::Shared ||
                         address.space == isa::Space::Global ||
                         address.space == isa::Space::Generic;
  // What a guard may skip leaves nothing for others to find.
  if (!one_place || current_->guard) return 0;
  for (uint32_t k = 0; k < kKnownAddresses; ++k)
    if (known_[k].slot == address.slot && known_[k].space == address.space)
      return k | kKeepsKnown | kMayBeKnown;
  const uint32_t k = next_known_++ % kKnownAddresses;
  known_[k] = address;
  return k | kKeepsKnown;
}

Result<Slot> Lowering::symbol_address(const ptx::SymbolOperand& symbol, bool wide) {
  using Kind = ptx::SymbolOperand::Kind;
  // A value known when the program is loaded.
  auto fixed = [&](uint64_t value) {
    value += static_cast<uint64_t>(symbol.offset);
    return wide ? broadcast<uint64_t>(value) : broadcast<uint32_t>(static_cast<uint32_t>(value));
  };
  // A value that an op computes from the block or the frame.
  auto computed = [&](SymbolBase base, uint64_t value) {
    const Slot slot = scratch(wide ? 64 : 32);
    Op& op = emit(symbol_address_handler(base, wide));
    op.d = slot;
    op.guard = kNoSlot;
    op.immediate = static_cast<int64_t>(value) + symbol.offset;
    return slot;
  };
  auto by_space = [&](const ptx::Variable& variable, uint32_t frame_offset) -> Result<Slot> {
    switch (variable.space) {
      case isa::Space::Shared:
      case isa::Space::SharedCluster: {
        const auto found = image_.shared_offsets.find(shared_key(function_, variable));
        if (found == image_.shared_offsets.end()) return computed(SymbolBase::DynamicShared, 0);
        return computed(SymbolBase::Shared, found->second);
      }
      case isa::Space::Local:
      case isa::Space::Param:
      case isa::Space::ParamFunction:
        return computed(SymbolBase::Frame, frame_offset);
      default: {
        const auto found = image_.variables.find(variable.name);
        if (found == image_.variables.end())
          return error(
              fmt::format(
                  "variable {} has no storage: it is declared extern and defined in no module",
                  variable.name),
              "link the module that defines it");
        return fixed(found->second.address);
      }
    }
  };
  switch (symbol.kind) {
    case Kind::FunctionVariable:
      return by_space(function_.variables[symbol.index], variable_offsets_[symbol.index]);
    case Kind::ModuleVariable:
      return by_space(image_.module_->variables[symbol.index], 0);
    case Kind::Parameter:
      if (function_.kind == ptx::Function::Kind::Entry)
        return computed(SymbolBase::KernelParameters, parameter_offsets_[symbol.index]);
      return computed(SymbolBase::Frame, parameter_offsets_[symbol.index]);
    case Kind::ReturnParameter:
      return computed(SymbolBase::Frame, return_offsets_[symbol.index]);
    case Kind::Function: {
      const std::string& name = image_.module_->functions[symbol.index].name;
      const auto found = image_.function_by_name.find(name);
      if (found == image_.function_by_name.end())
        return error(fmt::format("function {} has no body here", name));
      for (size_t i = 0; i < image_.functions.size(); ++i)
        if (image_.functions[i].get() == found->second)
          return fixed(image_.function_tokens + i * ProgramImage::kFunctionTokenStep);
      return error(fmt::format("function {} has no body here", name));
    }
    case Kind::Unknown:
      break;
  }
  return error(fmt::format("{} is not declared", symbol.name));
}

}  // namespace weft::emulator
