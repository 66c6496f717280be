// SPDX-License-Identifier: Apache-2.0

// Copies and fills of the driver API.
#include "ptxbench/cudart/array.h"
#include "ptxbench/cudart/driver/edge.h"
#include "ptxbench/cudart/operation.h"
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

void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

int copy_now(void* target, const void* source, size_t size, int kind) {
  return context_answer(
      [&] { return submit(linear_copy(target, source, size, kind), nullptr, Waiting::Yes); });
}
int copy_in_stream(void* target, const void* source, size_t size, int kind, void* stream) {
  return context_answer(
      [&] { return submit(linear_copy(target, source, size, kind), stream, Waiting::No); });
}

// CUmemorytype.
enum : int { kHostMemory = 1, kDeviceMemory, kArrayMemory, kUnifiedMemory };

struct Place {
  int type;
  const void* host;
  uint64_t device;
  void* array;
  size_t pitch, height;
  abi::Position at;  // x in bytes
};

Status place(const Place& from, size_t width, abi::Array*& array, abi::Position& position,
             abi::PitchedPointer& memory, size_t& unit) {
  position = from.at;
  switch (from.type) {
    case kHostMemory:
      memory.pointer = const_cast<void*>(from.host);
      break;
    case kDeviceMemory:
    case kUnifiedMemory:
      memory.pointer = pointer(from.device);
      break;
    case kArrayMemory: {
      array = static_cast<abi::Array*>(from.array);
      EXPECT_SUCCESS(get_element_bytes(array, &unit));
      if (from.at.x % unit != 0 || width % unit != 0) return Status::InvalidValue;
      position.x /= unit;
      return Status::Success;
    }
    default:
      return Status::InvalidValue;
  }
  memory.pitch = from.pitch != 0 ? from.pitch : width;
  memory.x_size = width;
  memory.y_size = from.height;
  return Status::Success;
}

Status make_copy(CopyOperation& operation, const Place& from, const Place& to, size_t width,
                 size_t height, size_t depth) {
  abi::Copy3D& copy = operation.copy;
  size_t unit = 1;
  EXPECT_SUCCESS(place(from, width, copy.source_array, copy.source_position, copy.source, unit));
  EXPECT_SUCCESS(place(to, width, copy.target_array, copy.target_position, copy.target, unit));
  copy.extent = {width / unit, height, depth};
  const bool source_host = from.type == kHostMemory, target_host = to.type == kHostMemory;
  const bool unified = from.type == kUnifiedMemory || to.type == kUnifiedMemory;
  copy.kind = unified                      ? abi::kDefaultKind
              : source_host && target_host ? abi::kHostToHost
              : source_host                ? abi::kHostToDevice
              : target_host                ? abi::kDeviceToHost
                                           : abi::kDeviceToDevice;
  return Status::Success;
}

Status copy_2d(const abi::DriverCopy2D* c, void* stream, Waiting waiting) {
  if (c == nullptr) return Status::InvalidValue;
  CopyOperation operation;
  EXPECT_SUCCESS(make_copy(operation,
                           {c->source_type,
                            c->source_host,
                            c->source_device,
                            c->source_array,
                            c->source_pitch,
                            0,
                            {c->source_x, c->source_y, 0}},
                           {c->target_type,
                            c->target_host,
                            c->target_device,
                            c->target_array,
                            c->target_pitch,
                            0,
                            {c->target_x, c->target_y, 0}},
                           c->width, c->height, 1));
  return submit(operation, stream, waiting);
}

Status copy_3d(const abi::DriverCopy3D* c, void* stream, Waiting waiting) {
  if (c == nullptr) return Status::InvalidValue;
  CopyOperation operation;
  EXPECT_SUCCESS(make_copy(operation,
                           {c->source_type,
                            c->source_host,
                            c->source_device,
                            c->source_array,
                            c->source_pitch,
                            c->source_height,
                            {c->source_x, c->source_y, c->source_z}},
                           {c->target_type,
                            c->target_host,
                            c->target_device,
                            c->target_array,
                            c->target_pitch,
                            c->target_height,
                            {c->target_x, c->target_y, c->target_z}},
                           c->width, c->height, c->depth));
  return submit(operation, stream, waiting);
}

int fill(uint64_t address, size_t pitch, uint32_t value, uint32_t element, size_t width,
         size_t height, void* stream, Waiting waiting) {
  return context_answer([&] {
    return submit(FillOperation{{pointer(address), pitch, value, element, width, height}}, stream,
                  waiting);
  });
}

}  // namespace

