// SPDX-License-Identifier: Apache-2.0

// Copies and fills of the runtime API. The plain forms wait, the Async forms are work for a stream.
#include "ptxbench/cudart/array.h"
#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/module.h"
#include "ptxbench/cudart/operation.h"
#include "ptxbench/cudart/runtime/edge.h"
#include "ptxbench/cudart/stream.h"

using namespace weft::cudart;

namespace {

enum class Waiting { Yes, No };

Status submit(Operation operation, void* stream, Waiting waiting) {
  if (const auto* copy = std::get_if<CopyOperation>(&operation)) EXPECT_SUCCESS(check(*copy));
  if (const auto* fill = std::get_if<FillOperation>(&operation)) EXPECT_SUCCESS(check(*fill));
  return waiting == Waiting::Yes ? enqueue_and_wait(stream, std::move(operation))
                                 : enqueue(stream, std::move(operation));
}

FillOperation filling(void* target, size_t pitch, int value, size_t width, size_t height) {
  return {{target, pitch, static_cast<uint32_t>(value), 1, width, height}};
}

FillOperation filling(const abi::PitchedPointer& target, int value, const abi::Extent& extent) {
  FillOperation fill = filling(target.pointer, target.pitch, value, extent.width, extent.height);
  fill.depth = extent.depth;
  fill.slice_pitch = target.pitch * target.y_size;
  return fill;
}

// A symbol's bytes from `offset` on.
Status locate(const void* symbol, size_t offset, size_t count, void** address) {
  size_t size = 0;
  EXPECT_SUCCESS(find_symbol(symbol, address, &size));
  if (offset > size || count > size - offset) return Status::InvalidValue;
  *address = static_cast<std::byte*>(*address) + offset;
  return Status::Success;
}

Status to_symbol(const void* symbol, const void* source, size_t count, size_t offset, int kind,
                 void* stream, Waiting waiting) {
  void* target = nullptr;
  EXPECT_SUCCESS(locate(symbol, offset, count, &target));
  return submit(linear_copy(target, source, count, kind), stream, waiting);
}

Status from_symbol(void* target, const void* symbol, size_t count, size_t offset, int kind,
                   void* stream, Waiting waiting) {
  void* source = nullptr;
  EXPECT_SUCCESS(locate(symbol, offset, count, &source));
  return submit(linear_copy(target, source, count, kind), stream, waiting);
}

// Widths and offsets along x come in bytes; a copy with an array counts elements.
Status array_extent(abi::Array* array, size_t x, size_t y, size_t width, size_t height,
                    abi::Position& position, abi::Extent& extent) {
  size_t element = 0;
  EXPECT_SUCCESS(get_element_bytes(array, &element));
  if (x % element != 0 || width % element != 0) return Status::InvalidValue;
  position = {x / element, y, 0};
  extent = {width / element, height, 1};
  return Status::Success;
}

Status to_array(abi::Array* target, size_t x, size_t y, const void* source, size_t pitch,
                size_t width, size_t height, int kind, void* stream, Waiting waiting) {
  CopyOperation operation = pitched_copy(nullptr, 0, source, pitch, width, height, kind);
  operation.copy.target_array = target;
  EXPECT_SUCCESS(array_extent(target, x, y, width, height, operation.copy.target_position,
                              operation.copy.extent));
  return submit(operation, stream, waiting);
}

Status from_array(void* target, size_t pitch, abi::Array* source, size_t x, size_t y, size_t width,
                  size_t height, int kind, void* stream, Waiting waiting) {
  CopyOperation operation = pitched_copy(target, pitch, nullptr, 0, width, height, kind);
  operation.copy.source_array = source;
  EXPECT_SUCCESS(array_extent(source, x, y, width, height, operation.copy.source_position,
                              operation.copy.extent));
  return submit(operation, stream, waiting);
}

Status array_to_array(abi::Array* target, size_t tx, size_t ty, abi::Array* source, size_t sx,
                      size_t sy, size_t width, size_t height, int kind) {
  CopyOperation operation;
  operation.copy.kind = kind;
  operation.copy.source_array = source;
  operation.copy.target_array = target;
  EXPECT_SUCCESS(array_extent(source, sx, sy, width, height, operation.copy.source_position,
                              operation.copy.extent));
  EXPECT_SUCCESS(array_extent(target, tx, ty, width, height, operation.copy.target_position,
                              operation.copy.extent));
  return submit(operation, nullptr, Waiting::Yes);
}

Status volume(const abi::Copy3D* copy, void* stream, Waiting waiting) {
  return copy != nullptr ? submit(CopyOperation{*copy}, stream, waiting) : Status::InvalidValue;
}

Status peer_volume(const abi::PeerCopy3D* p, void* stream, Waiting waiting) {
  if (p == nullptr) return Status::InvalidValue;
  const abi::Copy3D copy{p->source_array,    p->source_position, p->source, p->target_array,
                         p->target_position, p->target,          p->extent, abi::kDefaultKind};
  return submit(CopyOperation{copy}, stream, waiting);
}

}  // namespace

