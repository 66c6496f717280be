// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/code.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <utility>

namespace weft::emulator {

AlignedBytes::AlignedBytes(size_t size, size_t alignment) : size_(size) {
  if (size == 0) return;
  // calloc takes large blocks from the system as zero pages: what is never touched costs nothing.
  block_ = std::calloc(1, size + alignment - 1);
  if (block_ == nullptr) throw std::bad_alloc();
  size_t space = size + alignment - 1;
  void* aligned = block_;
  data_ = static_cast<std::byte*>(std::align(alignment, size, aligned, space));
}

AlignedBytes::~AlignedBytes() {
  std::free(block_);
}

AlignedBytes::AlignedBytes(AlignedBytes&& other) noexcept
    : block_(std::exchange(other.block_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

AlignedBytes& AlignedBytes::operator=(AlignedBytes&& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

ProgramImage::~ProgramImage() {
  if (memory == nullptr) return;
  for (const auto& [name, symbol] : variables) memory->free(symbol.address);
  if (function_tokens != 0) memory->free(function_tokens);
}

const Kernel* ProgramImage::find_kernel(std::string_view name) const {
  for (const auto& kernel : kernels_)
    if (kernel->info.name == name) return kernel.get();
  return nullptr;
}

std::vector<const Kernel*> ProgramImage::kernels() const {
  std::vector<const Kernel*> list;
  for (const auto& kernel : kernels_) list.push_back(kernel.get());
  return list;
}

std::optional<Program::Symbol> ProgramImage::find_variable(std::string_view name) const {
  const auto found = variables.find(std::string(name));
  if (found == variables.end()) return std::nullopt;
  return found->second;
}

namespace {

// Those of a function, by what Op::extra says.
std::map<const void*, CountedExtra*> counted_extras(const FunctionCode& function) {
  std::map<const void*, CountedExtra*> found;
  for (const auto& extra : function.extras)
    if (auto* counted = dynamic_cast<CountedExtra*>(extra.get()))
      found[dynamic_cast<const void*>(extra.get())] = counted;
  return found;
}

}  // namespace

std::vector<InstructionCount> ProgramImage::counts() const {
  std::vector<InstructionCount> list;
  for (const auto& function : functions) {
    const std::map<const void*, CountedExtra*> counted = counted_extras(*function);
    for (size_t i = 0; i < function->instructions.size(); ++i) {
      const uint32_t counter = function->first_counter + function->counting_op[i];
      InstructionCount count{function->instructions[i], warps_[counter].load(),
                             lanes_[counter].load(), std::nullopt};
      const auto extra = counted.empty()
                             ? counted.end()
                             : counted.find(function->ops[function->counting_op[i]].extra);
      if (extra != counted.end()) count.operations = extra->second->operations.load();
      list.push_back(count);
    }
  }
  return list;
}

std::vector<UnsupportedInstruction> ProgramImage::unsupported() const {
  std::vector<UnsupportedInstruction> all;
  for (const auto& code : functions)
    for (const auto& [instruction, what] : code->unsupported)
      all.push_back({instruction, code->name, what});
  return all;
}

void ProgramImage::reset_counts() {
  for (auto& value : warps_) value = 0;
  for (auto& value : lanes_) value = 0;
  for (const auto& function : functions)
    for (const auto& [place, extra] : counted_extras(*function)) extra->operations = 0;
}

void ProgramImage::add_counts(const Tally& tally) {
  Counter running;
  for (const auto& function : functions)
    for (size_t k = 0; k < function->ops.size(); ++k) {
      const size_t i = function->first_counter + k;
      running.warps += tally.edges[i].warps;
      running.lanes += tally.edges[i].lanes;
      const Counter& count = function->ops[k].guard == kNoSlot ? running : tally.guarded[i];
      if (count.warps == 0) continue;
      warps_[i].fetch_add(count.warps, std::memory_order_relaxed);
      lanes_[i].fetch_add(count.lanes, std::memory_order_relaxed);
    }
}

void ProgramImage::size_counts() {
  warps_ = std::vector<std::atomic<uint64_t>>(counter_count);
  lanes_ = std::vector<std::atomic<uint64_t>>(counter_count);
}

const FunctionCode* ProgramImage::function_at(uint64_t token) const {
  const uint64_t index = (token - function_tokens) / kFunctionTokenStep;
  if (token < function_tokens || index >= functions.size()) return nullptr;
  return functions[index].get();
}

}  // namespace weft::emulator
