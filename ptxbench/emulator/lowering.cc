// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ptxbench/emulator/flow_graph.h"
#include "ptxbench/emulator/ops/accumulator_hazard.h"
#include "ptxbench/emulator/ops/in_flight_check.h"
#include "ptxbench/emulator/register_places.h"
#include "ptxbench/emulator/slot_size.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

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
  code_.unsupported.emplace_back(current_, text->what);
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
  read_before_written(function_).each([&](uint32_t r) {
    const ptx::Register& declared = function_.registers[r];
    const uint32_t bytes = slot_bytes(slot_bits(declared.type)) * declared.vector_width;
    auto& ranges = code_.cleared;
    if (!ranges.empty() && ranges.back().first + ranges.back().bytes == register_slots_[r])
      ranges.back().bytes += bytes;
    else
      ranges.push_back({register_slots_[r], bytes});
  });
}

void Lowering::patch_table(std::vector<uint32_t>* table, size_t position, uint32_t label) {
  table_patches_.push_back({table, position, label});
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
