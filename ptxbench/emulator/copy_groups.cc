// SPDX-License-Identifier: Apache-2.0

// Accounting of asynchronous copy groups.

#include "ptxbench/emulator/copy_groups.h"

#include <algorithm>

#include "base/invariant.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

auto find_ticket(std::vector<GroupRecord>& records, uint32_t ticket) {
  const auto found = std::find_if(records.begin(), records.end(),
                                  [&](const GroupRecord& r) { return r.ticket == ticket; });
  INVARIANT(found != records.end());
  return found;
}

}  // namespace

LaneMask GroupLedger::peers(LaneMask lanes) const {
  const uint32_t group = open_[static_cast<size_t>(first_lane(lanes))];
  LaneMask same = 0;
  for (size_t i = 0; i < kLanes; ++i) same |= LaneMask{open_[i] == group} << i;
  return same & lanes;
}

uint32_t GroupLedger::begin(LaneMask lanes) {
  const uint32_t group = open_[static_cast<size_t>(first_lane(lanes))];
  for (GroupRecord& record : records_)
    if (record.lanes == lanes && record.group == group && !record.sealed) {
      ++record.unread;
      ++record.incomplete;
      return record.ticket;
    }
  records_.push_back(
      {.ticket = next_ticket_++, .lanes = lanes, .group = group, .unread = 1, .incomplete = 1});
  return records_.back().ticket;
}

void GroupLedger::source_read(uint32_t ticket) {
  --find_ticket(records_, ticket)->unread;
}

bool GroupLedger::complete(uint32_t ticket) {
  const auto record = find_ticket(records_, ticket);
  if (--record->incomplete != 0) return false;
  records_.erase(record);
  return true;
}

void GroupLedger::commit(LaneMask lanes) {
  for_lanes(lanes, [&](int lane) { ++open_[static_cast<size_t>(lane)]; });
}

bool GroupLedger::settled(LaneMask lanes, uint32_t allowed, GroupStage stage) const {
  for (const GroupRecord& record : records_) {
    if ((stage == GroupStage::SourceRead ? record.unread : record.incomplete) == 0) continue;
    for (LaneMask rest = record.lanes & lanes; rest != 0; rest &= rest - 1) {
      // Groups are numbered from 0 and the open one is the newest: of the committed ones, numbers
      // open - allowed and up may be pending.
      const uint32_t age = open_[static_cast<size_t>(first_lane(rest))] - record.group;
      if (age > allowed) return false;
    }
  }
  return true;
}

LaneMask GroupLedger::outstanding(uint32_t up_to) const {
  LaneMask lanes = 0;
  for (const GroupRecord& record : records_)
    if (record.ticket <= up_to) lanes |= record.lanes;
  return lanes;
}

uint32_t GroupLedger::seal() {
  for (GroupRecord& record : records_) record.sealed = true;
  return next_ticket_ - 1;
}

CopyGroups& copy_groups(Warp& warp) {
  if (!warp.copies) warp.copies = {new CopyGroups, [](CopyGroups* groups) { delete groups; }};
  return *warp.copies;
}

}  // namespace weft::emulator
