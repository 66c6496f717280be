// SPDX-License-Identifier: Apache-2.0

// Streams, their capture, and events of the runtime API.
#include "ptxbench/cudart/stream.h"

#include "ptxbench/cudart/graph.h"
#include "ptxbench/cudart/runtime/edge.h"

using namespace weft::cudart;

extern "C" {

int cudaStreamCreate(void** stream) {
  return answer([&] { return create_stream(stream, 0, 0); });
}
int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return answer([&] { return create_stream(stream, flags, 0); });
}
int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return answer([&] { return create_stream(stream, flags, priority); });
}
int cudaStreamDestroy(void* stream) {
  return answer([&] { return destroy_stream(stream); });
}
int cudaStreamSynchronize(void* stream) {
  return answer([&] { return synchronize_stream(stream); });
}
int cudaStreamQuery(void* stream) {
  return answer([&] { return query_stream(stream); });
}
int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  return answer([&] { return wait_event(stream, event); });
}
int cudaStreamGetPriority(void* stream, int* priority) {
  return answer([&] { return get_stream_priority(stream, priority); });
}
int cudaStreamGetFlags(void* stream, unsigned* flags) {
  return answer([&] { return get_stream_flags(stream, flags); });
}
int cudaStreamGetId(void* stream, unsigned long long* id) {
  return answer([&] { return get_stream_id(stream, id); });
}
int cudaStreamGetDevice(void* stream, int* device) {
  return answer([&] {
    if (device == nullptr) return Status::InvalidValue;
    if (find_stream(stream) == nullptr) return Status::InvalidResourceHandle;
    *device = 0;
    return Status::Success;
  });
}
int cudaStreamSetAttribute(void* stream, int attribute, const abi::AttributeValue* value) {
  return answer([&] { return set_stream_attribute(stream, attribute, value); });
}
int cudaStreamGetAttribute(void* stream, int attribute, abi::AttributeValue* value) {
  return answer([&] { return get_stream_attribute(stream, attribute, value); });
}
int cudaStreamCopyAttributes(void* target, void* source) {
  return answer([&] { return copy_stream_attributes(target, source); });
}
int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* user,
                          unsigned flags) {
  return answer([&] {
    if (function == nullptr || flags != 0) return Status::InvalidValue;
    return enqueue(stream, CallbackOperation{function, stream, user});
  });
}
int cudaLaunchHostFunc(void* stream, abi::HostFunction function, void* user) {
  return answer([&] {
    if (function == nullptr) return Status::InvalidValue;
    return enqueue(stream, HostOperation{{function, user}});
  });
}

int cudaStreamBeginCapture(void* stream, int mode) {
  return answer([&] { return begin_capture(stream, mode); });
}
int cudaStreamBeginCaptureToGraph(void* stream, void* graph, void* const* dependencies,
                                  const abi::EdgeData*, size_t count, int mode) {
  return answer([&] { return begin_capture_to(stream, graph, dependencies, count, mode); });
}
int cudaStreamEndCapture(void* stream, void** graph) {
  return answer([&] { return end_capture(stream, graph); });
}
int cudaStreamIsCapturing(void* stream, int* status) {
  return answer([&] { return get_capture_status(stream, status); });
}
int cudaStreamGetCaptureInfo(void* stream, int* status, uint64_t* id, void** graph,
                             const void* const** dependencies, const abi::EdgeData** edges,
                             size_t* count) {
  return answer(
      [&] { return get_capture_info(stream, status, id, graph, dependencies, edges, count); });
}
int cudaStreamUpdateCaptureDependencies(void* stream, void** nodes, const abi::EdgeData*,
                                        size_t count, unsigned flags) {
  return answer([&] { return update_capture_dependencies(stream, nodes, count, flags); });
}
int cudaThreadExchangeStreamCaptureMode(int* mode) {
  return answer([&] { return exchange_capture_mode(mode); });
}

int cudaEventCreate(void** event) {
  return answer([&] { return create_event(event, 0); });
}
int cudaEventCreateWithFlags(void** event, unsigned flags) {
  return answer([&] { return create_event(event, flags); });
}
int cudaEventDestroy(void* event) {
  return answer([&] { return destroy_event(event); });
}
int cudaEventRecord(void* event, void* stream) {
  return answer([&] { return record_event(event, stream); });
}
int cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return answer([&] { return record_event(event, stream, flags); });
}
int cudaEventSynchronize(void* event) {
  return answer([&] { return synchronize_event(event); });
}
int cudaEventQuery(void* event) {
  return answer([&] { return query_event(event); });
}
int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  return answer([&] { return get_elapsed(milliseconds, start, end); });
}

}  // extern "C"
