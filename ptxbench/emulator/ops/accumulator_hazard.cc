// SPDX-License-Identifier: Apache-2.0

// Follows ages along the paths: a register of the open group has age 0, one of the group committed
// last age 1, and so on; wait_group N ends all ages above N. Where paths meet, the youngest counts.

#include "ptxbench/emulator/ops/accumulator_hazard.h"

#include <algorithm>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ptxbench/emulator/flow_graph.h"

namespace weft::emulator {

namespace {

using Age = uint8_t;
constexpr Age kNotInFlight = 0xff, kOldest = 0xfe;

bool is_mma(const ptx::Instruction& i) {
  return i.opcode == "wgmma" && i.has("mma_async");
}
bool a_in_registers(const ptx::Instruction& mma) {
  return std::holds_alternative<ptx::VectorOperand>(mma.operands[1].value);
}

// Ages of the registers that matter, numbered densely.
struct Ages {
  std::vector<Age> accumulators, copies, fragments;

  explicit Ages(size_t count)
      : accumulators(count, kNotInFlight),
        copies(count, kNotInFlight),
        fragments(count, kNotInFlight) {}
  template <typename F>
  void each(F f) {
    for (auto* list : {&accumulators, &copies, &fragments})
      for (Age& age : *list)
        if (age != kNotInFlight) f(age);
  }
  // Whether that made anything younger.
  bool meet(const Ages& other) {
    bool changed = false;
    const auto merge = [&](std::vector<Age>& mine, const std::vector<Age>& theirs) {
      for (size_t k = 0; k < mine.size(); ++k)
        if (theirs[k] < mine[k]) {
          mine[k] = theirs[k];
          changed = true;
        }
    };
    merge(accumulators, other.accumulators);
    merge(copies, other.copies);
    merge(fragments, other.fragments);
    return changed;
  }
  Age value_age(size_t k) const { return std::min(accumulators[k], copies[k]); }
};

class Search {
 public:
  explicit Search(const ptx::Function& function) {
    const bool any = std::any_of(function.body.begin(), function.body.end(),
                                 [](const ptx::Statement& statement) {
                                   const auto* i = std::get_if<ptx::Instruction>(&statement);
                                   return i != nullptr && is_mma(*i);
                                 });
    if (!any) return;
    blocks_ = flow_blocks(function);
    number_registers();
  }

  std::unordered_set<const ptx::Instruction*> run() {
    std::unordered_set<const ptx::Instruction*> found;
    if (blocks_.empty()) return found;
    std::vector<Ages> at_start(blocks_.size(), Ages(numbers_.size()));
    std::vector<bool> due(blocks_.size(), true);
    for (bool again = true; again;) {
      again = false;
      for (size_t b = 0; b < blocks_.size(); ++b) {
        if (!due[b]) continue;
        due[b] = false;
        Ages ages = at_start[b];
        for (const ptx::Instruction* i : blocks_[b].instructions) step(*i, ages);
        for (const uint32_t next : blocks_[b].next)
          if (at_start[next].meet(ages)) due[next] = again = true;
      }
    }
    for (size_t b = 0; b < blocks_.size(); ++b)
      for (const ptx::Instruction* i : blocks_[b].instructions) {
        if (touches(*i, at_start[b])) found.insert(i);
        step(*i, at_start[b]);
      }
    return found;
  }

 private:
  void number(uint32_t r) { numbers_.emplace(r, numbers_.size()); }

  // Accumulators, A fragments, and what moves copy from them, round and round.
  void number_registers() {
    for (const FlowBlock& block : blocks_)
      for (const ptx::Instruction* i : block.instructions)
        if (is_mma(*i)) {
          each_register(i->operands[0], [&](uint32_t r) { number(r); });
          if (a_in_registers(*i)) each_register(i->operands[1], [&](uint32_t r) { number(r); });
        }
    for (size_t before = 0; before != numbers_.size();) {
      before = numbers_.size();
      for (const FlowBlock& block : blocks_)
        for (const ptx::Instruction* i : block.instructions)
          if (is_register_copy(*i) && numbers_.contains(register_of(i->operands[1])))
            number(register_of(i->operands[0]));
    }
  }

  static uint32_t register_of(const ptx::Operand& operand) {
    return std::get<ptx::RegisterOperand>(operand.value).index;
  }

  // Calls f(number) for the operand's registers that matter.
  template <typename F>
  void each_numbered(const ptx::Operand& operand, F f) const {
    each_register(operand, [&](uint32_t r) {
      if (const auto found = numbers_.find(r); found != numbers_.end()) f(found->second);
    });
  }

  void step(const ptx::Instruction& i, Ages& ages) const {
    if (i.opcode == "wgmma") return step_wgmma(i, ages);
    if (is_register_copy(i)) {
      const auto from = numbers_.find(register_of(i.operands[1]));
      const auto to = numbers_.find(register_of(i.operands[0]));
      if (to == numbers_.end()) return;
      const Age age = from == numbers_.end() ? kNotInFlight : ages.value_age(from->second);
      Age& copy = ages.copies[to->second];
      copy = i.guard ? std::min(copy, age) : age;
    } else if (writes_first_operand(i) && !i.guard) {
      each_numbered(i.operands[0], [&](size_t k) { ages.copies[k] = kNotInFlight; });
    }
  }

  void step_wgmma(const ptx::Instruction& i, Ages& ages) const {
    if (is_mma(i)) {
      each_numbered(i.operands[0], [&](size_t k) { ages.accumulators[k] = 0; });
      if (a_in_registers(i)) each_numbered(i.operands[1], [&](size_t k) { ages.fragments[k] = 0; });
    } else if (i.has("commit_group")) {
      ages.each([](Age& age) { age = std::min<Age>(static_cast<Age>(age + 1), kOldest); });
    } else if (i.has("wait_group")) {
      if (const auto* count = std::get_if<ptx::Constant>(&i.operands[0].value))
        ages.each([&](Age& age) {
          if (age > count->bits) age = kNotInFlight;
        });
    }
  }

  bool touches(const ptx::Instruction& i, const Ages& ages) const {
    bool found = false;
    const auto holds_value = [&](size_t k) { found = found || ages.value_age(k) != kNotInFlight; };
    if (i.opcode == "wgmma") {
      // More sums into the same accumulators are in order; A fragments must be there.
      if (is_mma(i) && a_in_registers(i)) each_numbered(i.operands[1], holds_value);
      return found;
    }
    for (const ptx::Operand& operand : i.operands) each_numbered(operand, holds_value);
    if (writes_first_operand(i))
      each_numbered(i.operands[0],
                    [&](size_t k) { found = found || ages.fragments[k] != kNotInFlight; });
    return found;
  }

  std::vector<FlowBlock> blocks_;
  std::unordered_map<uint32_t, size_t> numbers_;  // by register index
};

}  // namespace

bool is_register_copy(const ptx::Instruction& i) {
  if (i.opcode != "mov" || i.operands.size() != 2) return false;
  return std::all_of(i.operands.begin(), i.operands.end(), [](const ptx::Operand& operand) {
    const auto* r = std::get_if<ptx::RegisterOperand>(&operand.value);
    return r != nullptr && r->component == ptx::Component::Whole;
  });
}

std::unordered_set<const ptx::Instruction*> touches_in_flight(const ptx::Function& function) {
  return Search(function).run();
}

}  // namespace weft::emulator
