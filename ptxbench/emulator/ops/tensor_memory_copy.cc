// SPDX-License-Identifier: Apache-2.0

// tcgen05.cp (PTX ISA 9.0, section 9.7.16.9.2): rows of a matrix in shared memory into tensor
// memory, in the order of the tensor core's other work. Which lanes row r goes to:
//   128x256b, 128x128b         r
//   4x256b                     32 r from the lane of the address
//   64x128b.warpx2::02_13      r and r + 64
//   64x128b.warpx2::01_23      r % 32 + 64 (r / 32), and 32 further
//   32x128b.warpx4             r, and 32, 64 and 96 further
//
// Decompression (section 9.7.16.9.1) makes 16 bytes of 16 elements that lie at the front of 16
// bytes of shared memory: elements of six bits stand in the lower bits of theirs, elements of four
// bits in bits 2 to 5.

#include <array>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/invariant.h"
#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/tensor_core.h"
#include "ptxbench/emulator/ops/tensor_operand.h"
#include "ptxbench/emulator/tampering.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

struct CopyPlan final : Extra {
  int rows = 0, chunks = 0;  // chunks: 16 bytes of a row, four columns
  int copies = 1;            // lanes that a row goes to
  int row_step = 1;          // lanes from row to row
  int copy_step = 0;         // lanes from copy to copy
  bool halves = false;       // the second half of the rows begins at lane 64
  bool pair = false;
  int bits = 0;  // of the elements that are decompressed; 0: none are
  Address address;
  Slot descriptor = kNoSlot;

  uint32_t lane(int row, int copy) const {
    const int place = halves ? row % 32 + 64 * (row / 32) : row * row_step;
    return static_cast<uint32_t>(place + copy * copy_step);
  }
  uint32_t columns() const { return static_cast<uint32_t>(4 * chunks); }
};

void decompress(std::byte* bytes, int bits) {
  std::byte packed[16];
  std::memcpy(packed, bytes, sizeof packed);
  for (int i = 0; i < 16; ++i) {
    const int first = i * bits;
    uint32_t word = static_cast<uint32_t>(packed[first / 8]);
    if (first % 8 + bits > 8) word |= static_cast<uint32_t>(packed[first / 8 + 1]) << 8;
    const uint32_t element = word >> first % 8 & ((1u << bits) - 1);
    bytes[i] = static_cast<std::byte>(bits == 4 ? element << 2 : element);
  }
}

class TensorMemoryCopy final : public AsyncOperation {
 public:
  IssuePlace place;
  const CopyPlan* plan = nullptr;
  std::array<Block*, 2> blocks{};  // each from its own shared memory; the second may be nullptr
  std::array<uint64_t, 2> numbers{};
  TensorAddress at;
  uint64_t descriptor = 0;

  bool perform(Cluster&) override {
    auto& waiting = tensor_memory_of(*blocks[0]).products;
    INVARIANT(!waiting.empty() && waiting.front() == nullptr);
    waiting.pop_front();
    for (size_t k = 0; k < blocks.size() && blocks[k] != nullptr; ++k) {
      if (!fill(*blocks[k])) return false;
      tensor_memory_of(*blocks[k]).landed(numbers[k]);
    }
    return true;
  }

 private:
  bool fill(Block& block) const {
    TensorMemory& memory = tensor_memory_of(block);
    if (std::string why = memory.problem(at.column, plan->columns()); !why.empty())
      return place.fault(FaultKind::TensorMemory, std::move(why));
    const MatrixDescriptor decoded = decode_descriptor(descriptor);
    const OperandRows rows = descriptor_rows(decoded, Major::Depth, block.shared.data());
    uint64_t offset = 0;
    if (std::string why =
            outside_shared(rows, (plan->rows + 7) / 8, plan->chunks, block.shared.size(), offset);
        !why.empty())
      return place.fault(FaultKind::InvalidDescriptor, "the descriptor " + why, offset,
                         {describe(decoded)});
    for (int row = 0; row < plan->rows; ++row)
      for (int chunk = 0; chunk < plan->chunks; ++chunk) {
        uint32_t words[4];
        std::memcpy(words,
                    rows.at(static_cast<uint32_t>(row / 8), static_cast<uint32_t>(row % 8),
                            static_cast<uint32_t>(chunk)),
                    sizeof words);
        if (plan->bits != 0) decompress(reinterpret_cast<std::byte*>(words), plan->bits);
        if (tampering().copies) write_nonsense(reinterpret_cast<std::byte*>(words), sizeof words);
        for (int copy = 0; copy < plan->copies; ++copy)
          for (uint32_t w = 0; w < 4; ++w)
            memory.word(at.lane + plan->lane(row, copy),
                        at.column + static_cast<uint32_t>(4 * chunk) + w) = words[w];
      }
    return true;
  }
};

