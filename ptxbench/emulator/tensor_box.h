// SPDX-License-Identifier: Apache-2.0

// The box of a tensor copy: which elements of the tensor it holds, and where they lie in shared
// memory. Rows (runs along dimension 0) follow each other in shared memory; with a swizzle each row
// takes the full width of the pattern, and its 16-byte chunks trade places by the address. In
// im2col mode a row is a pixel's channels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptxbench/emulator/tensor_map.h"

namespace weft::emulator {

struct TensorBox {
  TensorMap map;
  std::array<int32_t, 5> start{};  // coordinates of the first element
  // .tile::gather4 and .tile::scatter4: dimension 1 has four rows, wherever they are.
  bool four_rows = false;
  std::array<int32_t, 4> rows_at{};
  // im2col: added to each pixel's position along the spatial dimensions, innermost first.
  std::array<uint16_t, 3> pixel_offsets{};

  // Filled by shape_box.
  std::array<uint32_t, 5> counts{};  // elements moved along each dimension
  uint32_t row_bytes = 0;            // of data in one row
  uint32_t shared_row_bytes = 0;     // with what pads its elements in shared memory
  uint32_t pitch = 0;                // bytes from one row to the next in shared memory
  uint32_t rows = 0;

  uint32_t bytes() const { return row_bytes * rows; }     // what completes at the mbarrier
  uint32_t shared_bytes() const { return pitch * rows; }  // from the first byte to the last
};

// Fills in the shape. What is wrong with the map otherwise; nothing when it is in order.
std::optional<std::string> shape_box(TensorBox& box);

// Bytes that the elements inside the tensor span, as offsets from the tensor's address; nothing
// when the whole box lies outside.
struct ByteRange {
  uint64_t first = 0, end = 0;
};
std::optional<ByteRange> touched_bytes(const TensorBox& box);
// The same, row by row.
std::vector<ByteRange> touched_rows(const TensorBox& box);

// Global to shared: `tensor` is the host address of element (0, ..., 0), `shared` that of the box's
// first byte, whose shared address is `address` (a multiple of 128; swizzles depend on it).
void load_box(const TensorBox& box, const std::byte* tensor, std::byte* shared, uint32_t address);

// Combines `bytes` at `from` into `to` (a reduction); nullptr copies.
using Combine = void (*)(std::byte* to, const std::byte* from, size_t bytes);

// Shared to global; elements outside the tensor are dropped.
void store_box(const TensorBox& box, std::byte* tensor, const std::byte* shared, uint32_t address,
               Combine combine);

// "2-d f16 tensor of 4096 x 8192 at 0x7f..., box 64 x 128, 128-byte swizzle": for fault notes.
std::string describe_tensor(const TensorMap& map);

}  // namespace weft::emulator
