// SPDX-License-Identifier: Apache-2.0

// wmma.load, wmma.store, wmma.mma (PTX ISA 9.0, section 9.7.14.4). Which lane holds what of a
// fragment is left open by the manual. Here lane l holds the l-th 32nd of the matrix in row order:
// of A by rows of M, of B by rows of N (so K runs along both), of C and D by rows of M. The 16
// halves of an f16 fragment can be more than its share; then they repeat.

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/aligned.h"
#include "ptxbench/emulator/ops/matrix_lowering.h"
#include "ptxbench/emulator/ops/matrix_shape.h"
#include "ptxbench/emulator/tile/block_copy.h"
#include "ptxbench/emulator/tile/half_pairs.h"
#include "ptxbench/emulator/tile/matrix_product.h"

namespace weft::emulator {

namespace {

using isa::Type;

// One fragment: a matrix of rows x columns elements as described above, and its registers.
struct Fragment {
  int rows = 0, columns = 0, bits = 0;
  std::vector<Slot> registers;
  int register_bytes() const { return bits == 64 ? 8 : 4; }
  int row_bytes() const { return columns * bits / 8; }
  int bytes() const { return rows * row_bytes(); }
  // Registers of a lane that hold its share; the rest repeat them.
  size_t share() const { return static_cast<size_t>(bytes() / kLanes / register_bytes()); }
};

constexpr int kMostBytes = 32 * 32 * 4;
struct alignas(64) Matrix {
  std::byte bytes[kMostBytes];
};

void gather(const Warp& warp, const Fragment& fragment, Matrix& matrix) {
  const int size = fragment.register_bytes();
  std::byte* to = matrix.bytes;
  for (int lane = 0; lane < kLanes; ++lane)
    for (size_t r = 0; r < fragment.share(); ++r, to += size)
      std::memcpy(to, warp.read<std::byte>(fragment.registers[r]) + lane * size, size);
}

void scatter(const Matrix& matrix, const Fragment& fragment, Warp& warp) {
  const int size = fragment.register_bytes();
  const size_t share = fragment.share();
  for (int lane = 0; lane < kLanes; ++lane)
    for (size_t r = 0; r < fragment.registers.size(); ++r)
      std::memcpy(warp.write<std::byte>(fragment.registers[r]) + lane * size,
                  matrix.bytes + (lane * share + r % share) * size, size);
}

// --- load and store ------------------------------------------------------------------------------

struct MemoryPlan final : Extra {
  Fragment fragment;
  bool turned = false;  // memory runs along the fragment's columns, not its rows
  Address address;
  Slot stride = kNoSlot;  // elements between lines of memory; none: they are dense
};

// Calls f(place in memory, line) for each line, false after a fault. Lines are rows of the
// fragment, or columns when turned.
template <typename F>
bool each_line(Warp& warp, const Op& op, const MemoryPlan& plan, AccessKind kind, F f) {
  const Fragment& fragment = plan.fragment;
  const int lines = plan.turned ? fragment.columns : fragment.rows;
  const int length = plan.turned ? fragment.rows : fragment.columns;
  const uint64_t base =
      lane_address(warp, plan.address.slot, plan.address.wide, plan.address.offset, 0);
  const int64_t stride = plan.stride == kNoSlot ? length : warp.read<int32_t>(plan.stride)[0];
  const uint32_t bytes = static_cast<uint32_t>(length * fragment.bits / 8);
  const uint32_t alignment = static_cast<uint32_t>(std::max(1, fragment.bits / 8));
  for (int line = 0; line < lines; ++line) {
    const uint64_t address = base + static_cast<uint64_t>(line * stride * fragment.bits / 8);
    std::byte* place = access(warp, op, 0, plan.address.space, address, bytes, alignment, kind);
    if (place == nullptr) return false;
    if (HazardCheck* hazards = hazards_of(warp))
      if (!hazards->touch(warp, op, 0, place, bytes,
                          kind == AccessKind::Read ? Touch::Read : Touch::Write))
        return false;
    f(place, line);
  }
  return true;
}

Outcome run_load(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const MemoryPlan*>(op.extra);
  const Fragment& fragment = plan.fragment;
  const int row_bytes = fragment.row_bytes(), size = fragment.bits / 8;
  Matrix matrix;
  const bool good =
      each_line(warp, op, plan, AccessKind::Read, [&](const std::byte* place, int line) {
        if (!plan.turned) {
          std::memcpy(matrix.bytes + line * row_bytes, place, row_bytes);
          return;
        }
        for (int row = 0; row < fragment.rows; ++row)
          std::memcpy(matrix.bytes + row * row_bytes + line * size, place + row * size, size);
      });
  if (!good) return Outcome::Fault;
  scatter(matrix, fragment, warp);
  return Outcome::Next;
}

Outcome run_store(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const MemoryPlan*>(op.extra);
  const Fragment& fragment = plan.fragment;
  const int row_bytes = fragment.row_bytes(), size = fragment.bits / 8;
  Matrix matrix;
  gather(warp, fragment, matrix);
  const bool good = each_line(warp, op, plan, AccessKind::Write, [&](std::byte* place, int line) {
    if (!plan.turned) {
      std::memcpy(place, matrix.bytes + line * row_bytes, row_bytes);
      return;
    }
    for (int row = 0; row < fragment.rows; ++row)
      std::memcpy(place + row * size, matrix.bytes + row * row_bytes + line * size, size);
  });
  return good ? Outcome::Next : Outcome::Fault;
}

// --- products ------------------------------------------------------------------------------------

struct ProductPlan final : Extra {
  MatrixShape shape;  // unused for f64
  Fragment a, b, c, d;
  bool is_double = false, saturate = false;
  int rounding = FE_TONEAREST;  // of f64
  BitOperation bits = BitOperation::And;
};

OperandRows rows_of(const Matrix& matrix, const Fragment& fragment) {
  const auto row = static_cast<uint32_t>(fragment.row_bytes());
  return {.base = matrix.bytes, .group_stride = 8 * row, .row_stride = row};
}

// Accumulators in row order, 32 bits wide, to 8 x 8 blocks in parts and back.
template <typename T>
struct Blocks {
  alignas(64) T values[32][32];
  T* parts[32];
  Blocks() {
    for (int i = 0; i < 32; ++i) parts[i] = values[i];
  }
  void put(const T* rows, int height, int width) {
    for (int g = 0; g < height / 8; ++g)
      scatter_blocks(rows + g * 8 * width, width, parts + g * width / 4, width / 8);
  }
  void get(T* rows, int height, int width) {
    for (int g = 0; g < height / 8; ++g)
      gather_blocks(parts + g * width / 4, width / 8, rows + g * 8 * width, width);
  }
};

// f16 rows are pairs as a register's lanes hold them, 32 at a time.
void widen(const Matrix& matrix, int count, float* values) {
  for (int i = 0; i < count / 2; i += 32) {
    float even[32], odd[32];
    widen_pairs(reinterpret_cast<const uint32_t*>(matrix.bytes) + i, even, odd);
    for (int k = 0; k < 32; ++k) values[2 * (i + k)] = even[k], values[2 * (i + k) + 1] = odd[k];
  }
}
void narrow(const float* values, int count, Matrix& matrix) {
  for (int i = 0; i < count / 2; i += 32) {
    float even[32], odd[32];
    for (int k = 0; k < 32; ++k) even[k] = values[2 * (i + k)], odd[k] = values[2 * (i + k) + 1];
    narrow_pairs(even, odd, reinterpret_cast<uint32_t*>(matrix.bytes) + i);
  }
}

int32_t add(int32_t a, int32_t b, bool saturate) {
  const int64_t sum = int64_t{a} + b;
  if (!saturate) return static_cast<int32_t>(sum);
  return static_cast<int32_t>(std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

void multiply_doubles(const ProductPlan& plan, const Matrix& a, const Matrix& b, Matrix& sums) {
  const auto* x = reinterpret_cast<const double*>(a.bytes);
  const auto* y = reinterpret_cast<const double*>(b.bytes);
  auto* sum = reinterpret_cast<double*>(sums.bytes);
  const int depth = plan.a.columns, columns = plan.d.columns;
  if (plan.rounding != FE_TONEAREST) std::fesetround(plan.rounding);
  for (int i = 0; i < plan.d.rows; ++i)
    for (int j = 0; j < columns; ++j)
      for (int k = 0; k < depth; ++k)
        sum[i * columns + j] = std::fma(x[i * depth + k], y[j * depth + k], sum[i * columns + j]);
  if (plan.rounding != FE_TONEAREST) std::fesetround(FE_TONEAREST);
}

void multiply_floats(const ProductPlan& plan, const MatrixStep& step, Matrix& sums) {
  const int rows = plan.d.rows, columns = plan.d.columns;
  alignas(64) float values[32 * 32];
  if (plan.c.bits == 16)
    widen(sums, rows * columns, values);
  else
    std::memcpy(values, sums.bytes, static_cast<size_t>(rows) * columns * 4);
  Blocks<float> blocks;
  blocks.put(values, rows, columns);
  accumulate(tile_engine(), plan.shape, {&step, 1}, blocks.parts);
  blocks.get(values, rows, columns);
  if (plan.d.bits == 16)
    narrow(values, rows * columns, sums);
  else
    std::memcpy(sums.bytes, values, static_cast<size_t>(rows) * columns * 4);
}

void multiply_integers(const ProductPlan& plan, const MatrixStep& step, Matrix& sums) {
  const int rows = plan.d.rows, columns = plan.d.columns;
  Blocks<int32_t> blocks;
  std::memset(blocks.values, 0, sizeof blocks.values);
  if (plan.shape.a == TileElement::B1)
    accumulate_bits(plan.shape, {&step, 1}, plan.bits, blocks.parts);
  else
    accumulate(tile_engine(), plan.shape, {&step, 1}, blocks.parts);
  alignas(64) int32_t products[32 * 32];
  blocks.get(products, rows, columns);
  auto* sum = reinterpret_cast<int32_t*>(sums.bytes);
  for (int i = 0; i < rows * columns; ++i) sum[i] = add(sum[i], products[i], plan.saturate);
}

Outcome run_mma(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const ProductPlan*>(op.extra);
  Matrix a, b, sums;
  gather(warp, plan.a, a);
  gather(warp, plan.b, b);
  gather(warp, plan.c, sums);
  const MatrixStep step{.a = rows_of(a, plan.a), .b = rows_of(b, plan.b)};
  if (plan.is_double)
    multiply_doubles(plan, a, b, sums);
  else if (is_integer(plan.shape.a) || plan.shape.a == TileElement::B1)
    multiply_integers(plan, step, sums);
  else
    multiply_floats(plan, step, sums);
  scatter(sums, plan.d, warp);
  return Outcome::Next;
}

// --- lowering ------------------------------------------------------------------------------------

int element_width(Type type) {
  return type == Type::Tf32 ? 32 : isa::bits(type);
}

Result<Fragment> fragment(Lowering& l, const ptx::Operand& operand, int rows, int columns,
                          Type type, bool destination) {
  Fragment f{.rows = rows, .columns = columns, .bits = element_width(type), .registers = {}};
  const Type word = f.bits == 64 ? Type::F64 : Type::B32;
  for (const ptx::Operand* element : l.elements(operand))
    f.registers.push_back(destination ? TRY(l.destination(*element, word))
                                      : TRY(l.source(*element, word)));
  if (f.registers.size() < f.share())
    return l.error(
        fmt::format("{} registers for a fragment of {} x {}", f.registers.size(), rows, columns));
  return f;
}

Result<Done> lower_memory(Lowering& l, const ptx::Instruction& i, const MmaShape& shape) {
  const bool load = i.has("load");
  if (i.types.empty()) return l.error("wmma without a type");
  auto plan = std::make_unique<MemoryPlan>();
  const bool by_row = i.has("row");
  int rows = shape.m, columns = shape.n;
  plan->turned = !by_row;
  if (load && i.has("a")) {
    columns = shape.k;
  } else if (load && i.has("b")) {
    rows = shape.n;
    columns = shape.k;
    plan->turned = by_row;
  }
  plan->fragment = TRY(fragment(l, i.operands[load ? 0 : 1], rows, columns, i.types[0], load));
  if (plan->turned && plan->fragment.bits < 8)
    return l.error("elements narrower than a byte have one layout only");
  plan->address = TRY(l.address(i.operands[load ? 1 : 0], i.space));
  if (i.operands.size() > 2) plan->stride = TRY(l.source(i.operands[2], Type::B32));
  l.emit(load ? run_load : run_store).extra = l.keep(std::move(plan));
  return Done{};
}

Result<Done> lower_product(Lowering& l, const ptx::Instruction& i, const MmaShape& shape) {
  // f16 products name only the types of d and c.
  std::vector<Type> types = i.types;
  if (types.size() == 2) types = {types[0], Type::F16, Type::F16, types[1]};
  if (types.size() != 4) return l.error("wmma.mma without types");
  auto plan = std::make_unique<ProductPlan>();
  plan->is_double = types[1] == Type::F64;
  if (!plan->is_double) {
    const auto a = tile_element(types[1]), b = tile_element(types[2]);
    if (!a || !b) return l.error("wmma of types that it does not have");
    plan->shape = {*a, *b, static_cast<uint16_t>(shape.m), static_cast<uint16_t>(shape.n),
                   static_cast<uint16_t>(shape.k)};
  }
  plan->rounding = i.has("rz")   ? FE_TOWARDZERO
                   : i.has("rm") ? FE_DOWNWARD
                   : i.has("rp") ? FE_UPWARD
                                 : FE_TONEAREST;
  plan->saturate = i.has("satfinite");
  plan->bits = i.has("xor") ? BitOperation::Xor : BitOperation::And;
  plan->d = TRY(fragment(l, i.operands[0], shape.m, shape.n, types[0], true));
  plan->a = TRY(fragment(l, i.operands[1], shape.m, shape.k, types[1], false));
  plan->b = TRY(fragment(l, i.operands[2], shape.n, shape.k, types[2], false));
  plan->c = TRY(fragment(l, i.operands[3], shape.m, shape.n, types[3], false));
  l.emit(run_mma).extra = l.keep(std::move(plan));
  return Done{};
}

}  // namespace

Result<Done> lower_wmma(Lowering& l, const ptx::Instruction& i) {
  const auto shape = mma_shape(i);
  if (!shape) return l.error("wmma without a shape");
  if (i.has("load") || i.has("store")) return lower_memory(l, i, *shape);
  return lower_product(l, i, *shape);
}

}  // namespace weft::emulator
