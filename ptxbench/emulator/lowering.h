// SPDX-License-Identifier: Apache-2.0

// Turns one function of a parsed module into ops. Each chapter of ops/ lists the opcodes it gives a
// meaning to; a meaning looks at the instruction once, picks a handler and asks here for operands.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "ptxbench/emulator/code.h"
#include "ptxbench/emulator/memory/lane_pointers.h"
#include "ptxbench/ptx/ast.h"

namespace weft::emulator {

class Lowering;
using MeaningFunction = Result<Done> (*)(Lowering& lowering, const ptx::Instruction& instruction);

struct Meaning {
  std::string_view opcode;
  MeaningFunction lower;
};

// Where a memory instruction's address comes from. `slot` holds 32 or 64-bit values, by lane.
struct Address {
  Slot slot = kNoSlot;
  bool wide = true;    // 64-bit values; else 32-bit
  int64_t offset = 0;  // bytes, added to each
  isa::Space space = isa::Space::Generic;
};

class Lowering {
 public:
  Lowering(ProgramImage& image, const ptx::Function& function, FunctionCode& code);

  // --- operands -------------------------------------------------------------------------------
  // Slot of a source operand, as 32 values of `bits(type)` wide. Constants go to the pool,
  // converted to `type` (integer to float literals as PTX says); a register wider than the type is
  // an error except for loads, stores and conversions, which use any_source. Special registers,
  // symbols and labels are materialised by ops emitted before the instruction.
  Result<Slot> source(const ptx::Operand& operand, isa::Type type);
  // The register's own width and slot, for instructions that take wider registers than their type.
  struct Sized {
    Slot slot = kNoSlot;
    int bits = 0;
  };
  Result<Sized> any_source(const ptx::Operand& operand, isa::Type type);
  // Slot of a destination register of at least the type's width; a fresh scratch slot for `_`.
  Result<Slot> destination(const ptx::Operand& operand, isa::Type type);
  Result<Sized> any_destination(const ptx::Operand& operand, isa::Type type);
  // A predicate source: its slot, and kAllLanes when it is negated (!%p). Constants 0/1 work too.
  struct PredicateSource {
    Slot slot = kNoSlot;
    LaneMask flip = 0;
  };
  Result<PredicateSource> predicate_source(const ptx::Operand& operand);
  Result<Slot> predicate_destination(const ptx::Operand& operand);
  // The elements of {…}; a lone register gives itself.
  std::vector<const ptx::Operand*> elements(const ptx::Operand& operand) const;
  // [base+offset] in the instruction's space (or `space`).
  Result<Address> address(const ptx::Operand& operand, isa::Space space);
  // Op::small of a load or store that looks its addresses up in Warp::known (memory/gather.h).
  uint32_t known_addresses(const Address& address);
  // The value of a constant operand, when it is one.
  std::optional<int64_t> constant(const ptx::Operand& operand) const;

  // --- ops --------------------------------------------------------------------------------------
  // Appends an op for the instruction being lowered, with its guard. The reference is valid until
  // the next emit.
  Op& emit(Handler handler);
  template <typename T>
  T* keep(std::unique_ptr<T> extra) {  // T derives from Extra
    T* raw = extra.get();
    code_.extras.push_back(std::move(extra));
    return raw;
  }
  Slot scratch(int bits);                      // a slot of its own, not shared with any register
  Slot pool(const void* lanes, size_t bytes);  // a constant slot with these 32 lanes' bytes
  template <typename T>
  Slot broadcast(T value) {
    T lanes[kLanes];
    for (T& lane : lanes) lane = value;
    return pool(lanes, sizeof lanes);
  }

  // --- errors ------------------------------------------------------------------------------------
  // A located diagnostic about the instruction being lowered.
  Error error(std::string message, std::string hint = {}) const;
  // The same about an operand that is not what the instruction takes there, or is not there at all.
  Error wrong_operand(const ptx::Operand& operand, std::string_view what,
                      std::string hint = {}) const;
  // The instruction is legal but has no meaning here yet: executing it is a fault, loading is not.
  Result<Done> unsupported(std::string what);

