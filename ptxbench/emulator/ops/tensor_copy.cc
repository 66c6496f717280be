// SPDX-License-Identifier: Apache-2.0

// cp.async.bulk.tensor, its reductions and prefetches, in tile and im2col mode (PTX ISA 9.0,
// section 9.7.9.25.5). The tensor map is read when the copy is issued; the elements move when its
// time has come. Elements outside the tensor are filled when loading and dropped when storing, and
// count in the transaction bytes.

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "ptxbench/emulator/bulk_reduction.h"
#include "ptxbench/emulator/bulk_transfer.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/async_copy.h"
#include "ptxbench/emulator/tampering.h"
#include "ptxbench/emulator/tensor_box.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Space;
using isa::Type;

constexpr uint32_t kTensorAlignment = 128;  // of the box in shared memory
constexpr uint32_t kMapAlignment = 16;

struct TensorForm : Extra {
  Address map;
  std::array<Slot, 5> coordinates{};
  uint32_t rank = 0;       // .1d ... .5d
  bool four_rows = false;  // .tile::gather4, .tile::scatter4
  bool im2col = false;
  std::vector<Slot> pixel_offsets;  // im2col loads: 16-bit values, rank - 2 of them
  IntoShared into;                  // loads
  Address source;                   // stores: the box in shared memory
  std::string_view reduction;       // "add", ...; empty: a plain copy
};

// The operations

struct TensorLoad final : AsyncOperation {
  IssuePlace place;
  TensorBox box;
  const std::byte* tensor = nullptr;
  std::vector<Destination> destinations;

  bool perform(Cluster&) override {
    for (const Destination& destination : destinations) {
      load_box(box, tensor, destination.data(), destination.offset);
      if (tampering().copies) write_nonsense(destination.data(), box.bytes());
    }
    return complete_transactions(place, destinations, box.bytes());
  }
};

class TensorStore final : public CopyOut {
 public:
  TensorStore(const TensorBox& box, std::byte* tensor, uint32_t address, Combine combine)
      : box_(box), tensor_(tensor), address_(address), combine_(combine) {}

 private:
  void write(const std::byte* bytes) override {
    store_box(box_, tensor_, bytes, address_, combine_);
  }

  TensorBox box_;
  std::byte* tensor_;
  uint32_t address_;  // shared address of the first byte: swizzles depend on it
  Combine combine_;
};

// Issuing

bool refuse(Warp& warp, const Op& op, int lane, std::string message, const TensorMap& map) {
  warp.fault(op, lane, FaultKind::InvalidDescriptor, std::move(message), 0, {describe_tensor(map)});
  return false;
}

// The first byte of a box lies at a multiple of 16 bytes. The manual does not say so: an H200
// answers a load with "illegal instruction", and stores are reported to end alike. Gathered rows
// and im2col have no record and pass.
bool starts_aligned(Warp& warp, const Op& op, int lane, const TensorForm& form,
                    const TensorBox& box) {
  const int64_t bits = int64_t{box.start[0]} * element_bits(box.map.element);
  if (bits % 128 == 0 || form.four_rows || form.im2col) return true;
  warp.fault(op, lane, FaultKind::InvalidInstruction,
             fmt::format("tensor copy starts at coordinate {} along dimension 0, which is not a "
                         "multiple of 16 bytes",
                         box.start[0]),
             0, {describe_tensor(box.map)});
  return false;
}

// Reads the map and the coordinates of a lane. False after a fault.
bool read_box(Warp& warp, const Op& op, int lane, const TensorForm& form, TensorBox& box) {
  const uint64_t address = address_of(warp, form.map, lane);
  const std::byte* bytes = access(warp, op, lane, form.map.space, address, sizeof(TensorMap),
                                  kMapAlignment, AccessKind::Read);
  if (bytes == nullptr) return false;
  std::memcpy(static_cast<void*>(&box.map), bytes, sizeof(TensorMap));
  const TensorMap& map = box.map;
  if (!is_sealed(map)) {
    warp.fault(op, lane, FaultKind::InvalidDescriptor,
               fmt::format("no tensor map at the address: {:#x}", address), address,
               {"encode it with cuTensorMapEncodeTiled and pass it as a __grid_constant__ "
                "parameter or in global memory"});
    return false;
  }
  if ((map.mode == TensorMode::Im2col) != form.im2col)
    return refuse(warp, op, lane,
                  form.im2col ? "im2col copy through a tiled tensor map"
                              : "tile copy through an im2col tensor map",
                  map);
  if (map.rank != form.rank)
    return refuse(warp, op, lane,
                  fmt::format("{}-d copy through a {}-d tensor map", form.rank, map.rank), map);
  if (map.interleave != TensorInterleave::None) {
    warp.fault(op, lane, FaultKind::Unsupported,
               "tensor copies with an interleaved layout are not emulated", 0,
               {describe_tensor(map)});
    return false;
  }
  box.four_rows = form.four_rows;
  box.start[0] = warp.read<int32_t>(form.coordinates[0])[lane];
  for (size_t d = 1; d < (form.four_rows ? 5 : form.rank); ++d) {
    const int32_t at = warp.read<int32_t>(form.coordinates[d])[lane];
    if (form.four_rows)
      box.rows_at[d - 1] = at;
    else
      box.start[d] = at;
  }
  for (size_t d = 0; d < form.pixel_offsets.size(); ++d)
    box.pixel_offsets[d] = warp.read<uint16_t>(form.pixel_offsets[d])[lane];
  if (const auto problem = shape_box(box)) return refuse(warp, op, lane, *problem, map);
  return true;
}

