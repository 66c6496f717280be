// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/ops/accumulator_hazard.h"

#include <deque>
#include <unordered_set>
#include <variant>

namespace weft::emulator {

namespace {

using Registers = std::unordered_set<uint32_t>;

// Calls f(register index) for every register in the operand.
template <typename F>
void each_register(const ptx::Operand& operand, const F& f) {
  const auto all = [&](const std::vector<ptx::Operand>& parts) {
    for (const ptx::Operand& part : parts) each_register(part, f);
  };
  if (const auto* r = std::get_if<ptx::RegisterOperand>(&operand.value)) f(r->index);
  if (const auto* v = std::get_if<ptx::VectorOperand>(&operand.value)) all(v->elements);
  if (const auto* a = std::get_if<ptx::AddressOperand>(&operand.value)) all(a->parts);
  if (const auto* p = std::get_if<ptx::PairOperand>(&operand.value)) all(p->elements);
  if (const auto* l = std::get_if<ptx::ListOperand>(&operand.value)) all(l->elements);
}

// Accumulators and A fragments of the groups in flight, the open one last.
class InFlight {
 public:
  void issue(const ptx::Instruction& mma) {
    each_register(mma.operands[0], [&](uint32_t r) { groups_.back().insert(r); });
    if (std::holds_alternative<ptx::VectorOperand>(mma.operands[1].value))
      each_register(mma.operands[1], [&](uint32_t r) { sources_.back().insert(r); });
  }
  void commit() {
    groups_.emplace_back();
    sources_.emplace_back();
  }
  void wait(size_t pending) {
    while (groups_.size() > pending + 1) {
      groups_.pop_front();
      sources_.pop_front();
    }
  }
  bool touches(const ptx::Instruction& instruction) const {
    bool found = false;
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      each_register(instruction.operands[i], [&](uint32_t r) {
        // A fragments may be read meanwhile; the first operand is what most instructions write.
        for (const Registers& group : groups_) found = found || group.contains(r);
        if (i == 0)
          for (const Registers& group : sources_) found = found || group.contains(r);
      });
    return found;
  }

 private:
  std::deque<Registers> groups_ = {{}}, sources_ = {{}};
};

}  // namespace

const ptx::Instruction* first_touch_in_flight(const ptx::Function& function) {
  InFlight in_flight;
  for (const ptx::Statement& statement : function.body) {
    const auto* instruction = std::get_if<ptx::Instruction>(&statement);
    if (instruction == nullptr) continue;
    if (instruction->opcode == "wgmma") {
      if (instruction->has("mma_async")) in_flight.issue(*instruction);
      if (instruction->has("commit_group")) in_flight.commit();
      if (instruction->has("wait_group"))
        if (const auto* count = std::get_if<ptx::Constant>(&instruction->operands[0].value))
          in_flight.wait(count->bits);
    } else if (in_flight.touches(*instruction)) {
      return instruction;
    }
  }
  return nullptr;
}

}  // namespace weft::emulator
