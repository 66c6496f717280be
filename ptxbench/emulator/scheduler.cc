// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/scheduler.h"

#include <algorithm>
#include <cstring>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/tensor_memory.h"

namespace weft::emulator {

namespace {

// A cluster that has run this long and polls memory may wait for one that has not begun.
constexpr uint64_t kPatience = 200'000;
// Rounds in which nothing but timed-out waits moved, between two looks at whether anything changed.
constexpr uint64_t kForcedRounds = 64;
// With a seed: clusters that trade places, and clusters of a worker that take turns.
constexpr uint64_t kWindow = 8, kSideBySide = 4;

uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x100000001b3ull + (hash >> 29);
}

// What another round could change if the waits were not hopeless: shared memory, where the warps
// stand.
uint64_t fingerprint(const Cluster& cluster) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const auto& block : cluster.blocks) {
    const std::byte* bytes = block->shared.data();
    for (size_t i = 0; i + 8 <= block->shared.size(); i += 8) {
      uint64_t word;
      std::memcpy(&word, bytes + i, 8);
      hash = mix(hash, word);
    }
    for (const auto& warp : block->warps) {
      hash = mix(hash, warp->live);
      for (const Split& s : warp->splits) hash = mix(mix(hash, s.mask), s.wait_object);
    }
  }
  return hash;
}

}  // namespace

uint32_t Cluster::live_threads() const {
  uint32_t total = 0;
  for (const auto& block : blocks) total += block->live_threads;
  return total;
}

Worker::Worker(GridRun& grid, uint32_t number, uint32_t workers)
    : grid_(grid), number_(number), workers_(workers), tally_(grid.kernel->program->counter_count) {
  const uint64_t resident = std::max<uint64_t>(1, grid.resident_clusters);
  share_ = std::max<uint64_t>(1, (resident + workers - 1) / workers);
}

void Worker::begin(Cluster& cluster, uint64_t number) {
  const Extent clusters{grid_.grid.x / grid_.cluster.x, grid_.grid.y / grid_.cluster.y,
                        grid_.grid.z / grid_.cluster.z};
  const uint32_t cx = static_cast<uint32_t>(number % clusters.x);
  const uint32_t cy = static_cast<uint32_t>(number / clusters.x % clusters.y);
  const uint32_t cz = static_cast<uint32_t>(number / clusters.x / clusters.y);
  const uint32_t count = static_cast<uint32_t>(grid_.cluster.count());
  const uint32_t threads = static_cast<uint32_t>(grid_.block.count());
  const uint32_t warps = (threads + kLanes - 1) / kLanes;
  cluster.grid = &grid_;
  cluster.clock = 0;
  cluster.schedule = Schedule(grid_.schedule_seed, grid_.id, number);
  cluster.barrier_phase = 0;
  cluster.spin_hints = 0;
  cluster.blocks.resize(count);
  for (uint32_t rank = 0; rank < count; ++rank) {
    if (!cluster.blocks[rank]) cluster.blocks[rank] = std::make_unique<Block>();
    Block& block = *cluster.blocks[rank];
    block.grid = &grid_;
    block.cluster = &cluster;
    block.rank = rank;
    // Ranks run x first (PTX ISA 9.0, %cluster_ctarank).
    block.index = {cx * grid_.cluster.x + rank % grid_.cluster.x,
                   cy * grid_.cluster.y + rank / grid_.cluster.x % grid_.cluster.y,
                   cz * grid_.cluster.z + rank / grid_.cluster.x / grid_.cluster.y};
    if (block.shared.size() != grid_.shared_bytes)
      block.shared = AlignedBytes(grid_.shared_bytes, 1024);
    // Shared memory begins undefined. All ones is NaN in every float format and no valid barrier,
    // so reading what nobody wrote shows; 0xfb is a large finite number in all but the fp8 formats
    // and no barrier either. The system's reserved part begins at zero.
    const uint32_t reserved = grid_.machine->model().reserved_shared_per_block;
    std::memset(block.shared.data(), 0, reserved);
    // Undefined to the program: what it reads before it wrote changes with the schedule.
    std::memset(block.shared.data() + reserved, grid_.schedule_seed % 2 == 0 ? 0xff : 0xfb,
                block.shared.size() - reserved);
    block.threads = threads;
    block.live_threads = threads;
    block.barriers = {};
    block.warpgroups.reset();
    block.tensor_memory.reset();
    block.warps.resize(warps);
    for (uint32_t w = 0; w < warps; ++w) {
      if (!block.warps[w]) block.warps[w] = std::make_unique<Warp>();
      block.warps[w]->begin(block, w, *grid_.kernel->code);
      block.warps[w]->tally = grid_.counting ? &tally_ : nullptr;
    }
  }
  const Checks& checks = grid_.machine->options().checks;
  if (!checks.shared()) return;
  if (cluster.hazards == nullptr) {
    auto hazards = std::make_unique<HazardCheck>(checks);
    cluster.hazards = hazards.get();
    cluster.hazard_state = std::move(hazards);
  }
  cluster.hazards->begin(cluster);
}

