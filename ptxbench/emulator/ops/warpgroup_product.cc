// SPDX-License-Identifier: Apache-2.0

// Carries out wgmma operations for a whole warpgroup: 64 rows at once, and neighbouring operations
// on the same accumulators as one deeper product.

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "ptxbench/emulator/ops/warpgroup_queue.h"
#include "ptxbench/emulator/tampering.h"
#include "ptxbench/emulator/tile/half_pairs.h"
#include "ptxbench/emulator/tile/matrix_descriptor.h"
#include "ptxbench/emulator/tile/sparse_rows.h"

namespace weft::emulator {

namespace {

using Sum = WgmmaPlan::Sum;

constexpr int kMostSteps = 16, kMostParts = 512;  // parts of 64 x 256 accumulators

// The operations of one call: index `first` and the `count - 1` after it, in all members' queues.
struct Run {
  Block& block;
  Warpgroup& group;
  uint32_t first_warp;
  size_t first = 0, count = 1;

  const IssuedWgmma& at(int member, size_t i) const {
    return group.members[member].pending[first + i];
  }
  const WgmmaPlan& plan() const { return *at(0, 0).plan; }
  std::byte* registers(int member) const { return at(member, 0).frame->registers; }
  Warp& warp(int member) const { return *block.warps[first_warp + member]; }
};

// Accumulators of a function that has returned are out of reach.
bool frame_lives(const Warp& warp, const Frame* wanted, const WgmmaPlan& plan) {
  return std::any_of(warp.frames.begin(), warp.frames.end(), [&](const auto& frame) {
    return frame.get() == wanted && frame->code == plan.code;
  });
}

// The four warps must have issued the same operation.
bool agree(const Run& run) {
  const IssuedWgmma& lead = run.at(0, 0);
  for (int member = 1; member < 4; ++member) {
    const IssuedWgmma& other = run.at(member, 0);
    std::string what;
    if (other.plan != lead.plan)
      what = "different wgmma instructions";
    else if (other.b_descriptor != lead.b_descriptor)
      what = fmt::format("different descriptors of B: {:#018x} and {:#018x}", lead.b_descriptor,
                         other.b_descriptor);
    else if (other.a_descriptor != lead.a_descriptor)
      what = fmt::format("different descriptors of A: {:#018x} and {:#018x}", lead.a_descriptor,
                         other.a_descriptor);
    else if (other.accumulate != lead.accumulate)
      what = "different values of scale-d";
    else
      continue;
    run.warp(member).fault(
        *other.op, 0, FaultKind::InvalidInstruction,
        fmt::format("warps of a warpgroup issue {}", what), 0,
        {fmt::format("warps {} and {} of the block", run.first_warp, run.first_warp + member)});
    return false;
  }
  return true;
}

// Whether the operation after the run can join it.
bool joins(const Run& run) {
  const IssuedWgmma& next = run.at(0, run.count);
  const WgmmaPlan &a = run.plan(), &b = *next.plan;
  return next.accumulate && b.metadata == kNoSlot && b.shape == a.shape && b.sum == a.sum &&
         b.a_in_registers == a.a_in_registers && next.frame == run.at(0, 0).frame &&
         b.accumulators == a.accumulators;
}

// Rows of an operand in shared memory; false after a fault.
bool shared_rows(const Run& run, size_t i, char name, OperandRows& rows) {
  const IssuedWgmma& issued = run.at(0, i);
  const MatrixShape& shape = run.plan().shape;
  const bool is_a = name == 'A';
  const Major major = is_a ? shape.a_major : shape.b_major;
  const MatrixDescriptor descriptor =
      decode_descriptor(is_a ? issued.a_descriptor : issued.b_descriptor);
  rows = descriptor_rows(descriptor, major, run.block.shared.data());
  const int outer = is_a ? shape.rows : shape.columns;
  const bool sparse = is_a && run.plan().metadata != kNoSlot;
  const int depth = sparse ? shape.depth / 2 : shape.depth;
  const int per_chunk = chunk_elements(is_a ? shape.a : shape.b);
  const int groups = (major == Major::Depth ? outer : depth) / 8;
  const int chunks = (major == Major::Depth ? depth : outer) / per_chunk;
  const size_t size = run.block.shared.size();
  if (reach(rows, groups, chunks) <= size) return true;
  // The bound counts whole lines of 128 bytes; look at each row before saying so.
  for (int g = 0; g < groups; ++g)
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < chunks; ++c)
        if (const uint64_t offset = rows.offset(g, r, c); offset + 16 > size) {
          run.warp(0).fault(
              *issued.op, 0, FaultKind::InvalidDescriptor,
              fmt::format("the descriptor of {} reaches outside the block's shared memory: offset "
                          "{:#x}, shared memory {:#x} bytes",
                          name, offset, size),
              offset, {describe(descriptor)});
          return false;
        }
  return true;
}

// A from registers: each of a warp's four is a core matrix; copied in order of rows.
struct alignas(64) RegisterRows {
  std::byte bytes[kMostSteps][8][2][128];  // step, group of eight rows, 16 bytes of depth
};
OperandRows register_rows(const Run& run, size_t i, RegisterRows& copy) {
  for (int member = 0; member < 4; ++member)
    for (int r = 0; r < 4; ++r) {
      const IssuedWgmma& issued = run.at(member, i);
      const Slot slot = issued.plan->a_registers[r];
      const std::byte* values = issued.frame->registers + static_cast<int32_t>(slot);
      std::memcpy(copy.bytes[i][2 * member + r % 2][r / 2], values, 128);
    }
  // Registers 0 and 1 are the upper and lower rows of the first 16 bytes, 2 and 3 of the next.
  return {.base = copy.bytes[i][0][0], .group_stride = 256, .row_stride = 16, .chunk_stride = 128};
}

// A sparse A with its zeros: 64 rows, each of 64 bytes as four chunks that lie 128 bytes apart.
struct alignas(64) SpreadRows {
  std::byte bytes[8][4][8][16];  // group of eight rows, chunk, row
};
OperandRows spread_rows(const Run& run, const OperandRows& stored, SpreadRows& dense) {
  const WgmmaPlan& plan = run.plan();
  const bool by_columns = !plan.a_in_registers && plan.shape.a_major == Major::Outer;
  for (int row = 0; row < 64; ++row) {
    const int member = row / 16;
    const IssuedWgmma& issued = run.at(member, 0);
    const std::byte* words = issued.frame->registers + static_cast<int32_t>(plan.metadata);
    const SparseMetadata metadata{reinterpret_cast<const uint32_t*>(words), plan.first_lane,
                                  sparse_unit_bytes(plan.shape.a)};
    const auto group = static_cast<uint32_t>(row / 8), line = static_cast<uint32_t>(row % 8);
    std::byte narrow[32], wide[64];
    if (by_columns) {  // 16-bit elements only: 16 rows of depth, each with the 64 rows of A in it
      for (uint32_t k = 0; k < 16; ++k)
        std::memcpy(narrow + 2 * k, stored.at(k / 8, k % 8, group) + 2 * line, 2);
    } else {
      for (uint32_t c = 0; c < 2; ++c) std::memcpy(narrow + 16 * c, stored.at(group, line, c), 16);
    }
    spread_row(metadata, row % 16, narrow, sizeof narrow, wide);
    for (uint32_t c = 0; c < 4; ++c) std::memcpy(dense.bytes[group][c][line], wide + 16 * c, 16);
  }
  return {.base = dense.bytes[0][0][0], .group_stride = 512, .row_stride = 16, .chunk_stride = 128};
}

using Frames = std::array<Frame*, 4>;
Frames frames_of(const Run& run) {
  Frames frames;
  for (int member = 0; member < 4; ++member) frames[member] = run.at(member, 0).frame;
  return frames;
}

// Where the accumulators' parts are when they are 32 bits wide.
template <typename T>
void place_parts(const WgmmaPlan& plan, const Frames& frames, T** parts) {
  const int columns = plan.shape.columns;
  for (const Frame* frame : frames) {
    std::byte* registers = frame->registers;
    for (int half = 0; half < 2; ++half)
      for (int j = 0; j < columns / 8; ++j)
        for (int p = 0; p < 2; ++p)
          *parts++ = reinterpret_cast<T*>(registers + plan.accumulators[4 * j + 2 * half + p]);
  }
}

struct alignas(64) PlainParts {
  uint32_t values[kMostParts][32];
};
PlainParts& plain_parts() {
  static thread_local PlainParts space;
  return space;
}

template <typename T>
void clear(const Run& run, T* const* parts) {
  const int count = run.plan().shape.columns * 2;
  for (int i = 0; i < count; ++i) std::memset(parts[i], 0, 128);
}

// f16 accumulators: widened for the product, rounded after it.
void multiply_into_halves(const Run& run, const MatrixShape& shape, const MatrixStep& step) {
  const WgmmaPlan& plan = run.plan();
  float* parts[kMostParts];
  PlainParts& space = plain_parts();
  const int groups = plan.shape.columns / 8;
  for (int i = 0; i < groups * 16; ++i) parts[i] = reinterpret_cast<float*>(space.values[i]);
  // Calls f(register, part of even columns, part of odd columns) for each block.
  const auto each_register = [&](auto f) {
    for (int member = 0; member < 4; ++member)
      for (int half = 0; half < 2; ++half)
        for (int j = 0; j < groups; ++j) {
          float** pair = parts + ((2 * member + half) * groups + j) * 2;
          f(reinterpret_cast<uint32_t*>(run.registers(member) + plan.accumulators[2 * j + half]),
            pair[0], pair[1]);
        }
  };
  if (run.at(0, 0).accumulate)
    each_register([](uint32_t* pairs, float* even, float* odd) { widen_pairs(pairs, even, odd); });
  else
    clear(run, parts);
  accumulate(tile_engine(), shape, {&step, 1}, parts);
  each_register([](uint32_t* pairs, float* even, float* odd) { narrow_pairs(even, odd, pairs); });
}

int32_t add_saturating(int32_t a, int32_t b) {
  const int64_t sum = int64_t{a} + b;
  return static_cast<int32_t>(std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

// One instruction's products fit 32 bits; only their sum with the accumulator may leave them.
void multiply_saturating(const Run& run, const MatrixShape& shape, const MatrixStep& step,
                         int32_t* const* parts) {
  int32_t* products[kMostParts];
  PlainParts& space = plain_parts();
  const int count = run.plan().shape.columns * 2;
  for (int i = 0; i < count; ++i) products[i] = reinterpret_cast<int32_t*>(space.values[i]);
  clear(run, products);
  accumulate(tile_engine(), shape, {&step, 1}, products);
  for (int i = 0; i < count; ++i)
    for (int lane = 0; lane < 32; ++lane)
      parts[i][lane] = add_saturating(parts[i][lane], products[i][lane]);
}

bool is_parkable(const WgmmaPlan& plan) {
  return plan.sum == Sum::F32 && multiplies_bf16(tile_engine(), plan.shape);
}

bool same_accumulators(const WgmmaPlan& a, const WgmmaPlan& b) {
  return &a == &b || a.accumulators == b.accumulators;
}
bool share_accumulators(const WgmmaPlan& a, const WgmmaPlan& b) {
  return std::any_of(a.accumulators.begin(), a.accumulators.end(), [&](Slot slot) {
    return std::find(b.accumulators.begin(), b.accumulators.end(), slot) != b.accumulators.end();
  });
}

// Whether an operation from `first` on that the member has issued will add to the same sums.
bool goes_on(const Warpgroup::Member& member, size_t first, const WgmmaPlan& plan,
             const Frame* frame) {
  for (size_t i = first; i < member.pending.size(); ++i)
    if (member.pending[i].frame == frame && is_parkable(*member.pending[i].plan) &&
        same_accumulators(*member.pending[i].plan, plan))
      return true;
  return false;
}

void unpark(const Run& run, const ParkedSums& sums) {
  for (int member = 0; member < 4; ++member)
    if (!frame_lives(run.warp(member), sums.frames[member], *sums.plan)) return;
  float* parts[kMostParts];
  place_parts(*sums.plan, sums.frames, parts);
  tile_engine().multiply_bf16(
      sums.plan->shape, {},
      {.from = SumPlaces::From::Parked,
       .to = SumPlaces::To::Parts,
       .parts = parts,
       .parked = reinterpret_cast<float*>(const_cast<std::byte*>(sums.values.data()))});
}

// Brings parked sums into their registers that the run needs there.
void unpark_others(const Run& run) {
  if (run.group.parked.empty()) return;
  const WgmmaPlan& plan = run.plan();
  const Frame* frame = run.at(0, 0).frame;
  std::erase_if(run.group.parked, [&](const ParkedSums& sums) {
    const bool goes_on_parked = is_parkable(plan) && same_accumulators(*sums.plan, plan);
    if (sums.frames[0] != frame || goes_on_parked || !share_accumulators(*sums.plan, plan))
      return false;
    unpark(run, sums);
    return true;
  });
}

// bf16 into fp32 by an engine that can keep the sums to itself.
void multiply_parkable(const Run& run, std::span<const MatrixStep> steps) {
  const WgmmaPlan& plan = run.plan();
  const Frames frames = frames_of(run);
  auto& parked = run.group.parked;
  auto mine = std::find_if(parked.begin(), parked.end(), [&](const ParkedSums& sums) {
    return sums.frames == frames && same_accumulators(*sums.plan, plan);
  });
  SumPlaces places;
  if (!run.at(0, 0).accumulate)
    places.from = SumPlaces::From::Zero;
  else if (mine != parked.end())
    places.from = SumPlaces::From::Parked;
  for (int member = 0; member < 4; ++member)
    if (!plan.serialized &&
        goes_on(run.group.members[member], run.first + run.count, plan, frames[member]))
      places.to = SumPlaces::To::Parked;
  if (mine == parked.end() && places.to == SumPlaces::To::Parked) {
    parked.push_back(
        {&plan, frames,
         AlignedBytes(sizeof(float) * static_cast<size_t>(parked_values(plan.shape.columns)))});
    mine = parked.end() - 1;
  }
  if (mine != parked.end()) {
    mine->plan = &plan;
    places.parked = reinterpret_cast<float*>(mine->values.data());
  }
  float* parts[kMostParts];
  if (places.from == SumPlaces::From::Parts || places.to == SumPlaces::To::Parts) {
    place_parts(plan, frames, parts);
    places.parts = parts;
  }
  tile_engine().multiply_bf16(plan.shape, steps, places);
  if (mine != parked.end() && places.to == SumPlaces::To::Parts) parked.erase(mine);
}

bool multiply(const Run& run) {
  const WgmmaPlan& plan = run.plan();
  MatrixStep steps[kMostSteps];
  static thread_local RegisterRows copy;
  MatrixShape shape = plan.shape;
  for (size_t i = 0; i < run.count; ++i) {
    if (plan.a_in_registers)
      steps[i].a = register_rows(run, i, copy);
    else if (!shared_rows(run, i, 'A', steps[i].a))
      return false;
    if (!shared_rows(run, i, 'B', steps[i].b)) return false;
    steps[i].negate = run.at(0, i).plan->negate;
  }
  SpreadRows dense;
  if (plan.metadata != kNoSlot) {
    steps[0].a = spread_rows(run, steps[0].a, dense);
    shape.a_major = Major::Depth;
  }
  const std::span<const MatrixStep> all(steps, run.count);
  const bool accumulates = run.at(0, 0).accumulate;
  if (is_parkable(plan)) {
    multiply_parkable(run, all);
  } else if (plan.sum == Sum::F16) {
    multiply_into_halves(run, shape, steps[0]);
  } else if (plan.sum == Sum::F32) {
    float* parts[kMostParts];
    place_parts(plan, frames_of(run), parts);
    if (!accumulates) clear(run, parts);
    accumulate(tile_engine(), shape, all, parts);
  } else {
    int32_t* parts[kMostParts];
    place_parts(plan, frames_of(run), parts);
    if (!accumulates) clear(run, parts);
    if (plan.shape.a == TileElement::B1)
      accumulate_bits(shape, all, BitOperation::And, parts);
    else if (plan.saturate)
      multiply_saturating(run, shape, steps[0], parts);
    else
      accumulate(tile_engine(), shape, all, parts);
  }
  return true;
}

void spoil_accumulators(const Run& run) {
  for (int member = 0; member < 4; ++member)
    for (const Slot slot : run.plan().accumulators)
      write_nonsense(run.registers(member) + slot, kLanes * sizeof(uint32_t));
}

}  // namespace

Warpgroup& warpgroup_of(Warp& warp) {
  Block& block = *warp.block;
  if (block.warpgroups == nullptr) {
    auto state = std::make_unique<Warpgroups>();
    state->groups = std::vector<Warpgroup>((block.warps.size() + 3) / 4);
    block.warpgroups = std::move(state);
  }
  return static_cast<Warpgroups&>(*block.warpgroups).groups[warp.index / 4];
}

bool execute_wgmma(Block& block, uint32_t group_index, uint64_t count) {
  Warpgroup& group = static_cast<Warpgroups&>(*block.warpgroups).groups[group_index];
  const size_t wanted = count - group.executed;
  Run run{block, group, 4 * group_index};
  for (; run.first < wanted; run.first += run.count) {
    run.count = 1;
    if (!agree(run)) return false;
    const WgmmaPlan& plan = run.plan();
    const bool alone = plan.sum == Sum::F16 || plan.saturate || plan.metadata != kNoSlot;
    const auto most = static_cast<size_t>(alone ? 1 : std::min(kMostSteps, most_steps(plan.shape)));
    while (run.count < most && run.first + run.count < wanted && joins(run)) {
      const Run next{block, group, run.first_warp, run.first + run.count};
      if (!agree(next)) return false;
      ++run.count;
    }
    bool reachable = true;
    for (int member = 0; member < 4; ++member)
      reachable = reachable && frame_lives(run.warp(member), run.at(member, 0).frame, plan);
    unpark_others(run);
    if (reachable && !multiply(run)) return false;
    if (reachable && tampering().products) spoil_accumulators(run);
  }
  for (auto& member : group.members)
    member.pending.erase(member.pending.begin(),
                         member.pending.begin() + static_cast<ptrdiff_t>(wanted));
  group.executed = count;
  return true;
}

void unpark_for(Block& block, uint32_t group_index, int member) {
  Warpgroup& group = static_cast<Warpgroups&>(*block.warpgroups).groups[group_index];
  const Run run{block, group, 4 * group_index};
  const auto& unwaited = group.members[member].unwaited.operations;
  std::erase_if(group.parked, [&](const ParkedSums& sums) {
    const bool in_flight = std::any_of(unwaited.begin(), unwaited.end(), [&](const auto& o) {
      return o.frame == sums.frames[member] && same_accumulators(*o.plan, *sums.plan);
    });
    if (!in_flight) unpark(run, sums);
    return !in_flight;
  });
}

}  // namespace weft::emulator
