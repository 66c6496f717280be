// SPDX-License-Identifier: Apache-2.0

// Finding mbarrier objects, and saying in words what state they are in.

#include "ptxbench/emulator/mbarrier.h"

#include <fmt/format.h>

#include "ptxbench/emulator/memory/access.h"

namespace weft::emulator {

BarrierPlace barrier_at(Block& owner, uint32_t offset) {
  BarrierPlace place{.owner = &owner, .offset = offset};
  if (uint64_t{offset} + sizeof(uint64_t) <= owner.shared.size() && offset % sizeof(uint64_t) == 0)
    place.word = reinterpret_cast<uint64_t*>(owner.shared.data() + offset);
  return place;
}

BarrierPlace find_barrier(Block& block, isa::Space space, uint64_t address, std::string_view& why) {
  Block* owner = &block;
  if (space == isa::Space::Generic) {
    if (!in_shared_window(address)) {
      why = "mbarrier address is not in shared memory";
      return {};
    }
    address -= kSharedWindow;
    space = isa::Space::SharedCluster;
  }
  if (space == isa::Space::SharedCluster) {
    owner = shared_owner(block, address);
    if (owner == nullptr) {
      why = "mbarrier address names a block that the cluster does not have";
      return {};
    }
  }
  if (owner != &block && owner->finished()) {
    why = "mbarrier belongs to a block that has already exited";
    return {};
  }
  if (address % sizeof(uint64_t) != 0) {
    why = "mbarrier address is not a multiple of 8";
    return {};
  }
  const BarrierPlace place = barrier_at(*owner, static_cast<uint32_t>(address & kSharedOffsetMask));
  if (place.word == nullptr) why = "mbarrier address is outside the block's shared memory";
  return place;
}

std::string_view describe(BarrierMistake mistake) {
  switch (mistake) {
    case BarrierMistake::None:
      return "mbarrier is in order";
    case BarrierMistake::NotInitialised:
      return "mbarrier has not been initialised";
    case BarrierMistake::Invalidated:
      return "mbarrier is used after mbarrier.inval";
    case BarrierMistake::CountOutOfRange:
      return "mbarrier count is outside 1 ... 1048575";
    case BarrierMistake::TooManyArrivals:
      return "more arrivals at the mbarrier than its phase still needs";
    case BarrierMistake::TransactionOverflow:
      return "mbarrier transaction count leaves -1048575 ... 1048575";
    case BarrierMistake::CompletesWithoutLeave:
      return "arrive.noComplete would complete the phase of the mbarrier";
  }
  return "mbarrier is misused";
}

std::string describe_barrier(const BarrierPlace& place) {
  if (place.word == nullptr) return "no mbarrier at this address";
  const std::string where = fmt::format("mbarrier at shared offset {:#x} of block rank {}",
                                        place.offset, place.owner->rank);
  const uint64_t word = *place.word;
  switch (barrier_validity(word)) {
    case BarrierMistake::None:
      break;
    case BarrierMistake::Invalidated:
      return where + ": invalidated";
    default:
      return fmt::format("{}: never initialised, memory holds {:#018x}", where, word);
  }
  const BarrierState state = unpack_barrier(word);
  std::string text = fmt::format("{}: phase of parity {} under way, {} of {} arrivals pending",
                                 where, state.phase ? 1 : 0, state.pending, state.expected);
  if (state.transactions > 0)
    text += fmt::format(", {} transaction bytes outstanding", state.transactions);
  if (state.transactions < 0)
    text += fmt::format(", {} transaction bytes arrived that nobody has announced",
                        -int64_t{state.transactions});
  return text;
}

}  // namespace weft::emulator
