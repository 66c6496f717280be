// SPDX-License-Identifier: Apache-2.0

// Copies and fills: checked against the allocations before a byte moves, so that a wrong size ends
// in an error and not in the program's own memory.
#include "ptxbench/cudart/operation.h"

#include <cstring>

#include "ptxbench/cudart/array.h"
#include "ptxbench/cudart/graph.h"
#include "ptxbench/cudart/host_reads.h"
#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/recorder.h"
#include "ptxbench/cudart/stream.h"

namespace weft::cudart {
namespace {

// One end of a copy as rows of bytes.
struct Rows {
  std::byte* first = nullptr;
  size_t pitch = 0;  // bytes between rows
  size_t slice = 0;  // bytes between slices
};

// The extent counts elements when an array takes part, else bytes.
size_t unit_bytes(const abi::Copy3D& copy) {
  if (const Array* array = Array::find(copy.source_array)) return array->element_bytes;
  if (const Array* array = Array::find(copy.target_array)) return array->element_bytes;
  return 1;
}

Status rows_of_array(const Array& array, const abi::Position& at, const abi::Extent& extent,
                     Rows& rows) {
  if (at.x + extent.width > array.extent.width || at.y + extent.height > array.rows() ||
      at.z + extent.depth > array.slices())
    return Status::InvalidValue;
  rows.pitch = array.pitch;
  rows.slice = array.pitch * array.rows();
  rows.first = array.data + at.z * rows.slice + at.y * rows.pitch + at.x * array.element_bytes;
  return Status::Success;
}

Status rows_of_memory(const abi::PitchedPointer& memory, const abi::Position& at, size_t width,
                      const abi::Extent& extent, bool device, Rows& rows) {
  const bool many = extent.height > 1 || extent.depth > 1;
  if (many && memory.pitch < width) return Status::InvalidPitchValue;
  rows.pitch = memory.pitch;
  const size_t height = memory.y_size ? memory.y_size : extent.height;
  rows.slice = memory.pitch * height;
  rows.first =
      static_cast<std::byte*>(memory.pointer) + at.z * rows.slice + at.y * rows.pitch + at.x;
  if (memory.pointer == nullptr) return Status::InvalidValue;
  const size_t span = (extent.depth - 1) * rows.slice + (extent.height - 1) * rows.pitch + width;
  if (device && !is_device_range(rows.first, span)) return Status::InvalidValue;
  return Status::Success;
}

Status resolve(const abi::Copy3D& copy, Rows& source, Rows& target, size_t& width) {
  width = copy.extent.width * unit_bytes(copy);
  if (copy.kind < abi::kHostToHost || copy.kind > abi::kDefaultKind)
    return Status::InvalidMemcpyDirection;
  if (copy.extent.width == 0 || copy.extent.height == 0 || copy.extent.depth == 0)
    return Status::Success;
  const bool known = copy.kind == abi::kDefaultKind;
  const bool from_device = copy.kind == abi::kDeviceToHost || copy.kind == abi::kDeviceToDevice ||
                           (known && is_device_range(copy.source.pointer, 1));
  const bool to_device = copy.kind == abi::kHostToDevice || copy.kind == abi::kDeviceToDevice ||
                         (known && is_device_range(copy.target.pointer, 1));
  if (copy.source_array != nullptr) {
    const Array* array = Array::find(copy.source_array);
    if (array == nullptr) return Status::InvalidResourceHandle;
    EXPECT_SUCCESS(rows_of_array(*array, copy.source_position, copy.extent, source));
  } else {
    EXPECT_SUCCESS(
        rows_of_memory(copy.source, copy.source_position, width, copy.extent, from_device, source));
  }
  if (copy.target_array != nullptr) {
    const Array* array = Array::find(copy.target_array);
    if (array == nullptr) return Status::InvalidResourceHandle;
    return rows_of_array(*array, copy.target_position, copy.extent, target);
  }
  return rows_of_memory(copy.target, copy.target_position, width, copy.extent, to_device, target);
}

Status run(const CopyOperation& operation) {
  const abi::Copy3D& copy = operation.copy;
  Rows source, target;
  size_t width = 0;
  EXPECT_SUCCESS(resolve(copy, source, target, width));
  if (width == 0 || copy.extent.height == 0 || copy.extent.depth == 0) return Status::Success;
  if (copy.target_array != nullptr) note_unrepeatable("a copy into an array");
  const RowRange to{target.first, target.pitch, target.slice};
  const RowRange from{source.first, source.pitch, source.slice};
  const RowCount count{width, copy.extent.height, copy.extent.depth};
  note_copy(to, from, count);
  for (size_t z = 0; z < copy.extent.depth; ++z)
    for (size_t y = 0; y < copy.extent.height; ++y)
      std::memmove(target.first + z * target.slice + y * target.pitch,
                   source.first + z * source.slice + y * source.pitch, width);
  see_copy(to, from, count);
  return Status::Success;
}

template <typename T>
void fill_row(std::byte* row, size_t count, uint32_t value) {
  const T element = static_cast<T>(value);
  for (size_t i = 0; i < count; ++i) std::memcpy(row + i * sizeof(T), &element, sizeof(T));
}

Status run(const FillOperation& operation) {
  EXPECT_SUCCESS(check(operation));
  const abi::Fill& fill = operation.fill;
  note_fill({fill.target, fill.pitch, operation.slice_pitch},
            {fill.width, fill.height, operation.depth}, fill.value, fill.element_size);
  for (size_t z = 0; z < operation.depth; ++z)
    for (size_t y = 0; y < fill.height; ++y) {
      std::byte* row =
          static_cast<std::byte*>(fill.target) + z * operation.slice_pitch + y * fill.pitch;
      switch (fill.element_size) {
        case 1:
          std::memset(row, static_cast<int>(fill.value & 0xff), fill.width);
          break;
        case 2:
          fill_row<uint16_t>(row, fill.width, fill.value);
          break;
        default:
          fill_row<uint32_t>(row, fill.width, fill.value);
          break;
      }
    }
  return Status::Success;
}

struct Performer {
  Status operator()(const PreparedLaunch& launch) const { return run_launch(launch); }
  Status operator()(const CopyOperation& copy) const { return run(copy); }
  Status operator()(const FillOperation& fill) const { return run(fill); }
  Status operator()(const HostOperation& host) const {
    host.call.function(host.call.user);
    return Status::Success;
  }
  Status operator()(const CallbackOperation& callback) const {
    callback.function(callback.stream, static_cast<int>(ready()), callback.user);
    return Status::Success;
  }
  Status operator()(const EmptyOperation&) const { return Status::Success; }
  Status operator()(const RecordOperation& record) const {
    mark_recorded(record.event);
    return Status::Success;
  }
  // Work runs in the order of the calls, so what an event stands for has already happened.
  Status operator()(const WaitOperation&) const { return Status::Success; }
  Status operator()(const GraphOperation& child) const { return run_graph(*child.graph); }
  Status operator()(const AllocateOperation&) const { return Status::Success; }
  Status operator()(const FreeOperation&) const { return Status::Success; }
};

}  // namespace

int node_type(const Operation& operation) {
  // In the order of the variant.
  constexpr int kTypes[] = {abi::kKernelNode,      abi::kCopyNode,      abi::kFillNode,
                            abi::kHostNode,        abi::kHostNode,      abi::kEmptyNode,
                            abi::kRecordEventNode, abi::kWaitEventNode, abi::kGraphNode,
                            abi::kAllocationNode,  abi::kFreeNode};
  return kTypes[operation.index()];
}

Status perform(const Operation& operation) {
  EXPECT_SUCCESS(ready());
  return std::visit(Performer{}, operation);
}

CopyOperation linear_copy(void* target, const void* source, size_t bytes, int kind) {
  return pitched_copy(target, bytes, source, bytes, bytes, 1, kind);
}

CopyOperation pitched_copy(void* target, size_t target_pitch, const void* source,
                           size_t source_pitch, size_t width, size_t rows, int kind) {
  CopyOperation operation;
  operation.copy.target = {target, target_pitch, width, rows};
  operation.copy.source = {const_cast<void*>(source), source_pitch, width, rows};
  operation.copy.extent = {width, rows, 1};
  operation.copy.kind = kind;
  return operation;
}

Status check(const CopyOperation& operation) {
  Rows source, target;
  size_t width = 0;
  return resolve(operation.copy, source, target, width);
}

Status check(const FillOperation& operation) {
  const abi::Fill& fill = operation.fill;
  if (fill.element_size != 1 && fill.element_size != 2 && fill.element_size != 4)
    return Status::InvalidValue;
  const size_t width = fill.width * fill.element_size;
  if (width == 0 || fill.height == 0 || operation.depth == 0) return Status::Success;
  if (fill.height > 1 && fill.pitch < width) return Status::InvalidPitchValue;
  if (reinterpret_cast<uintptr_t>(fill.target) % fill.element_size != 0)
    return Status::InvalidValue;
  const size_t span =
      (operation.depth - 1) * operation.slice_pitch + (fill.height - 1) * fill.pitch + width;
  return is_device_range(fill.target, span) ? Status::Success : Status::InvalidValue;
}

}  // namespace weft::cudart
