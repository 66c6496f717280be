// SPDX-License-Identifier: Apache-2.0

// ldmatrix and stmatrix of 8-bit and narrower elements (sm_100a). A row of memory is 16 elements in
// 16 bytes; those of 4 and 6 bits lie side by side at its front, and each comes into the low bits
// of a byte of its own.
//
// Which byte goes where follows the copy traits that CUTLASS publishes for these instructions
// (SM100_U8x8_LDSM_T and its neighbours). Lane l = 4 g + p; c counts the bytes of a row:
//   m8n16          register = row g, bytes c = 4 p ... 4 p + 3
//   m16n16.trans   register r = rows 4 p + 2 r and 4 p + 2 r + 1 at c = g, then both at c = g + 8
//   m16n8.trans    (stores) rows 2 p and 2 p + 1 at c = g, then both at c = g + 8

#include <array>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/aligned.h"
#include "ptxbench/emulator/ops/matrix_lowering.h"

namespace weft::emulator {

namespace {

using isa::Type;

constexpr int kRowBytes = 16;
using Row = std::array<uint8_t, kRowBytes>;

struct BytePlan final : Extra {
  std::array<Slot, 4> registers{};
  int matrices = 0;
  int rows = 0;  // of a matrix in memory
  int element_bits = 8;
  Address address;
};

const BytePlan& plan_of(const Op& op) {
  return *static_cast<const BytePlan*>(op.extra);
}

// Where the rows lie, by the lane that gives the address; false after a fault.
bool row_places(Warp& warp, const Op& op, const BytePlan& plan, AccessKind kind,
                std::byte** places) {
  for (int lane = 0; lane < plan.rows * plan.matrices; ++lane) {
    const uint64_t address =
        lane_address(warp, plan.address.slot, plan.address.wide, plan.address.offset, lane);
    places[lane] = access(warp, op, lane, plan.address.space, address, kRowBytes, kRowBytes, kind);
    if (places[lane] == nullptr) return false;
    if (HazardCheck* hazards = hazards_of(warp))
      if (!hazards->touch(warp, op, lane, places[lane], kRowBytes,
                          kind == AccessKind::Read ? Touch::Read : Touch::Write))
        return false;
  }
  return true;
}

// Sixteen elements of `bits` to sixteen bytes.
Row widened(const std::byte* from, int bits) {
  uint64_t words[3] = {};
  std::memcpy(words, from, kRowBytes);
  Row row;
  for (int i = 0; i < kRowBytes; ++i) {
    const int at = i * bits;
    uint64_t value = words[at / 64] >> at % 64;
    if (at % 64 != 0) value |= words[at / 64 + 1] << (64 - at % 64);
    row[static_cast<size_t>(i)] = static_cast<uint8_t>(value & ((1u << bits) - 1));
  }
  return row;
}

uint8_t* bytes_of(Warp& warp, Slot slot, int lane) {
  return warp.write<uint8_t>(slot) + 4 * lane;
}

// All addresses are read before a register is written: it may be the address register.
bool load_rows(Warp& warp, const Op& op, const BytePlan& plan, Row* rows) {
  std::byte* places[kLanes];
  if (!row_places(warp, op, plan, AccessKind::Read, places)) return false;
  for (int row = 0; row < plan.rows * plan.matrices; ++row)
    rows[row] = widened(places[row], plan.element_bits);
  return true;
}

Outcome run_load(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const BytePlan& plan = plan_of(op);
  Row rows[kLanes];
  if (!load_rows(warp, op, plan, rows)) return Outcome::Fault;
  for (int m = 0; m < plan.matrices; ++m)
    for (int row = 0; row < 8; ++row)
      std::memcpy(bytes_of(warp, plan.registers[static_cast<size_t>(m)], 4 * row),
                  rows[8 * m + row].data(), kRowBytes);
  return Outcome::Next;
}

Outcome run_load_transposed(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const BytePlan& plan = plan_of(op);
  Row rows[kLanes];
  if (!load_rows(warp, op, plan, rows)) return Outcome::Fault;
  for (int m = 0; m < plan.matrices; ++m)
    for (int r = 0; r < 2; ++r)
      for (int lane = 0; lane < kLanes; ++lane) {
        uint8_t* to = bytes_of(warp, plan.registers[static_cast<size_t>(2 * m + r)], lane);
        const Row* two = rows + 16 * m + 4 * (lane % 4) + 2 * r;
        const auto c = static_cast<size_t>(lane / 4);
        to[0] = two[0][c];
        to[1] = two[1][c];
        to[2] = two[0][c + 8];
        to[3] = two[1][c + 8];
      }
  return Outcome::Next;
}

Outcome run_store_transposed(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const BytePlan& plan = plan_of(op);
  std::byte* places[kLanes];
  if (!row_places(warp, op, plan, AccessKind::Write, places)) return Outcome::Fault;
  for (int m = 0; m < plan.matrices; ++m)
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto* from = warp.read<std::byte>(plan.registers[static_cast<size_t>(m)]) + 4 * lane;
      std::byte* const* two = places + 8 * m + 2 * (lane % 4);
      const int c = lane / 4;
      two[0][c] = from[0];
      two[1][c] = from[1];
      two[0][c + 8] = from[2];
      two[1][c + 8] = from[3];
    }
  return Outcome::Next;
}

}  // namespace

Result<Done> lower_byte_blocks(Lowering& l, const ptx::Instruction& i) {
  const bool load = i.opcode == "ldmatrix", square = i.has("m16n16");
  auto plan = std::make_unique<BytePlan>();
  plan->matrices = i.has("x4") ? 4 : i.has("x2") ? 2 : 1;
  plan->rows = square ? 16 : 8;
  plan->element_bits = i.has("b6x16_p32") ? 6 : i.has("b4x16_p64") ? 4 : 8;
  const auto registers = l.elements(i.operands[load ? 0 : 1]);
  const auto count = static_cast<size_t>(plan->matrices * (square ? 2 : 1));
  if (registers.size() != count)
    return l.error(
        fmt::format("{} registers for {}, which takes {}", registers.size(), i.spelling(), count));
  for (size_t r = 0; r < count; ++r)
    plan->registers[r] = load ? TRY(l.destination(*registers[r], Type::B32))
                              : TRY(l.source(*registers[r], Type::B32));
  plan->address = TRY(l.address(i.operands[load ? 1 : 0], i.space));
  const Handler handler = !load ? run_store_transposed : square ? run_load_transposed : run_load;
  const BytePlan* kept = l.keep(std::move(plan));
  l.emit(handler).extra = kept;
  return Done{};
}

}  // namespace weft::emulator
