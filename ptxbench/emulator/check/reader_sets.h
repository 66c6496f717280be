// SPDX-License-Identifier: Apache-2.0

// Who has read a word since it was last written. Words of a tile have the same readers, so each set
// exists once and words hold its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ptxbench/emulator/check/epoch.h"
#include "ptxbench/emulator/check/hazard_ticket.h"

namespace weft::emulator {

class ReaderSets {
 public:
  ReaderSets() { clear(); }
  void clear();

  std::span<const Epoch> readers(uint32_t set) const {
    return {epochs_.data() + sets_[set].first, sets_[set].count};
  }
  // The set with `reader` added, without those that happened before it: whoever is ordered after
  // the reader is ordered after them. 0 is the empty set.
  uint32_t with(uint32_t set, Epoch reader, const VectorClock& clock, const Tickets& tickets);
  // More memory than a checker should take: clear() and forget the numbers.
  bool full() const { return epochs_.size() > kMostEpochs; }

 private:
  static constexpr size_t kMostEpochs = size_t{1} << 22;
  struct Set {
    uint32_t first = 0, count = 0;  // in epochs_
  };
  struct Step {
    uint64_t reader;
    uint32_t set;
    bool operator==(const Step&) const = default;
  };
  struct StepHash {
    size_t operator()(const Step& step) const {
      return static_cast<size_t>((step.reader ^ uint64_t{step.set} << 40) * 0x9e3779b97f4a7c15ull);
    }
  };
  std::vector<Epoch> epochs_;
  std::vector<Set> sets_;
  std::unordered_map<Step, uint32_t, StepHash> steps_;
};

}  // namespace weft::emulator
