// SPDX-License-Identifier: Apache-2.0

// Which events have happened before which. Every agent of a cluster (a warp, a queue of
// asynchronous work, an mbarrier) counts its own time; a vector clock says up to which time of each
// agent somebody knows everything.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::emulator {

class VectorClock {
 public:
  uint32_t at(uint32_t agent) const { return agent < times_.size() ? times_[agent] : 0; }
  void raise(uint32_t agent, uint32_t time) {
    if (agent >= times_.size()) times_.resize(agent + 1);
    times_[agent] = std::max(times_[agent], time);
  }
  void join(const VectorClock& other) {
    if (other.times_.size() > times_.size()) times_.resize(other.times_.size());
    for (size_t i = 0; i < other.times_.size(); ++i)
      times_[i] = std::max(times_[i], other.times_[i]);
  }
  void clear() { times_.clear(); }

 private:
  std::vector<uint32_t> times_;  // by agent; those past the end are 0
};

// What somebody knows: `seen` is everything that happened before, `fenced` the part of it that a
// fence.proxy.async separates from what comes next, so that the async proxy sees it too (PTX ISA
// 9.0, section 8.9.5: proxy-preserved base causality).
struct Knowledge {
  VectorClock seen, fenced;

  void join(const Knowledge& other) {
    seen.join(other.seen);
    fenced.join(other.fenced);
  }
  void fence() { fenced.join(seen); }
  void clear() {
    seen.clear();
    fenced.clear();
  }
};

}  // namespace weft::emulator
