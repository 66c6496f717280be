// SPDX-License-Identifier: Apache-2.0

// Carries out tcgen05.mma: up to 64 rows of D at once, in each block of a pair, and neighbouring
// instructions on the same sums as one deeper product.
//
// Where row r of D lies (section 9.7.16.10.5, data path layouts):
//   M = 128, one block     lane r
//   M = 64, one block      lane 32 (r / 16) + r % 16, or 16 further when D says so
//   M = 256, two blocks    lane r % 128 of block r / 128
//   M = 64, .ws            lane r for the left half of the columns, 64 lanes further for the right
//   one M = 32, .ws            lane r for the first quarter of the columns, 32 more for each
//   further one M = 128, two blocks    block r / 64: lane r % 64 for the left half of the columns,
//   64 lanes
//                          further for the right one

#include "ptxbench/emulator/ops/tensor_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "ptxbench/emulator/ops/tensor_operand.h"
#include "ptxbench/emulator/ops/tensor_scaled_product.h"
#include "ptxbench/emulator/tampering.h"
#include "ptxbench/emulator/tile/half_pairs.h"

namespace weft::emulator {

namespace {

using Sum = InstructionDescriptor::Sum;

constexpr int kMostSteps = 16, kMostParts = 512;  // parts of 64 x 256 sums

struct Workspace {
  CopiedRows a[kMostSteps], b[kMostSteps];
  alignas(64) uint32_t sums[kMostParts][32];
  alignas(64) uint32_t products[kMostParts][32];
};
Workspace& workspace() {
  static thread_local Workspace space;
  return space;
}

int32_t add_saturating(int32_t a, int32_t b) {
  return static_cast<int32_t>(std::clamp<int64_t>(
      int64_t{a} + b, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

// Sums of one part of D on their way through the engine when they cannot stay where they are: f16,
// scaled, saturated, partly disabled, or at columns that no block of eight begins at.
class StagedSums {
 public:
  StagedSums(const TensorProduct& product, const Part& part, Workspace& space)
      : product_(product), part_(part), sums_(space.sums) {}

  void load() {
    each([&](uint32_t& sum, uint32_t& word, uint32_t) {
      sum = product_.accumulate ? widened(word) : 0;
    });
  }
  void store() {
    each([&](uint32_t& sum, uint32_t& word, uint32_t lane) {
      if ((part_.disabled[lane / 32] >> lane % 32 & 1) == 0) word = narrowed(sum);
    });
  }

 private:
  template <typename F>
  void each(F f) {
    for (int row = 0; row < part_.rows; ++row)
      for (int column = 0; column < part_.columns; ++column) {
        const uint32_t lane = part_.lane(row);
        f(sums_[row / 8 * (part_.columns / 4) + column / 8 * 2 + column % 2]
               [row % 8 * 4 + column % 8 / 2],
          part_.memory->word(lane, part_.column + static_cast<uint32_t>(column)), lane);
      }
  }
  uint32_t widened(uint32_t word) const {
    if (product_.shape.sum == Sum::S32) return word;
    float value = std::bit_cast<float>(word);
    if (product_.shape.sum == Sum::F16) {
      uint32_t pairs[32] = {word & 0xffff};
      float even[32], odd[32];
      widen_pairs(pairs, even, odd);
      value = even[0];
    }
    return std::bit_cast<uint32_t>(std::ldexp(value, -product_.scale));
  }
  uint32_t narrowed(uint32_t sum) const {
    if (product_.shape.sum != Sum::F16) return sum;
    const float even[32] = {std::bit_cast<float>(sum)}, odd[32] = {};
    uint32_t pairs[32];
    narrow_pairs(even, odd, pairs);
    return pairs[0] & 0xffff;
  }

  const TensorProduct& product_;
  const Part& part_;
  uint32_t (*sums_)[32];
};

bool is_staged(const TensorProduct& product, const Part& part) {
  return product.shape.sum == Sum::F16 || product.scale != 0 || product.shape.saturate ||
         part.column % 8 != 0 ||
         std::any_of(part.disabled, part.disabled + 4, [](uint32_t bits) { return bits != 0; });
}

template <typename T>
void multiply_into(const MatrixShape& shape, std::span<const MatrixStep> steps,
                   uint32_t* const* parts, int count) {
  T* typed[kMostParts];
  for (int i = 0; i < count; ++i) typed[i] = reinterpret_cast<T*>(parts[i]);
  accumulate(tile_engine(), shape, steps, typed);
}

void multiply(const TensorProduct& product, const Part& part, const MatrixShape& shape,
              std::span<const MatrixStep> steps) {
  Workspace& space = workspace();
  const int count = part.columns / 4 * (part.rows / 8);
  const bool integers = product.shape.sum == Sum::S32;
  uint32_t* parts[kMostParts];
  const bool staged = is_staged(product, part);
  StagedSums sums(product, part, space);
  if (staged) {
    sums.load();
    for (int i = 0; i < count; ++i)
      parts[i] = product.shape.saturate ? space.products[i] : space.sums[i];
    if (product.shape.saturate) std::memset(space.products, 0, sizeof space.products);
  } else {
    uint32_t** next = parts;
    for (int g = 0; g < part.rows / 8; ++g)
      for (int block = 0; block < part.columns / 8; ++block)
        for (uint32_t p = 0; p < 2; ++p)
          *next++ =
              part.memory->part(part.group(g), part.column / 8 + static_cast<uint32_t>(block), p);
    if (!product.accumulate)
      for (int i = 0; i < count; ++i) std::memset(parts[i], 0, sizeof space.sums[0]);
  }
  if (integers)
    multiply_into<int32_t>(shape, steps, parts, count);
  else
    multiply_into<float>(shape, steps, parts, count);
  if (product.shape.saturate)
    for (int i = 0; i < count; ++i)
      for (int lane = 0; lane < 32; ++lane)
        space.sums[i][lane] =
            static_cast<uint32_t>(add_saturating(static_cast<int32_t>(space.sums[i][lane]),
                                                 static_cast<int32_t>(space.products[i][lane])));
  if (tampering().products)
    for (int i = 0; i < count; ++i)
      write_nonsense(reinterpret_cast<std::byte*>(staged ? space.sums[i] : parts[i]),
                     sizeof space.sums[0]);
  if (staged) sums.store();
}

// One part for products that go on with the same sums; the blocks are those that hold A's rows and
// B's columns. False after a fault.
bool multiply_part(std::span<TensorProduct* const> run, const Part& part, Block& a_block,
                   Block& b_block) {
  Workspace& space = workspace();
  const TensorProduct& first = *run.front();
  MatrixStep steps[kMostSteps];
  MatrixShape shape{.a = first.shape.a,
                    .b = first.shape.b,
                    .rows = static_cast<uint16_t>(part.rows),
                    .columns = static_cast<uint16_t>(part.columns)};
  static thread_local CopiedRows stored;
  for (size_t i = 0; i < run.size(); ++i) {
    const ZeroColumns zeros{run[i]->zero_columns.value_or(0), first.shape.rows,
                            first.shape.columns};
    const Operand a{run[i], &a_block, true, part.a_rows};
    const Operand b{run[i], &b_block, false, part.b_columns + zeros.shift()};
    shape.depth = static_cast<uint16_t>(b.depth());
    shape.a_major = a.copied() || first.a_in_memory ? Major::Depth : a.major();
    shape.b_major = b.copied() ? Major::Depth : b.major();
    CopiedRows& a_space = first.shape.sparse ? stored : space.a[i];
    if (first.a_in_memory)
      steps[i].a = tensor_rows(*run[i], part, tensor_memory_of(a_block), a_space);
    else if (!operand_rows(a, part.a_first, part.rows, a_space, steps[i].a))
      return false;
    if (first.shape.sparse)
      steps[i].a = spread_rows(*run[i], part, tensor_memory_of(a_block), stored, space.a[i]);
    if (!operand_rows(b, part.b_first + zeros.shift(), part.columns, space.b[i], steps[i].b))
      return false;
    for (int column = 0; column < (run[i]->zero_columns ? part.columns : 0); ++column)
      if (zeros.is_zero(part.b_first + column))
        std::memset(space.b[i].bytes[column], 0, CopiedRows::kBytes);
    steps[i].negate = run[i]->shape.negate;
  }
  if (first.scales != 0)
    multiply_scaled(first, part, shape, steps[0]);
  else
    multiply(first, part, shape, {steps, run.size()});
  return true;
}

// Weight stationary products of 32 and 64 rows: the columns stand in four and two groups of lanes.
bool multiply_beside(std::span<TensorProduct* const> run) {
  const TensorProduct& first = *run.front();
  const int rows = first.shape.rows, beside = 128 / rows;
  for (int n = 0; n < beside; ++n) {
    const int columns = first.shape.columns / beside;
    const Part part{.memory = &tensor_memory_of(*first.block),
                    .first_group = static_cast<uint32_t>(n * rows / 8),
                    .rows = rows,
                    .column = first.d.column,
                    .columns = columns,
                    .a_rows = rows,
                    .b_first = n * columns,
                    .b_columns = first.shape.columns,
                    .disabled = first.disabled.data()};
    if (!multiply_part(run, part, *first.block, *first.block)) return false;
  }
  return true;
}

bool multiply_all(std::span<TensorProduct* const> run) {
  const TensorProduct& first = *run.front();
  if (first.weight_stationary && first.shape.rows < 128) return multiply_beside(run);
  const int blocks = first.peer == nullptr ? 1 : 2;
  // The block of even rank has the upper rows and the left columns.
  Block* pair[2] = {first.block, first.peer};
  if (blocks == 2 && first.block->rank % 2 != 0) std::swap(pair[0], pair[1]);
  const int rows = first.shape.rows / blocks;
  for (int m = 0; m < blocks; ++m)
    for (int half = 0; half < rows / 64; ++half)
      for (int n = 0; n < blocks; ++n) {
        Part part{.memory = &tensor_memory_of(*pair[m]),
                  .column = first.d.column,
                  .columns = first.shape.columns / blocks,
                  .a_first = 64 * half,
                  .a_rows = rows,
                  .b_columns = first.shape.columns / blocks,
                  .disabled = first.disabled.data() + 4 * m};
        part.first_group = static_cast<uint32_t>(8 * half);
        if (first.spread()) {
          part.spread = true;
          part.first_group = first.d.lane / 8;
        } else if (blocks == 2 && rows == 64) {
          part.first_group = static_cast<uint32_t>(8 * n);
        }
        if (blocks == 2 && rows == 128) {
          part.column += static_cast<uint32_t>(n * part.columns);
          part.scale_column = n * part.columns;
        }
        if (!multiply_part(run, part, *pair[m], *pair[n])) return false;
      }
  return true;
}

}  // namespace

TensorRange TensorProduct::written() const {
  LaneGroups groups = 0xffff;
  if (spread()) groups = d.lane == 0 ? 0x3333 : 0xcccc;
  const int beside = peer != nullptr && shape.rows == 128 ? 2
                     : weight_stationary                  ? 128 / shape.rows
                                                          : 1;
  return {d.column, static_cast<uint32_t>(shape.columns / beside), groups};
}

std::vector<TensorRange> TensorProduct::read() const {
  std::vector<TensorRange> ranges;
  LaneGroups groups = 0xffff;
  if (spread()) groups = a_place.lane == 0 ? 0x3333 : 0xcccc;
  if (a_in_memory) ranges.push_back({a_place.column, 8, groups});
  if (shape.sparse) ranges.push_back({metadata.column, 2, 0xffff});
  if (scales == 0) return ranges;
  // A word for each row of the block and each column of D in the same lanes.
  const int rows = shape.rows / (peer == nullptr ? 1 : 2);
  const int columns = peer != nullptr && rows == 64 ? shape.columns / 2 : shape.columns;
  ranges.push_back({a_scales.column, static_cast<uint32_t>(rows / 32), 0xffff});
  ranges.push_back({b_scales.column, static_cast<uint32_t>((columns + 31) / 32), 0xffff});
  return ranges;
}

uint64_t TensorProduct::operations() const {
  const int depth = Operand{this, block, false, 0}.depth();
  return 2 * static_cast<uint64_t>(shape.rows) * static_cast<uint64_t>(shape.columns) *
         static_cast<uint64_t>(depth);
}

bool TensorProduct::joins(const TensorProduct& first) const {
  return accumulate && scale == 0 && scales == 0 && first.scales == 0 &&
         weight_stationary == first.weight_stationary &&
         zero_columns.has_value() == first.zero_columns.has_value() && shape == first.shape &&
         block == first.block && peer == first.peer && a_in_memory == first.a_in_memory &&
         d.column == first.d.column && d.lane == first.d.lane && disabled == first.disabled &&
         shape.sum != InstructionDescriptor::Sum::F16 && !shape.saturate;
}

bool TensorProduct::perform(Cluster&) {
  TensorMemory& memory = tensor_memory_of(*block);
  bool fine = true;
  if (!done_) {
    std::vector<TensorProduct*> run{this};
    const Operand b{this, block, false, 0};
    const int most =
        std::min(kMostSteps, most_steps({.a = shape.a, .depth = static_cast<uint16_t>(b.depth())}));
    auto& waiting = memory.products;
    waiting.pop_front();
    while (!waiting.empty() && waiting.front() != nullptr && static_cast<int>(run.size()) < most &&
           waiting.front()->joins(*this)) {
      waiting.front()->done_ = true;
      run.push_back(waiting.front());
      waiting.pop_front();
    }
    // Columns may have been given back since the product was issued.
    for (Block* each : {block, peer})
      if (each != nullptr)
        if (std::string why = tensor_memory_of(*each).problem(written().column, written().columns);
            !why.empty())
          return place.fault(FaultKind::TensorMemory, std::move(why));
    fine = multiply_all(run);
  }
  memory.landed(numbers[0]);
  if (peer != nullptr) tensor_memory_of(*peer).landed(numbers[1]);
  return fine;
}

}  // namespace weft::emulator