bool Worker::admit() {
  const uint64_t next = grid_.next_cluster.fetch_add(1, std::memory_order_relaxed);
  if (next >= grid_.cluster_count) return false;
  const uint64_t number = cluster_in_turn(grid_.schedule_seed, grid_.id, next,
                                          std::clamp<uint64_t>(grid_.resident_clusters, 1, kWindow),
                                          grid_.cluster_count);
  std::unique_ptr<Cluster> cluster;
  if (retired_.empty()) {
    cluster = std::make_unique<Cluster>();
  } else {
    cluster = std::move(retired_.back());
    retired_.pop_back();
  }
  begin(*cluster, number);
  residents_.push_back({std::move(cluster), 0, 0});
  ran_since_admission_ = 0;
  return true;
}

Worker::Turn Worker::turn(Resident& resident) {
  Cluster& cluster = *resident.cluster;
  Schedule& schedule = cluster.schedule;
  uint64_t total = 0;
  const size_t ranks = cluster.blocks.size();
  const size_t first_rank = schedule.below(ranks);
  const size_t warps = cluster.blocks.front()->warps.size();
  schedule.begin_round(ranks * warps);
  for (size_t b = 0; b < ranks; ++b) {
    const size_t rank = (first_rank + b) % ranks;
    auto& block = cluster.blocks[rank];
    const size_t first = schedule.below(warps);
    for (size_t k = 0; k < warps; ++k) {
      const size_t index = (first + k) % warps;
      Warp& warp = *block->warps[index];
      if (warp.finished() || schedule.is_held(rank * warps + index)) continue;
      const uint64_t ran = warp.run(schedule.turn());
      cluster.clock += ran;
      total += ran;
      if (grid_.stop.load(std::memory_order_relaxed)) return Turn::Finished;
      if (const auto due = cluster.async.next_due(); due && *due <= cluster.clock)
        if (!cluster.async.advance(cluster, cluster.clock)) return Turn::Finished;
    }
  }
  ran_since_admission_ += total;
  if (cluster.live_threads() == 0) {
    // Copies that nobody waited for still land.
    while (const auto due = cluster.async.next_due()) {
      cluster.clock = std::max(cluster.clock, *due);
      if (!cluster.async.advance(cluster, cluster.clock)) break;
    }
    for (auto& block : cluster.blocks) end_tensor_memory(*block);
    return Turn::Finished;
  }
  if (total != 0) return Turn::Ran;
  if (schedule.is_holding()) {
    schedule.release();
    return Turn::Ran;
  }
  if (const auto due = cluster.async.next_due()) {
    cluster.clock = std::max(cluster.clock, *due);
    cluster.async.advance(cluster, cluster.clock);
    return Turn::Ran;
  }
  return Turn::Stuck;
}

// Nothing in the cluster can run. Waits that the hardware would time out answer false once; when
// many rounds of that change nothing, the cluster is dead.
bool Worker::force(Resident& resident) {
  Cluster& cluster = *resident.cluster;
  bool any = false;
  for (auto& block : cluster.blocks)
    for (auto& warp : block->warps)
      for (Split& s : warp->splits)
        if (s.wait == Split::Wait::Mbarrier && !s.waiting) {
          s.wait_timed_out = true;
          any = true;
        }
  if (!any) return false;
  if (++resident.forced_rounds % kForcedRounds != 0) return true;
  const uint64_t now = fingerprint(cluster);
  const bool changed = now != resident.fingerprint;
  resident.fingerprint = now;
  return changed;
}

bool Worker::out_of_time() {
  if (!grid_.deadline || std::chrono::steady_clock::now() < *grid_.deadline) return false;
  Fault fault;
  fault.kind = FaultKind::TimeLimit;
  fault.kernel = grid_.kernel->info.name;
  fault.message = "the launch ran longer than the time limit";
  if (!residents_.empty()) {
    Fault where = describe_deadlock(*residents_.front().cluster);
    fault.notes = std::move(where.notes);
    fault.block = where.block;
  }
  grid_.record(std::move(fault));
  return true;
}

void Worker::run() {
  Schedule own(grid_.schedule_seed, grid_.id, ~uint64_t{number_});
  const uint64_t side_by_side = 1 + own.below(std::min(share_, kSideBySide));
  const uint64_t at_first = grid_.cooperative ? share_ : side_by_side;
  while (residents_.size() < at_first && admit()) {
  }
  uint64_t rounds = 0;
  while (!residents_.empty() && !grid_.stop.load(std::memory_order_relaxed)) {
    bool ran = false;
    for (size_t i = 0; i < residents_.size();) {
      const Turn turn_result = turn(residents_[i]);
      if (grid_.stop.load(std::memory_order_relaxed)) return;
      if (turn_result == Turn::Finished) {
        retired_.push_back(std::move(residents_[i].cluster));
        residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(i));
        ran = true;
        if (residents_.size() < side_by_side) admit();
        continue;
      }
      if (turn_result == Turn::Ran) ran = true;
      if (turn_result == Turn::Stuck && !force(residents_[i])) {
        grid_.record(describe_deadlock(*residents_[i].cluster));
        return;
      }
      ++i;
    }
    if (!residents_.empty() && residents_.size() < share_ && ran_since_admission_ > kPatience) {
      uint64_t hints = 0;
      for (Resident& r : residents_) {
        hints += r.cluster->spin_hints;
        r.cluster->spin_hints = 0;
      }
      if (hints * 64 > ran_since_admission_) admit();
      ran_since_admission_ = 0;
    }
    if (++rounds % 16 == 0 || !ran)
      if (out_of_time()) return;
  }
}

}  // namespace weft::emulator
