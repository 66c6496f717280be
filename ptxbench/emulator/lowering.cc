// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptxbench/emulator/flow_graph.h"
#include "ptxbench/emulator/memory/gather.h"
#include "ptxbench/emulator/ops/accumulator_hazard.h"
#include "ptxbench/emulator/ops/in_flight_check.h"
#include "ptxbench/emulator/ops/special_registers.h"
#include "ptxbench/emulator/register_places.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

int slot_bits(isa::Type type) {
  return type == isa::Type::Pred ? 1 : std::max(8, isa::bits(type));
}

// Bytes that 32 lanes of `bits` wide values take; a predicate is one mask.
uint32_t slot_bytes(int bits) {
  return bits == 1 ? 4 : static_cast<uint32_t>(bits) * kLanes / 8;
}

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

uint32_t round_up(uint32_t value, uint32_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

Lowering::Lowering(ProgramImage& image, const ptx::Function& function, FunctionCode& code)
    : image_(image), function_(function), code_(code) {
  const std::vector<uint32_t> places = register_places(function);
  register_slots_.assign(places.size(), kNoSlot);
  for (size_t r = 0; r < places.size(); ++r) {
    Slot& slot = register_slots_[places[r]];
    const ptx::Register& declared = function.registers[r];
    if (slot == kNoSlot) slot = allocate(slot_bits(declared.type), declared.vector_width);
    register_slots_[r] = slot;
  }

  uint32_t local = 0;
  auto place = [&](const ptx::Variable& v) {
    local = round_up(local, std::max(1u, v.alignment));
    const uint32_t offset = local;
    local += static_cast<uint32_t>(v.size());
    return offset;
  };
  const bool entry = function.kind == ptx::Function::Kind::Entry;
  uint32_t parameter = 0;
  for (const ptx::Variable& v : function.parameters) {
    if (entry) {
      parameter = round_up(parameter, std::max(1u, v.alignment));
      parameter_offsets_.push_back(parameter);
      parameter += static_cast<uint32_t>(v.size());
    } else {
      parameter_offsets_.push_back(place(v));
      code.parameters.push_back(
          {parameter_offsets_.back(), static_cast<uint32_t>(v.size()), kNoSlot});
    }
  }
  for (const ptx::Variable& v : function.returns) {
    return_offsets_.push_back(place(v));
    code.returns.push_back({return_offsets_.back(), static_cast<uint32_t>(v.size()), kNoSlot});
  }
  for (const ptx::Variable& v : function.variables) {
    const bool in_frame = v.space == isa::Space::Local || v.space == isa::Space::Param ||
                          v.space == isa::Space::ParamFunction;
    variable_offsets_.push_back(in_frame ? place(v) : 0);
  }
  code.local_bytes = round_up(local, 16);
}

Slot Lowering::allocate(int bits, int vector_width) {
  const uint32_t bytes = slot_bytes(bits);
  code_.register_bytes = round_up(code_.register_bytes, std::min(bytes, 64u));
  const Slot slot = code_.register_bytes;
  code_.register_bytes += bytes * static_cast<uint32_t>(vector_width);
  return slot;
}

Slot Lowering::scratch(int bits) {
  return allocate(bits, 1);
}

Slot Lowering::pool(const void* lanes, size_t bytes) {
  std::string key(static_cast<const char*>(lanes), bytes);
  if (const auto found = pool_index_.find(key); found != pool_index_.end()) return found->second;
  // From the end of the pool towards its beginning, which is not known yet: each entry's slot is
  // its distance from the registers, which follow the pool.
  const size_t place = pool_.size();
  pool_.resize(place + (bytes + 63) / 64 * 64);
  const Slot slot = -static_cast<Slot>(pool_.size());
  std::memcpy(pool_.data() + place, lanes, bytes);
  pool_entries_.push_back({place, pool_.size()});
  pool_index_.emplace(std::move(key), slot);
  return slot;
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
  return error(fmt::format("{}: operand is not a value", current_->spelling()),
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
    return error(fmt::format("{}: the destination must be a register", current_->spelling()));
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
  return error(fmt::format("{}: this is no address", current_->spelling()),
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

Op& Lowering::emit(Handler handler) {
  Op op;
  op.handler = handler;
  op.instruction = static_cast<uint32_t>(code_.instructions.size() - 1);
  if (current_->guard) {
    op.guard = register_slots_[current_->guard->register_index];
    op.guard_flip = current_->guard->negated ? kAllLanes : 0;
  }
  code_.ops.push_back(op);
  return code_.ops.back();
}

Error Lowering::error(std::string message, std::string hint) const {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  diagnostic.file = image_.module_->file;
  if (current_ != nullptr) {
    diagnostic.position = current_->position;
    diagnostic.source_line = line_of_text(*image_.module_, current_->position.line);
  }
  return Error(std::move(diagnostic));
}

namespace {

struct UnsupportedText final : Extra {
  std::string what;
};

Outcome unsupported_instruction(Warp& w, const Op& op, LaneMask exec) {
  return w.fault(op, first_lane(exec), FaultKind::Unsupported,
                 static_cast<const UnsupportedText*>(static_cast<const Extra*>(op.extra))->what);
}

}  // namespace

Result<Done> Lowering::unsupported(std::string what) {
  auto text = std::make_unique<UnsupportedText>();
  text->what = std::move(what);
  const Extra* kept = keep(std::move(text));
  emit(unsupported_instruction).extra = kept;
  return Done{};
}

void Lowering::patch_label(size_t op_index, uint32_t label) {
  label_patches_.emplace_back(op_index, label);
}

uint32_t Lowering::variable_offset(uint32_t variable) const {
  return variable_offsets_[variable];
}
uint32_t Lowering::parameter_offset(uint32_t parameter) const {
  return parameter_offsets_[parameter];
}
uint32_t Lowering::return_offset(uint32_t parameter) const {
  return return_offsets_[parameter];
}

Result<Done> Lowering::lower_instruction(const ptx::Instruction& instruction) {
  current_ = &instruction;
  code_.instructions.push_back(&instruction);
  if (image_.checks.wgmma && touches_in_flight().contains(&instruction))
    lower_in_flight_check(*this, instruction);
  if (MeaningFunction meaning = find_meaning(instruction.opcode); meaning != nullptr) {
    TRY(meaning(*this, instruction));
  } else {
    TRY(unsupported(fmt::format("{} has no meaning in the emulator yet", instruction.spelling())));
  }
  INVARIANT(!code_.ops.empty());
  // Only plain instructions are known to write nothing but their destinations, at once.
  if (!is_plain(instruction)) forget_known();
  for (Slot slot : written_)
    for (Address& address : known_)
      if (address.slot == slot) address = {};
  written_.clear();
  code_.counting_op.push_back(static_cast<uint32_t>(code_.ops.size() - 1));
  return Done{};
}

Result<Done> Lowering::run() {
  label_targets_.assign(function_.labels.size(), 0);
  Error errors;
  for (const ptx::Statement& statement : function_.body) {
    if (const auto* label = std::get_if<ptx::LabelStatement>(&statement)) {
      label_targets_[label->index] = static_cast<uint32_t>(code_.ops.size());
      forget_known();
    } else if (const auto* instruction = std::get_if<ptx::Instruction>(&statement)) {
      if (auto done = lower_instruction(*instruction); !done.ok()) {
        for (Diagnostic& d : done.error().diagnostics) errors.diagnostics.push_back(std::move(d));
        if (errors.diagnostics.size() >= 20) return errors;
        code_.counting_op.resize(code_.instructions.size(), 0);
      }
    }
  }
  if (!errors.diagnostics.empty()) return errors;
  // Falling off the end returns, so that no path leaves the ops.
  append_final_return(*this);
  for (const auto& [op, label] : label_patches_) code_.ops[op].immediate = label_targets_[label];
  for (const auto& [table, position, label] : table_patches_)
    (*table)[position] = label_targets_[label];
  clear_early_reads();
  code_.constants = AlignedBytes(pool_.size());
  for (const auto& [begin, end] : pool_entries_)
    std::memcpy(code_.constants.data() + (pool_.size() - end), pool_.data() + begin, end - begin);
  return Done{};
}

const std::unordered_set<const ptx::Instruction*>& Lowering::touches_in_flight() {
  if (!touches_) touches_ = emulator::touches_in_flight(function_);
  return *touches_;
}

void Lowering::clear_early_reads() {
  const std::vector<bool> early = read_before_written(function_);
  for (size_t r = 0; r < early.size(); ++r) {
    if (!early[r]) continue;
    const ptx::Register& declared = function_.registers[r];
    const uint32_t bytes = slot_bytes(slot_bits(declared.type)) * declared.vector_width;
    auto& ranges = code_.cleared;
    if (!ranges.empty() && ranges.back().first + ranges.back().bytes == register_slots_[r])
      ranges.back().bytes += bytes;
    else
      ranges.push_back({register_slots_[r], bytes});
  }
}

void Lowering::patch_table(std::vector<uint32_t>* table, size_t position, uint32_t label) {
  table_patches_.push_back({table, position, label});
}

std::string shared_key(const ptx::Function& function, const ptx::Variable& variable) {
  // A function's own shared variables may share names with another function's.
  for (const ptx::Variable& own : function.variables)
    if (&own == &variable) return function.name + "\n" + variable.name;
  return variable.name;
}

std::string line_of_text(const ptx::Module& module, uint32_t line) {
  if (module.text == nullptr || line == 0) return {};
  const std::string& text = *module.text;
  size_t begin = 0;
  for (uint32_t i = 1; i < line; ++i) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return {};
    ++begin;
  }
  const size_t end = text.find('\n', begin);
  return text.substr(begin, end == std::string::npos ? std::string::npos : end - begin);
}

}  // namespace weft::emulator
