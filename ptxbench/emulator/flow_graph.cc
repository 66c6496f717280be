// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/flow_graph.h"

#include "ptxbench/isa/form.h"

namespace weft::emulator {

namespace {

bool ends_path(const ptx::Instruction& i) {
  return !i.guard && (i.opcode == "ret" || i.opcode == "exit" || i.opcode == "trap");
}
bool is_branch(const ptx::Instruction& i) {
  return i.opcode == "bra" || i.opcode == "brx";
}

}  // namespace

std::vector<FlowBlock> flow_blocks(const ptx::Function& function) {
  std::vector<FlowBlock> blocks(1);
  std::vector<uint32_t> block_of_label(function.labels.size(), 0);
  std::vector<uint32_t> listed;  // labels of indirect branches
  bool open = true;              // the last block goes on
  const auto begin_block = [&](bool reached) {
    if (reached) blocks.back().next.push_back(static_cast<uint32_t>(blocks.size()));
    blocks.emplace_back();
    open = true;
  };
  for (const ptx::Statement& statement : function.body) {
    if (const auto* label = std::get_if<ptx::LabelStatement>(&statement)) {
      begin_block(open);
      block_of_label[label->index] = static_cast<uint32_t>(blocks.size() - 1);
    } else if (const auto* list = std::get_if<ptx::BranchTargets>(&statement)) {
      listed.insert(listed.end(), list->labels.begin(), list->labels.end());
    } else if (const auto* instruction = std::get_if<ptx::Instruction>(&statement)) {
      if (!open) begin_block(false);
      blocks.back().instructions.push_back(instruction);
      if (ends_path(*instruction))
        open = false;
      else if (is_branch(*instruction) && !instruction->guard)
        open = false;
      else if (is_branch(*instruction))
        begin_block(true);
    }
  }
  for (FlowBlock& block : blocks) {
    if (block.instructions.empty() || !is_branch(*block.instructions.back())) continue;
    const ptx::Instruction& branch = *block.instructions.back();
    if (branch.opcode == "brx")
      for (const uint32_t label : listed) block.next.push_back(block_of_label[label]);
    else if (const auto* to = std::get_if<ptx::LabelOperand>(&branch.operands.back().value))
      block.next.push_back(block_of_label[to->index]);
  }
  return blocks;
}

bool writes_first_operand(const ptx::Instruction& i) {
  if (i.operands.empty() || i.opcode == "wgmma" || i.form->operand_count == 0) return false;
  const std::string_view name = i.form->operand_name(0);
  return (name == "d" || name == "p") && i.form->operands[0].shape != isa::OperandShape::Address &&
         !std::holds_alternative<ptx::AddressOperand>(i.operands[0].value);
}

bool RegisterSet::add_all(const RegisterSet& other, const RegisterSet& without) {
  bool grown = false;
  for (size_t w = 0; w < words_.size(); ++w) {
    const uint64_t sum = words_[w] | (other.words_[w] & ~without.words_[w]);
    grown = grown || sum != words_[w];
    words_[w] = sum;
  }
  return grown;
}

std::vector<RegisterSet> alive_at_start(const ptx::Function& function,
                                        const std::vector<FlowBlock>& blocks) {
  const RegisterSet none(function.registers.size());
  std::vector<RegisterSet> needed(blocks.size(), none), written(blocks.size(), none);
  // A component of a vector register, or part of it, leaves the rest as it was.
  const auto whole = [](const ptx::Operand& operand) {
    const auto* r = std::get_if<ptx::RegisterOperand>(&operand.value);
    return r == nullptr || (r->component == ptx::Component::Whole && r->selector.empty());
  };
  for (size_t b = 0; b < blocks.size(); ++b) {
    const auto read = [&](uint32_t r) {
      if (!written[b].holds(r)) needed[b].add(r);
    };
    for (const ptx::Instruction* i : blocks[b].instructions) {
      const bool first_is_result = writes_first_operand(*i) && whole(i->operands[0]);
      for (size_t k = first_is_result ? 1 : 0; k < i->operands.size(); ++k)
        each_register(i->operands[k], read);
      if (i->guard) read(i->guard->register_index);
      if (first_is_result && !i->guard)
        each_register(i->operands[0], [&](uint32_t r) { written[b].add(r); });
    }
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t b = blocks.size(); b-- > 0;)
      for (const uint32_t next : blocks[b].next)
        grown = needed[b].add_all(needed[next], written[b]) || grown;
  }
  return needed;
}

RegisterSet read_before_written(const ptx::Function& function) {
  return alive_at_start(function, flow_blocks(function))[0];
}

}  // namespace weft::emulator