extern "C" {

int cudaMemcpy(void* target, const void* source, size_t size, int kind) {
  return answer(
      [&] { return submit(linear_copy(target, source, size, kind), nullptr, Waiting::Yes); });
}
int cudaMemcpyAsync(void* target, const void* source, size_t size, int kind, void* stream) {
  return answer(
      [&] { return submit(linear_copy(target, source, size, kind), stream, Waiting::No); });
}
int cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                 size_t width, size_t height, int kind) {
  return answer([&] {
    return submit(pitched_copy(target, target_pitch, source, source_pitch, width, height, kind),
                  nullptr, Waiting::Yes);
  });
}
int cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                      size_t width, size_t height, int kind, void* stream) {
  return answer([&] {
    return submit(pitched_copy(target, target_pitch, source, source_pitch, width, height, kind),
                  stream, Waiting::No);
  });
}
int cudaMemcpy3D(const abi::Copy3D* copy) {
  return answer([&] { return volume(copy, nullptr, Waiting::Yes); });
}
int cudaMemcpy3DAsync(const abi::Copy3D* copy, void* stream) {
  return answer([&] { return volume(copy, stream, Waiting::No); });
}
int cudaMemcpyPeer(void* target, int, const void* source, int, size_t size) {
  return answer([&] {
    return submit(linear_copy(target, source, size, abi::kDeviceToDevice), nullptr, Waiting::Yes);
  });
}
int cudaMemcpyPeerAsync(void* target, int, const void* source, int, size_t size, void* stream) {
  return answer([&] {
    return submit(linear_copy(target, source, size, abi::kDeviceToDevice), stream, Waiting::No);
  });
}
int cudaMemcpy3DPeer(const abi::PeerCopy3D* copy) {
  return answer([&] { return peer_volume(copy, nullptr, Waiting::Yes); });
}
int cudaMemcpy3DPeerAsync(const abi::PeerCopy3D* copy, void* stream) {
  return answer([&] { return peer_volume(copy, stream, Waiting::No); });
}
int cudaMemcpyBatchAsync(void* const* targets, const void* const* sources, const size_t* sizes,
                         size_t count, void*, size_t*, size_t, void* stream) {
  return answer([&] {
    for (size_t i = 0; i < count; ++i)
      EXPECT_SUCCESS(submit(linear_copy(targets[i], sources[i], sizes[i], abi::kDefaultKind),
                            stream, Waiting::No));
    return Status::Success;
  });
}

int cudaMemcpyToSymbol(const void* symbol, const void* source, size_t size, size_t offset,
                       int kind) {
  return answer(
      [&] { return to_symbol(symbol, source, size, offset, kind, nullptr, Waiting::Yes); });
}
int cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t size, size_t offset,
                            int kind, void* stream) {
  return answer([&] { return to_symbol(symbol, source, size, offset, kind, stream, Waiting::No); });
}
int cudaMemcpyFromSymbol(void* target, const void* symbol, size_t size, size_t offset, int kind) {
  return answer(
      [&] { return from_symbol(target, symbol, size, offset, kind, nullptr, Waiting::Yes); });
}
int cudaMemcpyFromSymbolAsync(void* target, const void* symbol, size_t size, size_t offset,
                              int kind, void* stream) {
  return answer(
      [&] { return from_symbol(target, symbol, size, offset, kind, stream, Waiting::No); });
}
int cudaGetSymbolAddress(void** address, const void* symbol) {
  return answer([&] {
    return address != nullptr ? find_symbol(symbol, address, nullptr) : Status::InvalidValue;
  });
}
int cudaGetSymbolSize(size_t* size, const void* symbol) {
  return answer(
      [&] { return size != nullptr ? find_symbol(symbol, nullptr, size) : Status::InvalidValue; });
}

