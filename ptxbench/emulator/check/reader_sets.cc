// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/check/reader_sets.h"

namespace weft::emulator {

void ReaderSets::clear() {
  epochs_.clear();
  sets_.assign(1, Set{});
  steps_.clear();
}

uint32_t ReaderSets::with(uint32_t set, Epoch reader, const VectorClock& clock,
                          const Tickets& tickets) {
  const auto [step, is_new] = steps_.try_emplace({reader.bits(), set}, 0);
  if (!is_new) return step->second;
  const Set before = sets_[set];
  Set after{.first = static_cast<uint32_t>(epochs_.size()), .count = 0};
  for (uint32_t i = 0; i < before.count; ++i) {
    const Epoch earlier = epochs_[before.first + i];
    // A later read of the same bytes stands for an earlier one. Warps and queues keep their order.
    const bool in_order = earlier.agent() == reader.agent() && reader.agent() != kTicketAgent;
    const bool stands = in_order || tickets.ordered(earlier, clock);
    if (stands && (earlier.bytes() & ~reader.bytes()) == 0) continue;
    epochs_.push_back(earlier);
  }
  epochs_.push_back(reader);
  after.count = static_cast<uint32_t>(epochs_.size()) - after.first;
  sets_.push_back(after);
  return step->second = static_cast<uint32_t>(sets_.size() - 1);
}

}  // namespace weft::emulator