  // --- the rest of the program -------------------------------------------------------------------
  ProgramImage& image() { return image_; }
  const ptx::Function& function() const { return function_; }
  FunctionCode& code() { return code_; }
  // The op index of a label is known only at the end: give the op and it will be patched
  // (immediate).
  void patch_label(size_t op_index, uint32_t label);
  // The same for an entry of a jump table that an Extra owns.
  void patch_table(std::vector<uint32_t>* table, size_t position, uint32_t label);
  // Place of a .param or .local variable of this function in the frame's local bytes.
  uint32_t variable_offset(uint32_t variable) const;
  uint32_t parameter_offset(uint32_t parameter) const;
  uint32_t return_offset(uint32_t parameter) const;
  Slot register_slot(uint32_t index) const { return register_slots_[index]; }
  // Instructions that may touch registers of a wgmma in flight (ops/accumulator_hazard.h).
  const std::unordered_set<const ptx::Instruction*>& touches_in_flight();

  Result<Done> run();

 private:
  Result<Done> lower_instruction(const ptx::Instruction& instruction);
  void clear_early_reads();  // fills FunctionCode::cleared
  Slot allocate(int bits, int vector_width);
  Slot constant_slot(const ptx::Constant& constant, isa::Type type);
  Result<Slot> symbol_address(const ptx::SymbolOperand& symbol, bool wide);

  ProgramImage& image_;
  const ptx::Function& function_;
  FunctionCode& code_;
  std::vector<Slot> register_slots_;  // by register index
  std::vector<uint32_t> variable_offsets_;
  std::vector<uint32_t> parameter_offsets_, return_offsets_;
  std::vector<std::byte> pool_;
  std::vector<std::pair<size_t, size_t>> pool_entries_;  // where each begins and ends in pool_
  std::unordered_map<std::string, Slot> pool_index_;     // bytes of a pool entry -> slot
  std::vector<std::pair<size_t, uint32_t>> label_patches_;
  struct TablePatch {
    std::vector<uint32_t>* table;
    size_t position;
    uint32_t label;
  };
  std::vector<TablePatch> table_patches_;
  std::vector<uint32_t> label_targets_;
  const ptx::Instruction* current_ = nullptr;
  // Whose addresses Warp::known holds here, when nothing has jumped since; kNoSlot: nobody's.
  Address known_[kKnownAddresses];
  uint32_t next_known_ = 0;
  std::vector<Slot> written_;  // by the instruction that is lowered
  void forget_known() { std::fill(std::begin(known_), std::end(known_), Address{}); }
  std::optional<std::unordered_set<const ptx::Instruction*>> touches_;  // once asked for
};

// The key of a shared variable in ProgramImage::shared_offsets.
std::string shared_key(const ptx::Function& function, const ptx::Variable& variable);
// One line of the module's text, 1-based; empty when there is none.
std::string line_of_text(const ptx::Module& module, uint32_t line);
// Ends every function: `ret` for whatever runs off the last instruction (ops/control_flow.cc).
void append_final_return(Lowering& lowering);

// One line per chapter: the meanings of each file in ops/.
std::span<const Meaning> integer_arithmetic_meanings();
std::span<const Meaning> float_arithmetic_meanings();
std::span<const Meaning> half_arithmetic_meanings();
std::span<const Meaning> comparison_meanings();
std::span<const Meaning> logic_shift_meanings();
std::span<const Meaning> conversion_meanings();
std::span<const Meaning> data_movement_meanings();
std::span<const Meaning> control_flow_meanings();
std::span<const Meaning> atomics_meanings();
std::span<const Meaning> warp_exchange_meanings();
std::span<const Meaning> video_meanings();
std::span<const Meaning> barriers_meanings();
std::span<const Meaning> mbarrier_meanings();
std::span<const Meaning> async_copy_meanings();
std::span<const Meaning> tensor_copy_meanings();
std::span<const Meaning> cluster_meanings();
std::span<const Meaning> matrix_meanings();
std::span<const Meaning> warpgroup_matrix_meanings();
std::span<const Meaning> hints_meanings();
std::span<const Meaning> stack_meanings();

// Nullptr: no chapter gives the opcode a meaning.
MeaningFunction find_meaning(std::string_view opcode);

}  // namespace weft::emulator
