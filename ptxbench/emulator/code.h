// SPDX-License-Identifier: Apache-2.0

// Lowered functions and loaded programs: what a launch needs, with names gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptxbench/emulator/machine.h"
#include "ptxbench/emulator/op.h"

namespace weft::emulator {

// A 64-byte aligned block of bytes, zero at first, for registers, constants and shared memory.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t size, size_t alignment = 64);
  ~AlignedBytes();
  AlignedBytes(AlignedBytes&& other) noexcept;
  AlignedBytes& operator=(AlignedBytes&& other) noexcept;
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void* block_ = nullptr;  // what data_ is inside of
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Base of objects that Op::extra points to.
struct Extra {
  virtual ~Extra() = default;
};

// Of an instruction whose opcode does not tell how much it does: what all workers issued, added up
// until the counts are reset.
struct CountedExtra : Extra {
  mutable std::atomic<uint64_t> operations{0};  // a multiply-add is two
};

// A parameter or return value of a device function: its place in the frame's local bytes, or, for
// old-style register parameters, its slot.
struct ParameterPlace {
  uint32_t offset = 0;  // from the frame's local base
  uint32_t size = 0;    // bytes
  Slot slot = kNoSlot;  // register parameter
};

struct FunctionCode {
  const ptx::Function* source = nullptr;
  std::string name;
  std::vector<Op> ops;
  std::vector<const ptx::Instruction*> instructions;
  // Those without a meaning, with what is missing.
  std::vector<std::pair<const ptx::Instruction*, std::string>> unsupported;
  // The op that counts for an instruction is the first that comes from it.
  std::vector<uint32_t> counting_op;  // by instruction
  uint32_t register_bytes = 0;        // all slots of one warp
  // Slots that may be read before they are written: zero when a block begins, so that every run is
  // the same. What other slots hold then is never seen.
  struct SlotRange {
    Slot first = 0;
    uint32_t bytes = 0;
  };
  std::vector<SlotRange> cleared;
  AlignedBytes constants;
  uint32_t local_bytes = 0;  // of one lane: .local variables and .param areas
  std::vector<ParameterPlace> parameters, returns;
  std::vector<std::unique_ptr<Extra>> extras;
  uint32_t first_counter = 0;  // of this function in a worker's counters
};

struct Counter {
  uint64_t warps = 0;
  uint64_t lanes = 0;
};

// What one worker counts, by FunctionCode::first_counter + op. An op without a guard runs for every
// active lane, so a run of ops from `first` to before `last` is noted at its two ends only: counts
// are sums of `edges` up to the op (modulo 2^64). Ops with a guard are counted one by one.
struct Tally {
  explicit Tally(uint32_t counter_count) : guarded(counter_count), edges(counter_count + 1) {}
  std::vector<Counter> guarded, edges;

  void add_run(uint32_t first, uint32_t last, uint64_t lanes) {
    ++edges[first].warps;
    edges[first].lanes += lanes;
    --edges[last].warps;
    edges[last].lanes -= lanes;
  }
  void add_guarded(uint32_t counter, uint64_t lanes) {
    ++guarded[counter].warps;
    guarded[counter].lanes += lanes;
  }
};

class ProgramImage;

class Kernel {
 public:
  KernelInfo info;
  const FunctionCode* code = nullptr;
  ProgramImage* program = nullptr;
  uint32_t static_shared = 0;
};

// A loaded program. Function pointers that kernels see are addresses inside `function_tokens`.
class ProgramImage final : public Program {
 public:
  ~ProgramImage() override;
  const ptx::Module& module() const override { return *module_; }
  const Kernel* find_kernel(std::string_view name) const override;
  std::vector<const Kernel*> kernels() const override;
  std::optional<Symbol> find_variable(std::string_view name) const override;
  std::vector<InstructionCount> counts() const override;
  void reset_counts() override;
  std::vector<UnsupportedInstruction> unsupported() const override;

  // Adds what one worker counted; called once per launch and worker.
  void add_counts(const Tally& tally);
  const FunctionCode* function_at(
      uint64_t token) const;  // an indirect call's target; nullptr: none
  void size_counts();         // after counter_count is known
  static constexpr uint64_t kFunctionTokenStep = 16;

  std::shared_ptr<const ptx::Module> module_;
  GlobalMemory* memory = nullptr;
  Checks checks;
  std::vector<std::unique_ptr<FunctionCode>> functions;
  std::unordered_map<std::string, FunctionCode*> function_by_name;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::unordered_map<std::string, Symbol> variables;
  std::unordered_map<std::string, uint32_t> shared_offsets;  // module-scope .shared variables
  uint32_t shared_bytes = 0;                                 // static shared memory of the module
  uint32_t dynamic_shared_alignment = 16;                    // of `.extern .shared` arrays
  uint64_t function_tokens = 0;  // device address; function i's token is 16 i bytes on
  uint32_t counter_count = 0;

 private:
  std::vector<std::atomic<uint64_t>> warps_, lanes_;  // by counter
};

}  // namespace weft::emulator
