// SPDX-License-Identifier: Apache-2.0

// cp.async.bulk and cp.reduce.async.bulk without .tensor: runs of bytes between global memory and
// the shared memories of a cluster, and the groups they complete in (PTX ISA 9.0, section
// 9.7.9.25.4). Each active lane issues a copy of its own.

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "ptxbench/emulator/bulk_reduction.h"
#include "ptxbench/emulator/bulk_transfer.h"
#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/copy_groups.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/async_copy.h"
#include "ptxbench/emulator/tampering.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Space;
using isa::Type;

constexpr uint32_t kBulkAlignment = 16;

struct BulkForm : Extra {
  IntoShared into;              // copies into shared memory
  Address source, destination;  // `destination`: copies into global memory
  Slot size = kNoSlot;
  Slot byte_mask = kNoSlot;  // .cp_mask: which bytes of each 16 are written
  Slot ignored_left = kNoSlot, ignored_right = kNoSlot;  // .ignore_oob
  Combine combine = nullptr;                             // nullptr: a plain copy
};

// Into shared memory

struct CopyIn final : AsyncOperation {
  IssuePlace place;
  const std::byte* source = nullptr;
  uint32_t bytes = 0;
  uint32_t left = 0, right = 0;  // bytes at the ends that are not read
  Combine combine = nullptr;
  std::vector<Destination> destinations;

  bool perform(Cluster&) override {
    for (const Destination& destination : destinations) {
      if (combine != nullptr)
        combine(destination.data(), source, bytes);
      else
        std::memmove(destination.data() + left, source + left, bytes - left - right);
      if (tampering().copies) write_nonsense(destination.data(), bytes);
    }
    return complete_transactions(place, destinations, bytes);
  }
};

// Out of shared memory

class WriteGlobal final : public CopyOut {
 public:
  WriteGlobal(std::byte* to, uint32_t bytes, Combine combine, uint32_t byte_mask)
      : to_(to), bytes_(bytes), combine_(combine), byte_mask_(byte_mask) {}

 private:
  void write(const std::byte* bytes) override {
    if (combine_ != nullptr) {
      combine_(to_, bytes, bytes_);
    } else if (byte_mask_ == 0xffff) {
      std::memcpy(to_, bytes, bytes_);
    } else {
      for (uint32_t i = 0; i < bytes_; ++i)
        if ((byte_mask_ >> (i % 16) & 1) != 0) to_[i] = bytes[i];
    }
  }

  std::byte* to_;
  uint32_t bytes_;
  Combine combine_;
  uint32_t byte_mask_;
};

bool size_in_order(Warp& warp, const Op& op, int lane, uint32_t bytes) {
  if (bytes % kBulkAlignment == 0) return true;
  warp.fault(op, lane, FaultKind::InvalidInstruction,
             fmt::format("size of the bulk copy is not a multiple of 16 bytes: {}", bytes));
  return false;
}

// Host address of a range of global memory that is aligned as bulk copies need; nullptr after a
// fault.
std::byte* global_range(Warp& warp, const Op& op, int lane, uint64_t address, uint32_t bytes,
                        AccessKind kind) {
  if (address % kBulkAlignment != 0) {
    warp.fault(op, lane, FaultKind::InvalidInstruction,
               fmt::format("global address of the bulk copy is not a multiple of 16 bytes: {:#x}",
                           address),
               address);
    return nullptr;
  }
  return access(warp, op, lane, Space::Global, address, bytes, 1, kind);
}