// Host address of the tensor, after checking every byte that the box touches. nullptr after a
// fault. A box that lies wholly outside touches nothing: any address will do.
std::byte* tensor_memory(Warp& warp, const Op& op, int lane, const TensorBox& box) {
  Block& block = *warp.block;
  const uint64_t base = box.map.global_address;
  const auto touched = touched_bytes(box);
  if (touched) {
    const uint64_t size = touched->end - touched->first;
    // Rows of a box may lie in different allocations; nearly always they share one.
    const auto missing = [&]() -> std::optional<ByteRange> {
      if (access(block, Space::Global, base + touched->first, size) != nullptr) return std::nullopt;
      for (const ByteRange& row : touched_rows(box))
        if (access(block, Space::Global, base + row.first, row.end - row.first) == nullptr)
          return row;
      return std::nullopt;
    }();
    if (missing) {
      const uint64_t address = base + missing->first;
      const uint64_t bytes = missing->end - missing->first;
      std::string start;
      for (size_t d = 0; d < box.map.rank; ++d)
        start += fmt::format("{}{}", d == 0 ? "" : ", ", box.start[d]);
      warp.fault(
          op, lane, FaultKind::OutOfBounds,
          fmt::format("tensor map reaches outside every allocation: a box row of {} bytes at "
                      "{:#x}",
                      bytes, address),
          address,
          {describe_address(block, address, bytes), describe_tensor(box.map),
           fmt::format("coordinates of the box: {}", start)});
      return nullptr;
    }
  }
  return reinterpret_cast<std::byte*>(base);
}

bool issue_load(Warp& warp, const Op& op, int lane, const TensorForm& form) {
  auto load = std::make_unique<TensorLoad>();
  if (!read_box(warp, op, lane, form, load->box)) return false;
  if (!starts_aligned(warp, op, lane, form, load->box)) return false;
  load->place = issue_place(warp, op, lane);
  if (!find_destinations(warp, op, lane, form.into, load->box.shared_bytes(), kTensorAlignment,
                         load->destinations))
    return false;
  load->tensor = tensor_memory(warp, op, lane, load->box);
  if (load->tensor == nullptr) return false;
  submit_after(*warp.block->cluster, std::move(load), kTensorCopyLatency);
  return true;
}

bool issue_store(Warp& warp, const Op& op, int lane, const TensorForm& form) {
  TensorBox box;
  if (!read_box(warp, op, lane, form, box)) return false;
  for (size_t d = 0; d < box.map.rank; ++d)
    if (box.start[d] < 0 && !form.four_rows && !form.im2col) {
      warp.fault(op, lane, FaultKind::InvalidInstruction,
                 fmt::format("tensor copies to global memory start at coordinates that are not "
                             "negative: {} along dimension {}",
                             box.start[d], d),
                 0, {describe_tensor(box.map)});
      return false;
    }
  if (!starts_aligned(warp, op, lane, form, box)) return false;
  Combine combine = nullptr;
  if (!form.reduction.empty()) {
    combine = find_reduction(form.reduction, reduction_type(form.reduction, box.map.element));
    if (combine == nullptr)
      return refuse(
          warp, op, lane,
          fmt::format("reduction \"{}\" is not defined for the elements of the tensor map",
                      form.reduction),
          box.map);
  }
  const std::byte* source =
      shared_source(warp, op, lane, form.source, box.shared_bytes(), kTensorAlignment);
  if (source == nullptr) return false;
  std::byte* tensor = tensor_memory(warp, op, lane, box);
  if (tensor == nullptr) return false;
  const auto address = static_cast<uint32_t>(source - warp.block->shared.data());
  return submit_copy_out(warp, op, lane, source, box.shared_bytes(),
                         std::make_unique<TensorStore>(box, tensor, address, combine),
                         kTensorCopyLatency);
}