int cudaMemcpy2DToArray(abi::Array* target, size_t x, size_t y, const void* source, size_t pitch,
                        size_t width, size_t height, int kind) {
  return answer([&] {
    return to_array(target, x, y, source, pitch, width, height, kind, nullptr, Waiting::Yes);
  });
}
int cudaMemcpy2DToArrayAsync(abi::Array* target, size_t x, size_t y, const void* source,
                             size_t pitch, size_t width, size_t height, int kind, void* stream) {
  return answer([&] {
    return to_array(target, x, y, source, pitch, width, height, kind, stream, Waiting::No);
  });
}
int cudaMemcpy2DFromArray(void* target, size_t pitch, abi::Array* source, size_t x, size_t y,
                          size_t width, size_t height, int kind) {
  return answer([&] {
    return from_array(target, pitch, source, x, y, width, height, kind, nullptr, Waiting::Yes);
  });
}
int cudaMemcpy2DFromArrayAsync(void* target, size_t pitch, abi::Array* source, size_t x, size_t y,
                               size_t width, size_t height, int kind, void* stream) {
  return answer([&] {
    return from_array(target, pitch, source, x, y, width, height, kind, stream, Waiting::No);
  });
}
int cudaMemcpy2DArrayToArray(abi::Array* target, size_t tx, size_t ty, abi::Array* source,
                             size_t sx, size_t sy, size_t width, size_t height, int kind) {
  return answer(
      [&] { return array_to_array(target, tx, ty, source, sx, sy, width, height, kind); });
}
int cudaMemcpyToArray(abi::Array* target, size_t x, size_t y, const void* source, size_t size,
                      int kind) {
  return answer([&] { return copy_linear_to_array(target, x, y, source, size, kind); });
}
int cudaMemcpyToArrayAsync(abi::Array* target, size_t x, size_t y, const void* source, size_t size,
                           int kind, void* stream) {
  return answer([&] {
    if (find_stream(stream) == nullptr) return Status::InvalidResourceHandle;
    return copy_linear_to_array(target, x, y, source, size, kind);
  });
}
int cudaMemcpyFromArray(void* target, abi::Array* source, size_t x, size_t y, size_t size,
                        int kind) {
  return answer([&] { return copy_linear_from_array(target, source, x, y, size, kind); });
}
int cudaMemcpyFromArrayAsync(void* target, abi::Array* source, size_t x, size_t y, size_t size,
                             int kind, void* stream) {
  return answer([&] {
    if (find_stream(stream) == nullptr) return Status::InvalidResourceHandle;
    return copy_linear_from_array(target, source, x, y, size, kind);
  });
}

int cudaMemset(void* target, int value, size_t size) {
  return answer(
      [&] { return submit(filling(target, size, value, size, 1), nullptr, Waiting::Yes); });
}
int cudaMemsetAsync(void* target, int value, size_t size, void* stream) {
  return answer([&] { return submit(filling(target, size, value, size, 1), stream, Waiting::No); });
}
int cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
  return answer(
      [&] { return submit(filling(target, pitch, value, width, height), nullptr, Waiting::Yes); });
}
int cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                      void* stream) {
  return answer(
      [&] { return submit(filling(target, pitch, value, width, height), stream, Waiting::No); });
}
int cudaMemset3D(abi::PitchedPointer target, int value, abi::Extent extent) {
  return answer([&] { return submit(filling(target, value, extent), nullptr, Waiting::Yes); });
}
int cudaMemset3DAsync(abi::PitchedPointer target, int value, abi::Extent extent, void* stream) {
  return answer([&] { return submit(filling(target, value, extent), stream, Waiting::No); });
}

}  // extern "C"