// Tells the hazard check which rows are read; false after a fault.
bool check_rows(Warp& warp, const Op& op, int lane, const CopyPlan& plan,
                const TensorMemoryCopy& copy) {
  HazardCheck* hazards = hazards_of(warp);
  if (hazards == nullptr) return true;
  hazards->begin_tensor(warp);
  // Copies of four rows read half of a group.
  const int groups = plan.rows / 8;
  for (Block* block : copy.blocks) {
    if (block == nullptr || groups == 0) continue;
    const SharedOperand operand{.rows = descriptor_rows(decode_descriptor(copy.descriptor),
                                                        Major::Depth, block->shared.data()),
                                .groups = groups,
                                .chunks = plan.chunks};
    if (reach(operand.rows, groups, plan.chunks) > block->shared.size()) continue;
    if (!hazards->tensor_reads(warp, op, lane, *block, operand)) return false;
  }
  return true;
}

bool issue(Warp& warp, const Op& op, int lane) {
  const auto& plan = *static_cast<const CopyPlan*>(op.extra);
  auto copy = std::make_unique<TensorMemoryCopy>();
  copy->place = issue_place(warp, op, lane);
  copy->plan = &plan;
  copy->blocks = {warp.block, plan.pair ? pair_of(*warp.block) : nullptr};
  if (plan.pair && copy->blocks[1] == nullptr) {
    warp.fault(op, lane, FaultKind::InvalidInstruction,
               "cta_group::2 needs an even number of blocks in the cluster");
    return false;
  }
  copy->at = tensor_address(static_cast<uint32_t>(
      lane_address(warp, plan.address.slot, plan.address.wide, plan.address.offset, lane)));
  copy->descriptor = warp.read<uint64_t>(plan.descriptor)[lane];
  if (std::string why = operand_problem(copy->descriptor, TileElement::S8, Major::Depth);
      !why.empty()) {
    warp.fault(op, lane, FaultKind::InvalidDescriptor, std::move(why));
    return false;
  }
  const uint32_t furthest = copy->at.lane + plan.lane(plan.rows - 1, plan.copies - 1);
  if (furthest >= kTensorLanes) {
    warp.fault(op, lane, FaultKind::TensorMemory,
               fmt::format("the copy reaches lane {} of tensor memory, which has {}", furthest,
                           kTensorLanes));
    return false;
  }
  const TensorRange range{copy->at.column, plan.columns(), 0xffff};
  for (size_t k = 0; k < 2 && copy->blocks[k] != nullptr; ++k) {
    TensorMemory& memory = tensor_memory_of(*copy->blocks[k]);
    if (std::string why = memory.problem(range.column, range.columns); !why.empty()) {
      warp.fault(op, lane, FaultKind::TensorMemory, std::move(why));
      return false;
    }
    copy->numbers[k] = memory.operations++;
    memory.in_flight.push_back({copy->numbers[k], range, true, copy->place.instruction});
  }
  if (!check_rows(warp, op, lane, plan, *copy)) return false;
  TensorMemory& memory = tensor_memory_of(*warp.block);
  // Products issued after the copy are not carried out together with those before it.
  memory.products.push_back(nullptr);
  const uint64_t due =
      tensor_core_due(*warp.block->cluster, memory,
                      copy->blocks[1] == nullptr ? nullptr : &tensor_memory_of(*copy->blocks[1]));
  warp.block->cluster->async.submit(std::move(copy), due);
  return true;
}

Outcome run_copy(Warp& warp, const Op& op, LaneMask exec) {
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1)
    if (!issue(warp, op, first_lane(rest))) return Outcome::Fault;
  return Outcome::Next;
}

}  // namespace

Result<Done> lower_tensor_memory_copy(Lowering& l, const ptx::Instruction& i) {
  auto plan = std::make_unique<CopyPlan>();
  plan->bits = i.has("b4x16_p64") ? 4 : i.has("b6x16_p32") ? 6 : 0;
  plan->chunks = i.has("128x256b") || i.has("4x256b") ? 2 : 1;
  plan->rows = i.has("4x256b") ? 4 : i.has("64x128b") ? 64 : i.has("32x128b") ? 32 : 128;
  if (i.has("4x256b")) plan->row_step = 32;
  if (i.has("warpx4")) {
    plan->copies = 4;
    plan->copy_step = 32;
  } else if (plan->rows == 64) {
    plan->halves = i.has("warpx2::01_23");
    plan->copies = 2;
    plan->copy_step = plan->halves ? 32 : 64;
  }
  plan->pair = i.has("cta_group::2");
  plan->address = TRY(l.address(i.operands[0], i.space));
  plan->descriptor = TRY(l.source(i.operands[1], isa::Type::B64));
  const CopyPlan* kept = l.keep(std::move(plan));
  l.emit(run_copy).extra = kept;
  return Done{};
}

}  // namespace weft::emulator