// A prefetch has no effect, but its map and coordinates must be in order.
bool issue_prefetch(Warp& warp, const Op& op, int lane, const TensorForm& form) {
  TensorBox box;
  return read_box(warp, op, lane, form, box);
}

template <bool (*kIssue)(Warp&, const Op&, int, const TensorForm&)>
Outcome run_tensor(Warp& warp, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const TensorForm*>(op.extra);
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1)
    if (!kIssue(warp, op, first_lane(rest), form)) return Outcome::Fault;
  return Outcome::Next;
}

// Lowering

uint32_t rank_of(const ptx::Instruction& i) {
  constexpr std::string_view kRanks[] = {"1d", "2d", "3d", "4d", "5d"};
  for (uint32_t rank = 1; rank <= 5; ++rank)
    if (i.has(kRanks[rank - 1])) return rank;
  return 0;
}

// [map, {coordinates}].
Result<Done> lower_tensor_operand(Lowering& l, const ptx::Operand& operand, TensorForm& form) {
  const auto* address = std::get_if<ptx::AddressOperand>(&operand.value);
  if (address == nullptr || address->parts.size() < 2)
    return l.error("tensor copies take an operand of the form [map, {coordinates}]");
  form.map = TRY(l.address(operand, Space::Generic));
  const auto coordinates = l.elements(address->parts[1]);
  const size_t wanted = form.four_rows ? 5 : form.rank;
  if (coordinates.size() != wanted)
    return l.error(
        fmt::format("{} coordinates where the copy needs {}", coordinates.size(), wanted));
  for (size_t d = 0; d < wanted; ++d)
    form.coordinates[d] = TRY(l.source(*coordinates[d], Type::S32));
  return Done{};
}

std::string_view reduction_word(const ptx::Instruction& i) {
  constexpr std::string_view kOperations[] = {"add", "min", "max", "inc",
                                              "dec", "and", "or",  "xor"};
  for (const std::string_view operation : kOperations)
    if (i.has(operation)) return operation;
  return {};
}

// The im2col offsets of loads and prefetches, when `operand` holds them.
Result<Done> lower_pixel_offsets(Lowering& l, const ptx::Operand& operand, TensorForm& form) {
  const auto offsets = l.elements(operand);
  if (form.rank < 3 || offsets.size() != form.rank - 2)
    return l.error(fmt::format(
        "{} im2col offsets where the copy needs two less than its dimensions", offsets.size()));
  for (const ptx::Operand* offset : offsets)
    form.pixel_offsets.push_back(TRY(l.source(*offset, Type::U16)));
  return Done{};
}

}  // namespace

Result<Done> lower_tensor_copy(Lowering& l, const ptx::Instruction& i) {
  if (i.has("im2col::w") || i.has("im2col::w::128"))
    return l.unsupported("a tensor copy in im2col::w mode");
  auto form = std::make_unique<TensorForm>();
  form->rank = rank_of(i);
  form->four_rows = i.has("tile::gather4") || i.has("tile::scatter4");
  form->im2col = i.has("im2col") || i.has("im2col_no_offs");
  if (i.has("prefetch")) {
    TRY(lower_tensor_operand(l, i.operands[0], *form));
    if (form->im2col) TRY(lower_pixel_offsets(l, i.operands[1], *form));
    const TensorForm* kept = l.keep(std::move(form));
    l.emit(run_tensor<issue_prefetch>).extra = kept;
    return Done{};
  }
  if (i.has("bulk_group")) {
    if (i.has("reduce")) form->reduction = reduction_word(i);
    TRY(lower_tensor_operand(l, i.operands[0], *form));
    form->source = TRY(l.address(i.operands[1], Space::Shared));
    const TensorForm* kept = l.keep(std::move(form));
    l.emit(run_tensor<issue_store>).extra = kept;
    return Done{};
  }
  const Space to = i.has("shared::cluster") ? Space::SharedCluster : Space::Shared;
  form->into.destination = TRY(l.address(i.operands[0], to));
  TRY(lower_tensor_operand(l, i.operands[1], *form));
  form->into.barrier = TRY(l.address(i.operands[2], to));
  form->into.pair = i.has("cta_group::2");
  size_t next = 3;
  if (form->im2col) TRY(lower_pixel_offsets(l, i.operands[next++], *form));
  if (i.has("multicast::cluster"))
    form->into.multicast = TRY(l.source(i.operands[next++], Type::B16));
  const TensorForm* kept = l.keep(std::move(form));
  l.emit(run_tensor<issue_load>).extra = kept;
  return Done{};
}

}  // namespace weft::emulator
