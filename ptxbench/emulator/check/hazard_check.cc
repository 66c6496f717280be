// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/check/hazard_check.h"

#include <algorithm>

#include "base/invariant.h"
#include "ptxbench/emulator/grid.h"

namespace weft::emulator {

namespace {

uint64_t key_of(const BarrierPlace& place) {
  return uint64_t{place.owner->rank} << kSharedRankShift | place.offset;
}

// One of kStrongPlaces, 2^10.
size_t strong_place(uint64_t key) {
  return static_cast<size_t>((key >> 2) * 0x9e3779b97f4a7c15ull >> 54);
}

}  // namespace

void HazardCheck::begin(Cluster& cluster) {
  cluster_ = &cluster;
  warps_per_block_ = static_cast<uint32_t>(cluster.blocks.front()->warps.size());
  agents_ = warps_per_block_ * static_cast<uint32_t>(cluster.blocks.size());
  names_.clear();
  warps_.assign(agents_, {});
  for (uint32_t w = 0; w < agents_; ++w) warps_[w].known.seen.raise(w + 1, 1);
  blocks_.resize(cluster.blocks.size());
  const uint32_t reserved = cluster.grid->machine->model().reserved_shared_per_block;
  for (const auto& block : cluster.blocks) {
    BlockState& s = state(*block);
    s.shadow.reset(static_cast<uint32_t>(block->shared.size()), reserved, agents_);
    s.barriers = {};
    s.exited.clear();
    s.tensor_agent = kNoAgent;
    s.tensor_newest = 0;
    s.warpgroup_agents.assign((warps_per_block_ + 3) / 4, kNoAgent);
  }
  mbarriers_.clear();
  cluster_arriving_.clear();
  cluster_completed_.clear();
  strong_.clear();
  tickets_.clear();
  sets_.clear();
}

// --- agents and places ---------------------------------------------------------------------------

uint32_t HazardCheck::new_agent(AgentName name) {
  if (agents_ + 1 >= kTicketAgent) return kNoAgent;
  names_.push_back(name);
  return ++agents_;
}

HazardCheck::Queue& HazardCheck::queue(const Warp& warp, CopyQueue which) {
  Queue& q = state(warp).copies[static_cast<size_t>(which)];
  if (q.agent == kNoAgent)
    q.agent = new_agent(
        {which == CopyQueue::Lanes ? AgentName::Kind::LaneCopies : AgentName::Kind::BulkCopies,
         warp.block->rank, warp.index});
  return q;
}

HazardCheck::MbarrierState& HazardCheck::state(const BarrierPlace& place) {
  const auto [found, is_new] = mbarriers_.try_emplace(key_of(place));
  MbarrierState& s = found->second;
  if (is_new) {
    s.agent = new_agent({AgentName::Kind::Mbarrier, place.owner->rank, place.offset});
    s.parity = unpack_barrier(*place.word).phase;
  }
  return s;
}

uint32_t HazardCheck::site_of(const Warp& warp, const Op& op) {
  const ptx::Instruction* instruction = warp.frame->code->instructions[op.instruction];
  if (instruction == last_instruction_) return last_site_;
  const auto [found, is_new] =
      site_numbers_.try_emplace(instruction, static_cast<uint32_t>(sites_.size()));
  if (is_new) sites_.push_back(instruction);
  last_instruction_ = instruction;
  return last_site_ = std::min(found->second, kMaxSite);
}

SharedRange HazardCheck::range_of(const Warp& warp, const std::byte* place, uint32_t bytes) const {
  for (const auto& block : warp.block->cluster->blocks) {
    const std::byte* first = block->shared.data();
    if (place >= first && place < first + block->shared.size())
      return {block.get(), static_cast<uint32_t>(place - first), bytes};
  }
  return {};
}

BarrierPlace HazardCheck::place_of(uint64_t* word) const {
  const auto* bytes = reinterpret_cast<const std::byte*>(word);
  for (const auto& block : cluster_->blocks) {
    const std::byte* first = block->shared.data();
    if (bytes >= first && bytes < first + block->shared.size())
      return {block.get(), static_cast<uint32_t>(bytes - first), word};
  }
  INVARIANT(false);
}

void HazardCheck::release_to(const Warp& warp, Knowledge& to) {
  Knowledge& known = state(warp).known;
  to.join(known);
  const uint32_t agent = agent_of(warp);
  // The last moment never ends; accesses in it are taken for ordered once somebody has seen it.
  known.seen.raise(agent, std::min(known.seen.at(agent) + 1, kMaxTime));
}

// --- accesses ------------------------------------------------------------------------------------

bool HazardCheck::check(Warp& warp, const Op& op, int lane, const SharedRange& range,
                        ShadowAccess& access, uint32_t lane_bytes) {
  const auto conflict =
      state(*range.block).shadow.touch(range.offset, range.bytes, access, checks_, tickets_, sets_);
  if (!conflict) {
    if (sets_.full()) {
      sets_.clear();
      for (BlockState& block : blocks_) block.shadow.forget_readers();
      access.fine_readers = 0;
      access.readers_before = ~0u;
    }
    return true;
  }
  const uint32_t before =
      std::max(conflict->offset, range.offset) - range.offset;  // bytes of the range
  const int concerned = lane + static_cast<int>(before / std::max(1u, lane_bytes));
  report(warp, op, std::min(concerned, kLanes - 1), range, access, *conflict);
  return false;
}

bool HazardCheck::touch(Warp& warp, const Op& op, int lane, const SharedRange& range, Touch kind,
                        uint32_t lane_bytes) {
  const Knowledge& known = state(warp).known;
  const uint32_t agent = agent_of(warp);
  ShadowAccess access{.by = {agent, known.seen.at(agent), site_of(warp, op)}, .known = &known};
  access.reads = kind != Touch::Write && kind != Touch::StrongWrite;
  access.writes = kind != Touch::Read && kind != Touch::StrongRead;
  access.strong = kind != Touch::Read && kind != Touch::Write;
  return check(warp, op, lane, range, access, lane_bytes);
}

bool HazardCheck::touch(Warp& warp, const Op& op, int lane, const std::byte* place, uint32_t bytes,
                        Touch kind) {
  const SharedRange range = range_of(warp, place, bytes);
  return range.block == nullptr || touch(warp, op, lane, range, kind, bytes);
}

void HazardCheck::release(const Warp& warp, uint64_t key) {
  if (strong_.empty()) strong_.resize(kStrongPlaces);
  release_to(warp, strong_[strong_place(key)]);
}

void HazardCheck::remember(const Warp& warp, int lane, uint64_t key) {
  state(warp).remembered[static_cast<size_t>(lane)] = key;
}

void HazardCheck::acquire_remembered(const Warp& warp, LaneMask lanes) {
  if (strong_.empty()) return;
  WarpState& s = state(warp);
  uint64_t last = 0;
  for_lanes(lanes, [&](int lane) {
    const uint64_t key = s.remembered[static_cast<size_t>(lane)];
    if (key != last) s.known.join(strong_[strong_place(key)]);
    last = key;
  });
}

// --- barriers ------------------------------------------------------------------------------------

void HazardCheck::arrive(const Warp& warp, uint32_t barrier) {
  release_to(warp, state(*warp.block).barriers[barrier]);
}

void HazardCheck::leave(const Warp& warp, uint32_t barrier) {
  BlockState& block = state(*warp.block);
  Knowledge& known = state(warp).known;
  known.join(block.barriers[barrier]);
  known.join(block.exited);
}

void HazardCheck::complete(const Block& block, uint32_t barrier) {
  state(block).barriers[barrier].clear();
}

void HazardCheck::exit(const Warp& warp) {
  release_to(warp, state(*warp.block).exited);
}

void HazardCheck::arrive_at_cluster(const Warp& warp) {
  release_to(warp, cluster_arriving_);
}

void HazardCheck::complete_cluster() {
  cluster_completed_.join(cluster_arriving_);
  for (const BlockState& block : blocks_) cluster_completed_.join(block.exited);
}

void HazardCheck::leave_cluster(const Warp& warp) {
  state(warp).known.join(cluster_completed_);
}

void HazardCheck::fence_async(const Warp& warp) {
  state(warp).known.fence();
}

// --- mbarriers -----------------------------------------------------------------------------------

void HazardCheck::initialise(const BarrierPlace& place) {
  MbarrierState& s = state(place);
  s.parity = false;
  state(*place.owner).shadow.renew(place.offset, sizeof(uint64_t));
}

void HazardCheck::arrive(const Warp& warp, const BarrierPlace& place) {
  release_to(warp, state(place).arriving);
}

void HazardCheck::settle(const BarrierPlace& place) {
  MbarrierState& s = state(place);
  const bool parity = unpack_barrier(*place.word).phase;
  if (parity == s.parity) return;
  s.parity = parity;
  ++s.phases;
  s.completed.join(s.arriving);
  s.completed.seen.raise(s.agent, s.phases);
  s.arriving.clear();
}

void HazardCheck::acquire(const Warp& warp, const BarrierPlace& place) {
  state(warp).known.join(state(place).completed);
}

// --- asynchronous work that an mbarrier hears of
// --------------------------------------------------

uint32_t HazardCheck::promise(const Warp& warp) {
  const uint32_t ticket = tickets_.open(agent_of(warp), state(warp).known);
  Knowledge ignored;
  release_to(warp, ignored);  // what the warp does from here on is not promised
  return ticket;
}

uint32_t HazardCheck::copy_in(Warp& warp, const Op& op, int lane, const SharedRange& range,
                              bool combines) {
  const uint32_t ticket = promise(warp);
  ShadowAccess access{.by = {kTicketAgent, ticket, site_of(warp, op)}, .known = &state(warp).known};
  access.writes = true;
  access.reads = combines;
  access.strong = combines;
  access.async = !combines;  // the manual names no proxy for red.async
  return range.bytes == 0 || check(warp, op, lane, range, access, range.bytes) ? ticket : 0;
}

bool HazardCheck::copy_from(uint32_t promise, Warp& warp, const Op& op, int lane,
                            const std::byte* source, uint32_t bytes) {
  const SharedRange range = range_of(warp, source, bytes);
  if (range.block == nullptr || bytes == 0) return true;
  ShadowAccess access{.by = {kTicketAgent, promise, site_of(warp, op)},
                      .known = &state(warp).known};
  access.reads = true;
  access.async = true;
  return check(warp, op, lane, range, access, bytes);
}

void HazardCheck::deliver(uint32_t promise, const BarrierPlace& place) {
  MbarrierState& s = state(place);
  if (const Knowledge* known = tickets_.known(promise)) s.arriving.join(*known);
  tickets_.complete(promise, s.agent, s.phases + 1);
}

void HazardCheck::forget(uint32_t promise) {
  tickets_.forget(promise);
}

// --- groups of copies ----------------------------------------------------------------------------

void HazardCheck::begin_copy(const Warp& warp, CopyQueue which) {
  Queue& q = queue(warp, which);
  q.newest = std::min(q.newest + 1, kMaxTime);
}

bool HazardCheck::copy(Warp& warp, const Op& op, int lane, CopyQueue which, const std::byte* place,
                       uint32_t bytes) {
  const SharedRange range = range_of(warp, place, bytes);
  if (range.block == nullptr || bytes == 0) return true;
  const Queue& q = queue(warp, which);
  ShadowAccess access{.by = {q.agent, q.newest, site_of(warp, op)}, .known = &state(warp).known};
  access.writes = which == CopyQueue::Lanes;
  access.reads = access.async = which == CopyQueue::Bulk;
  return check(warp, op, lane, range, access, bytes);
}

void HazardCheck::commit(const Warp& warp, CopyQueue which, LaneMask lanes) {
  Queue& q = queue(warp, which);
  for_lanes(lanes, [&](int lane) {
    const uint32_t group = q.open[static_cast<size_t>(lane)]++;
    if (group >= q.ends.size()) q.ends.resize(group + 1);
    q.ends[group] = std::max(q.ends[group], q.newest);
  });
}

void HazardCheck::wait(const Warp& warp, CopyQueue which, LaneMask lanes, uint32_t allowed) {
  Queue& q = queue(warp, which);
  uint32_t done = 0;
  for_lanes(lanes, [&](int lane) {
    const uint32_t open = q.open[static_cast<size_t>(lane)];
    if (open > allowed) done = std::max(done, q.ends[open - allowed - 1]);
  });
  state(warp).known.seen.raise(q.agent, done);
}

void HazardCheck::wait_all(const Warp& warp, CopyQueue which) {
  const Queue& q = queue(warp, which);
  state(warp).known.seen.raise(q.agent, q.newest);
}

uint32_t HazardCheck::promise_copies(const Warp& warp) {
  const Queue& q = queue(warp, CopyQueue::Lanes);
  Knowledge known = state(warp).known;
  known.seen.raise(q.agent, q.newest);
  const uint32_t ticket = tickets_.open(agent_of(warp), known);
  Knowledge ignored;
  release_to(warp, ignored);
  return ticket;
}

// --- tensor cores --------------------------------------------------------------------------------

bool HazardCheck::check_rows(Warp& warp, const Op& op, int lane, Block& block,
                             const SharedOperand& operand, int part, int parts, Epoch by) {
  ShadowAccess access{.by = by, .known = &state(warp).known};
  access.reads = true;
  access.async = true;
  const int total = operand.groups * 8 * operand.chunks;
  const auto u = [](int value) { return static_cast<uint32_t>(value); };
  const auto chunk = [&](int i) {
    const int row = i / operand.chunks;
    return SharedRange{&block, operand.rows.offset(u(row / 8), u(row % 8), u(i % operand.chunks)),
                       16};
  };
  for (int i = total * part / parts; i < total * (part + 1) / parts; ++i)
    if (!check(warp, op, lane, chunk(i), access, 16)) return false;
  // Rows without meaning may be left as they are; an operand without a written byte is no operand.
  for (int i = 0; checks_.init && !access.found_written && i < total; ++i)
    state(block).shadow.touch(chunk(i).offset, 16, access, Checks{}, tickets_, sets_);
  if (!checks_.init || access.found_written) return true;
  report(warp, op, lane, chunk(0), access,
         Conflict{Conflict::Kind::Uninitialised, {}, chunk(0).offset});
  return false;
}

bool HazardCheck::warpgroup_reads(Warp& warp, const Op& op, uint64_t number,
                                  const SharedOperand& operand) {
  uint32_t& agent = state(*warp.block).warpgroup_agents[warp.index / 4];
  if (agent == kNoAgent)
    agent = new_agent({AgentName::Kind::Warpgroup, warp.block->rank, warp.index / 4});
  const auto time = static_cast<uint32_t>(std::min<uint64_t>(number + 1, kMaxTime));
  return check_rows(warp, op, 0, *warp.block, operand, static_cast<int>(warp.index % 4), 4,
                    {agent, time, site_of(warp, op)});
}

void HazardCheck::warpgroup_done(const Warp& warp, uint64_t count) {
  const uint32_t agent = state(*warp.block).warpgroup_agents[warp.index / 4];
  if (agent != kNoAgent)
    state(warp).known.seen.raise(agent, static_cast<uint32_t>(std::min<uint64_t>(count, kMaxTime)));
}

void HazardCheck::begin_tensor(const Warp& warp) {
  BlockState& block = state(*warp.block);
  if (block.tensor_agent == kNoAgent)
    block.tensor_agent = new_agent({AgentName::Kind::TensorCore, warp.block->rank, 0});
  block.tensor_newest = std::min(block.tensor_newest + 1, kMaxTime);
}

bool HazardCheck::tensor_reads(Warp& warp, const Op& op, int lane, Block& block,
                               const SharedOperand& operand) {
  const BlockState& issuer = state(*warp.block);
  return check_rows(warp, op, lane, block, operand, 0, 1,
                    {issuer.tensor_agent, issuer.tensor_newest, site_of(warp, op)});
}

uint32_t HazardCheck::promise_tensor(const Warp& warp) {
  const BlockState& block = state(*warp.block);
  Knowledge known = state(warp).known;
  if (block.tensor_agent != kNoAgent) known.seen.raise(block.tensor_agent, block.tensor_newest);
  const uint32_t ticket = tickets_.open(agent_of(warp), known);
  Knowledge ignored;
  release_to(warp, ignored);
  return ticket;
}

}  // namespace weft::emulator