bool issue_into_shared(Warp& warp, const Op& op, int lane, const BulkForm& form) {
  const uint32_t bytes = warp.read<uint32_t>(form.size)[lane];
  if (!size_in_order(warp, op, lane, bytes)) return false;
  auto copy = std::make_unique<CopyIn>();
  copy->place = issue_place(warp, op, lane);
  copy->bytes = bytes;
  copy->combine = form.combine;
  if (form.ignored_left != kNoSlot) {
    copy->left = warp.read<uint32_t>(form.ignored_left)[lane];
    copy->right = warp.read<uint32_t>(form.ignored_right)[lane];
    if (copy->left > 15 || copy->right > 15 || copy->left + copy->right > bytes) {
      warp.fault(op, lane, FaultKind::InvalidInstruction,
                 "cp.async.bulk.ignore_oob ignores more than 15 bytes at an end");
      return false;
    }
  }
  if (!find_destinations(warp, op, lane, form.into, bytes, kBulkAlignment, copy->destinations))
    return false;
  if (bytes != 0 && form.source.space == Space::Global) {
    // Only the bytes that are read have to exist.
    const uint64_t address = address_of(warp, form.source, lane);
    const uint32_t read = bytes - copy->left - copy->right;
    if (address % kBulkAlignment != 0) {
      global_range(warp, op, lane, address, read, AccessKind::Read);
      return false;
    }
    const std::byte* first =
        access(warp, op, lane, Space::Global, address + copy->left, read, 1, AccessKind::Read);
    if (first == nullptr) return false;
    copy->source = first - copy->left;
  } else {
    copy->source = shared_source(warp, op, lane, form.source, bytes, kBulkAlignment);
    if (copy->source == nullptr) return false;
    if (HazardCheck* hazards = hazards_of(warp); hazards != nullptr && !copy->destinations.empty())
      if (!hazards->copy_from(copy->destinations.front().promise, warp, op, lane, copy->source,
                              bytes))
        return false;
  }
  submit_after(*warp.block->cluster, std::move(copy), kBulkCopyLatency);
  return true;
}

bool issue_to_global(Warp& warp, const Op& op, int lane, const BulkForm& form) {
  const uint32_t bytes = warp.read<uint32_t>(form.size)[lane];
  if (!size_in_order(warp, op, lane, bytes)) return false;
  const std::byte* source = shared_source(warp, op, lane, form.source, bytes, kBulkAlignment);
  if (source == nullptr || bytes == 0) return source != nullptr;
  const auto kind = form.combine != nullptr ? AccessKind::Atomic : AccessKind::Write;
  std::byte* to =
      global_range(warp, op, lane, address_of(warp, form.destination, lane), bytes, kind);
  if (to == nullptr) return false;
  const uint32_t mask =
      form.byte_mask == kNoSlot ? 0xffffu : warp.read<uint16_t>(form.byte_mask)[lane];
  return submit_copy_out(warp, op, lane, source, bytes,
                         std::make_unique<WriteGlobal>(to, bytes, form.combine, mask),
                         kBulkCopyLatency);
}

template <bool (*kIssue)(Warp&, const Op&, int, const BulkForm&)>
Outcome run_copy(Warp& warp, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const BulkForm*>(op.extra);
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1)
    if (!kIssue(warp, op, first_lane(rest), form)) return Outcome::Fault;
  return Outcome::Next;
}

Outcome run_commit(Warp& warp, const Op&, LaneMask exec) {
  copy_groups(warp).bulk.commit(exec);
  if (HazardCheck* hazards = hazards_of(warp)) hazards->commit(warp, CopyQueue::Bulk, exec);
  return Outcome::Next;
}

template <GroupStage kStage>
Outcome run_wait(Warp& warp, const Op& op, LaneMask exec) {
  const auto allowed = static_cast<uint32_t>(op.immediate);
  if (!copy_groups(warp).bulk.settled(exec, allowed, kStage))
    return warp.retry(Split::Wait::AsyncGroup, 1, allowed);
  if (HazardCheck* hazards = hazards_of(warp)) hazards->wait(warp, CopyQueue::Bulk, exec, allowed);
  return Outcome::Next;
}

// Prefetches move nothing that a program could see.
Outcome run_nothing(Warp&, const Op&, LaneMask) {
  return Outcome::Next;
}

// Lowering