extern "C" {

int cuMemcpy(uint64_t target, uint64_t source, size_t size) {
  return copy_now(pointer(target), pointer(source), size, abi::kDefaultKind);
}
int cuMemcpyHtoD_v2(uint64_t target, const void* source, size_t size) {
  return copy_now(pointer(target), source, size, abi::kHostToDevice);
}
int cuMemcpyDtoH_v2(void* target, uint64_t source, size_t size) {
  return copy_now(target, pointer(source), size, abi::kDeviceToHost);
}
int cuMemcpyDtoD_v2(uint64_t target, uint64_t source, size_t size) {
  return copy_now(pointer(target), pointer(source), size, abi::kDeviceToDevice);
}
int cuMemcpyPeer(uint64_t target, void*, uint64_t source, void*, size_t size) {
  return copy_now(pointer(target), pointer(source), size, abi::kDeviceToDevice);
}
int cuMemcpyAsync(uint64_t target, uint64_t source, size_t size, void* stream) {
  return copy_in_stream(pointer(target), pointer(source), size, abi::kDefaultKind, stream);
}
int cuMemcpyHtoDAsync_v2(uint64_t target, const void* source, size_t size, void* stream) {
  return copy_in_stream(pointer(target), source, size, abi::kHostToDevice, stream);
}
int cuMemcpyDtoHAsync_v2(void* target, uint64_t source, size_t size, void* stream) {
  return copy_in_stream(target, pointer(source), size, abi::kDeviceToHost, stream);
}
int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t size, void* stream) {
  return copy_in_stream(pointer(target), pointer(source), size, abi::kDeviceToDevice, stream);
}
int cuMemcpyPeerAsync(uint64_t target, void*, uint64_t source, void*, size_t size, void* stream) {
  return copy_in_stream(pointer(target), pointer(source), size, abi::kDeviceToDevice, stream);
}
int cuMemcpy2D_v2(const abi::DriverCopy2D* copy) {
  return context_answer([&] { return copy_2d(copy, nullptr, Waiting::Yes); });
}
int cuMemcpy2DUnaligned_v2(const abi::DriverCopy2D* copy) {
  return cuMemcpy2D_v2(copy);
}
int cuMemcpy2DAsync_v2(const abi::DriverCopy2D* copy, void* stream) {
  return context_answer([&] { return copy_2d(copy, stream, Waiting::No); });
}
int cuMemcpy3D_v2(const abi::DriverCopy3D* copy) {
  return context_answer([&] { return copy_3d(copy, nullptr, Waiting::Yes); });
}
int cuMemcpy3DAsync_v2(const abi::DriverCopy3D* copy, void* stream) {
  return context_answer([&] { return copy_3d(copy, stream, Waiting::No); });
}
int cuMemcpyHtoA_v2(abi::Array* target, size_t offset, const void* source, size_t size) {
  return context_answer(
      [&] { return copy_linear_to_array(target, offset, 0, source, size, abi::kHostToDevice); });
}
int cuMemcpyAtoH_v2(void* target, abi::Array* source, size_t offset, size_t size) {
  return context_answer(
      [&] { return copy_linear_from_array(target, source, offset, 0, size, abi::kDeviceToHost); });
}
int cuMemcpyDtoA_v2(abi::Array* target, size_t offset, uint64_t source, size_t size) {
  return context_answer([&] {
    return copy_linear_to_array(target, offset, 0, pointer(source), size, abi::kDeviceToDevice);
  });
}
int cuMemcpyAtoD_v2(uint64_t target, abi::Array* source, size_t offset, size_t size) {
  return context_answer([&] {
    return copy_linear_from_array(pointer(target), source, offset, 0, size, abi::kDeviceToDevice);
  });
}

int cuMemsetD8_v2(uint64_t target, unsigned char value, size_t count) {
  return fill(target, 0, value, 1, count, 1, nullptr, Waiting::Yes);
}
int cuMemsetD16_v2(uint64_t target, uint16_t value, size_t count) {
  return fill(target, 0, value, 2, count, 1, nullptr, Waiting::Yes);
}
int cuMemsetD32_v2(uint64_t target, uint32_t value, size_t count) {
  return fill(target, 0, value, 4, count, 1, nullptr, Waiting::Yes);
}
int cuMemsetD2D8_v2(uint64_t target, size_t pitch, unsigned char value, size_t width,
                    size_t height) {
  return fill(target, pitch, value, 1, width, height, nullptr, Waiting::Yes);
}
int cuMemsetD2D16_v2(uint64_t target, size_t pitch, uint16_t value, size_t width, size_t height) {
  return fill(target, pitch, value, 2, width, height, nullptr, Waiting::Yes);
}
int cuMemsetD2D32_v2(uint64_t target, size_t pitch, uint32_t value, size_t width, size_t height) {
  return fill(target, pitch, value, 4, width, height, nullptr, Waiting::Yes);
}
int cuMemsetD8Async(uint64_t target, unsigned char value, size_t count, void* stream) {
  return fill(target, 0, value, 1, count, 1, stream, Waiting::No);
}
int cuMemsetD16Async(uint64_t target, uint16_t value, size_t count, void* stream) {
  return fill(target, 0, value, 2, count, 1, stream, Waiting::No);
}
int cuMemsetD32Async(uint64_t target, uint32_t value, size_t count, void* stream) {
  return fill(target, 0, value, 4, count, 1, stream, Waiting::No);
}
int cuMemsetD2D8Async(uint64_t target, size_t pitch, unsigned char value, size_t width,
                      size_t height, void* stream) {
  return fill(target, pitch, value, 1, width, height, stream, Waiting::No);
}
int cuMemsetD2D16Async(uint64_t target, size_t pitch, uint16_t value, size_t width, size_t height,
                       void* stream) {
  return fill(target, pitch, value, 2, width, height, stream, Waiting::No);
}
int cuMemsetD2D32Async(uint64_t target, size_t pitch, uint32_t value, size_t width, size_t height,
                       void* stream) {
  return fill(target, pitch, value, 4, width, height, stream, Waiting::No);
}

}  // extern "C"
