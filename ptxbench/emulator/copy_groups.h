// SPDX-License-Identifier: Apache-2.0

// Groups of asynchronous copies (cp.async.commit_group, cp.async.bulk.commit_group), by lane. Lanes
// mostly copy and commit together, so copies in flight are kept as few records with lane masks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ptxbench/emulator/async_engine.h"
#include "ptxbench/emulator/lanes.h"

namespace weft::emulator {

// The copies of one group that the same lanes issued together and that are not complete.
struct GroupRecord {
  uint32_t ticket = 0;  // grows with time
  LaneMask lanes = 0;
  uint32_t group = 0;       // number of the lanes' group
  uint32_t unread = 0;      // copies whose source is still to be read
  uint32_t incomplete = 0;  // copies not performed
  bool sealed = false;      // takes no further copies: somebody waits for those so far
};

enum class GroupStage : uint8_t { SourceRead, Complete };

class GroupLedger {
 public:
  // The lanes of `lanes` whose open group has the same number as that of the first one: one record
  // holds copies of such lanes only.
  LaneMask peers(LaneMask lanes) const;
  // A copy in the open group of these lanes (peers of each other). Gives the ticket of its record.
  uint32_t begin(LaneMask lanes);
  void source_read(uint32_t ticket);
  // True when the record has no copy left and is gone.
  bool complete(uint32_t ticket);
  void commit(LaneMask lanes);

  // Of each lane, no copy is before the stage except those of the newest `allowed` committed groups
  // and of the open group.
  bool settled(LaneMask lanes, uint32_t allowed, GroupStage stage) const;
  // Nothing is in flight, committed or not.
  bool idle(LaneMask lanes) const { return (outstanding(~0u) & lanes) == 0; }
  // Lanes with copies in flight in records of this ticket and older.
  LaneMask outstanding(uint32_t up_to) const;
  // No copy joins today's records any more; gives the newest ticket.
  uint32_t seal();

 private:
  std::array<uint32_t, kLanes> open_{};  // number of each lane's open group
  std::vector<GroupRecord> records_;     // by ticket
  uint32_t next_ticket_ = 1;
};

// cp.async.mbarrier.arrive: arrivals that wait for the copies that the lane has issued before.
struct DeferredArrival {
  IssuePlace place;
  LaneMask lanes = 0;                     // that have not arrived yet
  uint32_t up_to = 0;                     // newest ticket waited for
  std::array<uint64_t*, kLanes> words{};  // the mbarrier of each lane
  uint32_t promise = 0;                   // to the hazard check (check/hazard_check.h)
};

// What a warp has in flight.
struct CopyGroups {
  GroupLedger copies;                     // cp.async
  GroupLedger bulk;                       // cp.async.bulk with .bulk_group
  std::vector<DeferredArrival> arrivals;  // oldest first
};

CopyGroups& copy_groups(Warp& warp);

}  // namespace weft::emulator
