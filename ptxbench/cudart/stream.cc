// SPDX-License-Identifier: Apache-2.0

// Streams. Two default streams exist from the start; the rest are made and destroyed by the
// program.
#include "ptxbench/cudart/stream.h"

#include <atomic>
#include <cstring>

#include "ptxbench/cudart/graph.h"
#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/process.h"

namespace weft::cudart {
namespace {

Stream& legacy_stream() {
  static Stream& stream = *new Stream;
  return stream;
}

Stream& thread_stream() {
  thread_local Stream stream;
  return stream;
}

std::atomic<uint64_t> next_stream_id{3};  // 1 and 2 are the default streams

constexpr int kLeastPriority = 0, kGreatestPriority = -5;

// A call that waits for the device inside a capture breaks the capture.
Status refuse_in_capture(Stream& stream) {
  if (!stream.capture) return Status::Success;
  stream.capture->invalid = true;
  return Status::StreamCaptureUnsupported;
}

Status add_captured(Stream& stream, Operation operation) {
  if (stream.capture->invalid) return Status::StreamCaptureInvalidated;
  Node* node = stream.capture->graph->add(std::move(operation), stream.frontier);
  stream.frontier = {node};
  return Status::Success;
}

}  // namespace

Stream* find_stream(const void* handle) {
  switch (reinterpret_cast<uintptr_t>(handle)) {
    case 0:
    case 1:
      return &legacy_stream();
    case 2:
      return &thread_stream();
    default:
      return Stream::find(handle);
  }
}

Status create_stream(void** stream, unsigned flags, int priority) {
  if (stream == nullptr || flags > 1) return Status::InvalidValue;
  auto* made = new Stream;
  made->flags = flags;
  // Out-of-range priorities are clamped, as the runtime does.
  made->priority = std::min(std::max(priority, kGreatestPriority), kLeastPriority);
  made->id = next_stream_id++;
  *stream = made;
  return Status::Success;
}

Status destroy_stream(void* stream) {
  Stream* found = Stream::find(stream);
  if (found == nullptr || reinterpret_cast<uintptr_t>(stream) <= 2)
    return Status::InvalidResourceHandle;
  // A stream that joined a capture may go before it ends; its work stays in the graph.
  if (found->capture && found->capture->origin == found) found->capture->invalid = true;
  delete found;
  return Status::Success;
}

Status synchronize_stream(void* stream) {
  Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  EXPECT_SUCCESS(refuse_in_capture(*found));
  flush_output();
  return Status::Success;
}

Status query_stream(void* stream) {
  return synchronize_stream(stream);
}

Status synchronize_device() {
  flush_output();
  return Status::Success;
}

Status get_stream_flags(void* stream, unsigned* flags) {
  const Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (flags == nullptr) return Status::InvalidValue;
  *flags = found->flags;
  return Status::Success;
}

Status get_stream_priority(void* stream, int* priority) {
  const Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (priority == nullptr) return Status::InvalidValue;
  *priority = found->priority;
  return Status::Success;
}

Status get_stream_id(void* stream, unsigned long long* id) {
  const Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (id == nullptr) return Status::InvalidValue;
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  *id = handle == 2 ? 2 : handle < 2 ? 1 : found->id;
  return Status::Success;
}

Status set_stream_attribute(void* stream, int attribute, const abi::AttributeValue* value) {
  Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (value == nullptr) return Status::InvalidValue;
  for (abi::LaunchAttribute& known : found->attributes)
    if (known.id == attribute) {
      known.value = *value;
      return Status::Success;
    }
  found->attributes.push_back({attribute, {}, *value});
  return Status::Success;
}

Status get_stream_attribute(void* stream, int attribute, abi::AttributeValue* value) {
  const Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (value == nullptr) return Status::InvalidValue;
  std::memset(value, 0, sizeof *value);
  if (attribute == abi::kAttributePriority) value->number = found->priority;
  for (const abi::LaunchAttribute& known : found->attributes)
    if (known.id == attribute) *value = known.value;
  return Status::Success;
}

Status copy_stream_attributes(void* target, void* source) {
  Stream* to = find_stream(target);
  const Stream* from = find_stream(source);
  if (to == nullptr || from == nullptr) return Status::InvalidResourceHandle;
  to->attributes = from->attributes;
  return Status::Success;
}

Status enqueue(void* stream, Operation operation) {
  Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (found->capture) return add_captured(*found, std::move(operation));
  return perform(operation);
}

Status enqueue_launch(const void* symbol, abi::Dim3 grid, abi::Dim3 block, size_t shared_bytes,
                      void* stream, void** parameters, void** extra,
                      std::span<const abi::LaunchAttribute> attributes) {
  if (find_stream(stream) == nullptr) return Status::InvalidResourceHandle;
  PreparedLaunch launch;
  EXPECT_SUCCESS(
      prepare_launch(launch, symbol, grid, block, shared_bytes, parameters, extra, attributes));
  return enqueue(stream, std::move(launch));
}

Status enqueue_and_wait(void* stream, Operation operation) {
  Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (found->capture) {
    found->capture->invalid = true;
    return Status::StreamCaptureImplicit;
  }
  EXPECT_SUCCESS(perform(operation));
  flush_output();
  return Status::Success;
}

Status allocate_async(void** pointer, size_t size, void* stream) {
  Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (!found->capture) return allocate(pointer, size, AllocationKind::Device);
  if (pointer == nullptr) return Status::InvalidValue;
  abi::AllocationNode node{};
  node.bytes = size;
  Operation operation;
  EXPECT_SUCCESS(make_allocation(operation, &node));
  *pointer = node.pointer;
  return add_captured(*found, std::move(operation));
}

Status free_async(void* pointer, void* stream) {
  Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (found->capture) return add_captured(*found, FreeOperation{pointer});
  return is_graph_memory(pointer) ? Status::Success : release(pointer);
}

}  // namespace weft::cudart