std::optional<Space> space_word(std::string_view modifier) {
  if (modifier == "global") return Space::Global;
  if (modifier == "shared::cta" || modifier == "shared") return Space::Shared;
  if (modifier == "shared::cluster") return Space::SharedCluster;
  return std::nullopt;
}

// Destination and source spaces: the first two state spaces written.
std::array<Space, 2> copy_direction(const ptx::Instruction& i) {
  std::array<Space, 2> spaces{Space::Generic, Space::Generic};
  size_t found = 0;
  for (const std::string_view modifier : i.modifiers)
    if (const auto space = space_word(modifier); space && found < 2) spaces[found++] = *space;
  return spaces;
}

// The reduction that the modifiers name; nullptr for a plain copy.
// A struct, since GCC takes a Result of a bare function pointer for a class that shadows its
// members.
struct Reduction {
  Combine combine;
};

Result<Reduction> reduction(Lowering& l, const ptx::Instruction& i) {
  if (!i.has("reduce")) return Reduction{nullptr};
  constexpr std::string_view kOperations[] = {"add", "min", "max", "inc",
                                              "dec", "and", "or",  "xor"};
  for (const std::string_view operation : kOperations)
    if (i.has(operation) && !i.types.empty()) {
      const bool bitwise = operation == "and" || operation == "or" || operation == "xor";
      Type type = i.types.back();
      // The manual's examples write .xor.s32: bits have no sign.
      if (bitwise && isa::bits(type) == 32) type = Type::B32;
      if (bitwise && isa::bits(type) == 64) type = Type::B64;
      if (operation == "add" && type == Type::S64) type = Type::U64;
      if (const Combine combine = find_reduction(operation, type)) return Reduction{combine};
    }
  return l.error("cp.reduce.async.bulk does not combine this operation and type",
                 "see the table of operations and types in PTX ISA 9.7.9.25.4.2");
}

Result<Done> lower_wait(Lowering& l, const ptx::Instruction& i) {
  const auto allowed = l.constant(i.operands[0]);
  if (!allowed || *allowed < 0)
    return l.error("cp.async.bulk.wait_group needs a constant number of groups");
  l.emit(i.has("read") ? run_wait<GroupStage::SourceRead> : run_wait<GroupStage::Complete>)
      .immediate = *allowed;
  return Done{};
}

}  // namespace

Result<Done> lower_bulk_copy(Lowering& l, const ptx::Instruction& i) {
  if (i.has("commit_group")) {
    l.emit(run_commit);
    return Done{};
  }
  if (i.has("wait_group")) return lower_wait(l, i);
  if (i.has("prefetch")) {
    l.emit(run_nothing);
    return Done{};
  }
  const auto [to, from] = copy_direction(i);
  auto form = std::make_unique<BulkForm>();
  form->combine = TRY(reduction(l, i)).combine;
  form->into.combines = form->combine != nullptr;
  form->source = TRY(l.address(i.operands[1], from));
  form->size = TRY(l.source(i.operands[2], Type::U32));
  size_t next = 3;
  if (to == Space::Global) {
    form->destination = TRY(l.address(i.operands[0], Space::Global));
    if (i.has("L2::cache_hint")) ++next;
    if (i.has("cp_mask")) form->byte_mask = TRY(l.source(i.operands[next], Type::B16));
    const BulkForm* kept = l.keep(std::move(form));
    l.emit(run_copy<issue_to_global>).extra = kept;
    return Done{};
  }
  if (i.has("ignore_oob")) {
    form->ignored_left = TRY(l.source(i.operands[next++], Type::U32));
    form->ignored_right = TRY(l.source(i.operands[next++], Type::U32));
  }
  form->into.destination = TRY(l.address(i.operands[0], to));
  form->into.barrier = TRY(l.address(i.operands[next++], to));
  if (i.has("multicast::cluster"))
    form->into.multicast = TRY(l.source(i.operands[next++], Type::B16));
  const BulkForm* kept = l.keep(std::move(form));
  l.emit(run_copy<issue_into_shared>).extra = kept;
  return Done{};
}

}  // namespace weft::emulator
