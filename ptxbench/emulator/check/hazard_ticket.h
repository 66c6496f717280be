// SPDX-License-Identifier: Apache-2.0

// Tickets of asynchronous work. A copy that signals an mbarrier is over when somebody has waited
// for the phase that it completed, and which phase that is shows only when its bytes land. Until
// then its accesses carry a ticket, and nothing is ordered after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ptxbench/emulator/check/epoch.h"
#include "ptxbench/emulator/check/vector_clock.h"

namespace weft::emulator {

class Tickets {
 public:
  // Work issued by the agent `issuer`, who knows `known`. Tickets are numbered from 1.
  uint32_t open(uint32_t issuer, const Knowledge& known) {
    tickets_.push_back({std::make_unique<Knowledge>(known), issuer});
    return static_cast<uint32_t>(tickets_.size());
  }
  // What its issuer knew, which whoever waits for it gets to know; nullptr when forgotten.
  const Knowledge* known(uint32_t ticket) const { return tickets_[ticket - 1].known.get(); }
  uint32_t issuer(uint32_t ticket) const { return tickets_[ticket - 1].issuer; }
  // It ends with `time` of the agent that is waited for.
  void complete(uint32_t ticket, uint32_t agent, uint32_t time) {
    tickets_[ticket - 1].agent = agent;
    tickets_[ticket - 1].time = time;
  }
  // Gives back the memory of `known`.
  void forget(uint32_t ticket) { tickets_[ticket - 1].known.reset(); }
  void clear() { tickets_.clear(); }

  // Whether the access happened before what comes after `clock`.
  bool ordered(Epoch access, const VectorClock& clock) const {
    if (access.agent() != kTicketAgent) return reached(access.agent(), access.time(), clock);
    const Ticket& ticket = tickets_[access.time() - 1];
    return ticket.time != 0 && reached(ticket.agent, ticket.time, clock);
  }

 private:
  struct Ticket {
    std::unique_ptr<Knowledge> known;
    uint32_t issuer = 0;
    uint32_t agent = kNoAgent, time = 0;  // of its end; time 0: it is under way
  };
  static bool reached(uint32_t agent, uint32_t time, const VectorClock& clock) {
    return agent == kNoAgent || clock.at(agent) >= time;
  }
  std::vector<Ticket> tickets_;
};

}  // namespace weft::emulator
