// SPDX-License-Identifier: Apache-2.0

// st.async and red.async: stores and reductions of a few bytes into the shared memory of another
// block, which count at an mbarrier there (PTX ISA 9.0, sections 9.7.9.12 and 9.7.13.7). st.bulk,
// which clears shared memory, is here too.

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "ptxbench/emulator/bulk_reduction.h"
#include "ptxbench/emulator/bulk_transfer.h"
#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/async_copy.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Type;

constexpr uint32_t kMaxStoreBytes = 32;  // v4 of 64-bit values

struct RemoteForm : Extra {
  IntoShared into;
  std::vector<Slot> values;    // one for each element
  uint32_t element_bytes = 0;  // 4 or 8
  Combine combine = nullptr;   // nullptr: a store
  uint32_t bytes() const { return element_bytes * static_cast<uint32_t>(values.size()); }
};

struct RemoteStore final : AsyncOperation {
  IssuePlace place;
  Combine combine = nullptr;
  uint32_t bytes = 0;
  std::byte value[kMaxStoreBytes];
  std::vector<Destination> destinations;  // exactly one

  bool perform(Cluster&) override {
    std::byte* to = destinations.front().data();
    if (combine != nullptr)
      combine(to, value, bytes);
    else
      std::memcpy(to, value, bytes);
    return complete_transactions(place, destinations, bytes);
  }
};

Outcome run_remote_store(Warp& warp, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const RemoteForm*>(op.extra);
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    auto store = std::make_unique<RemoteStore>();
    store->place = issue_place(warp, op, lane);
    store->combine = form.combine;
    store->bytes = form.bytes();
    for (size_t i = 0; i < form.values.size(); ++i) {
      std::byte* to = store->value + i * form.element_bytes;
      if (form.element_bytes == 8)
        std::memcpy(to, warp.read<uint64_t>(form.values[i]) + lane, 8);
      else
        std::memcpy(to, warp.read<uint32_t>(form.values[i]) + lane, 4);
    }
    if (!find_destinations(warp, op, lane, form.into, store->bytes, store->bytes,
                           store->destinations))
      return Outcome::Fault;
    submit_after(*warp.block->cluster, std::move(store), kRemoteStoreLatency);
  }
  return Outcome::Next;
}

// [a], b, [mbarrier], with the values already chosen.
Result<Done> lower_remote(Lowering& l, const ptx::Instruction& i, Combine combine) {
  auto form = std::make_unique<RemoteForm>();
  const Type type = i.types.empty() ? Type::B32 : i.types.back();
  form->combine = combine;
  form->into.combines = combine != nullptr;
  form->element_bytes = static_cast<uint32_t>(isa::bits(type)) / 8;
  form->into.destination = TRY(l.address(i.operands[0], i.space));
  form->into.barrier = TRY(l.address(i.operands[2], i.space));
  for (const ptx::Operand* element : l.elements(i.operands[1]))
    form->values.push_back(TRY(l.source(*element, type)));
  const RemoteForm* kept = l.keep(std::move(form));
  l.emit(run_remote_store).extra = kept;
  return Done{};
}

struct ClearForm : Extra {
  Address address;
  Slot size = kNoSlot;
};

Outcome run_clear(Warp& warp, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const ClearForm*>(op.extra);
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const uint64_t size = warp.read<uint64_t>(form.size)[lane];
    if (size % 8 != 0 || size >> 32 != 0)
      return warp.fault(op, lane, FaultKind::InvalidInstruction,
                        fmt::format("size of st.bulk is not a multiple of 8 bytes: {}", size));
    std::byte* to = access(warp, op, lane, form.address.space, address_of(warp, form.address, lane),
                           static_cast<uint32_t>(size), 8, AccessKind::Write);
    if (to == nullptr) return Outcome::Fault;
    if (HazardCheck* hazards = hazards_of(warp))
      if (!hazards->touch(warp, op, lane, to, static_cast<uint32_t>(size), Touch::Write))
        return Outcome::Fault;
    std::memset(to, 0, size);
  }
  return Outcome::Next;
}

}  // namespace

Result<Done> lower_store_async(Lowering& l, const ptx::Instruction& i) {
  if (i.has("mmio")) return l.unsupported("st.async.mmio");
  return lower_remote(l, i, nullptr);
}

Result<Done> lower_reduce_async(Lowering& l, const ptx::Instruction& i) {
  if (i.has("mmio")) return l.unsupported("red.async.mmio");
  constexpr std::string_view kOperations[] = {"add", "min", "max", "inc",
                                              "dec", "and", "or",  "xor"};
  for (const std::string_view operation : kOperations)
    if (i.has(operation) && !i.types.empty())
      if (const Combine combine = find_reduction(operation, i.types.back()))
        return lower_remote(l, i, combine);
  return l.error("red.async does not combine this operation and type");
}

Result<Done> lower_store_bulk(Lowering& l, const ptx::Instruction& i) {
  if (i.operands.size() > 2)
    if (const auto value = l.constant(i.operands[2]); !value || *value != 0)
      return l.error("st.bulk writes zeros only", "write 0 as the initial value");
  auto form = std::make_unique<ClearForm>();
  form->address = TRY(l.address(i.operands[0], i.space));
  form->size = TRY(l.source(i.operands[1], Type::U64));
  const ClearForm* kept = l.keep(std::move(form));
  l.emit(run_clear).extra = kept;
  return Done{};
}

}  // namespace weft::emulator
