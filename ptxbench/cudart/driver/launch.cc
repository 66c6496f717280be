// SPDX-License-Identifier: Apache-2.0

// Launches, occupancy, streams and events of the driver API.
#include "ptxbench/cudart/launch.h"

#include "ptxbench/cudart/driver/edge.h"
#include "ptxbench/cudart/stream.h"

using namespace weft::cudart;

namespace {

std::span<const abi::LaunchAttribute> attributes_of(const abi::DriverLaunch& c) {
  return {c.attributes, c.attributes != nullptr ? c.attribute_count : 0};
}

// A CUfunction is never a host symbol, and a null one is an invalid handle.
Status launch(void* function, abi::Dim3 grid, abi::Dim3 block, size_t shared_bytes, void* stream,
              void** parameters, void** extra,
              std::span<const abi::LaunchAttribute> attributes = {}) {
  if (parameters != nullptr && extra != nullptr) return Status::InvalidValue;
  return enqueue_launch(function, grid, block, shared_bytes, stream, parameters, extra, attributes);
}

}  // namespace

extern "C" {

int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared_bytes, void* stream, void** parameters,
                   void** extra) {
  return context_answer([&] {
    return launch(function, {gx, gy, gz}, {bx, by, bz}, shared_bytes, stream, parameters, extra);
  });
}
int cuLaunchKernelEx(const abi::DriverLaunch* c, void* function, void** parameters, void** extra) {
  return context_answer([&] {
    if (c == nullptr) return Status::InvalidValue;
    return launch(function, {c->grid[0], c->grid[1], c->grid[2]},
                  {c->block[0], c->block[1], c->block[2]}, c->shared_bytes, c->stream, parameters,
                  extra, attributes_of(*c));
  });
}
int cuLaunchCooperativeKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared_bytes, void* stream,
                              void** parameters) {
  abi::LaunchAttribute cooperative{};
  cooperative.id = abi::kAttributeCooperative;
  cooperative.value.number = 1;
  return context_answer([&] {
    return launch(function, {gx, gy, gz}, {bx, by, bz}, shared_bytes, stream, parameters, nullptr,
                  {&cooperative, 1});
  });
}
int cuLaunchHostFunc(void* stream, abi::HostFunction function, void* user) {
  return context_answer([&] {
    if (function == nullptr) return Status::InvalidValue;
    return enqueue(stream, HostOperation{{function, user}});
  });
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads,
                                                size_t shared_bytes) {
  return context_answer([&] { return max_active_blocks(blocks, function, threads, shared_bytes); });
}
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function, int threads,
                                                         size_t shared_bytes, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}
int cuOccupancyMaxPotentialBlockSize(int* min_grid, int* threads, void* function,
                                     size_t (*shared_of)(int), size_t shared_bytes, int limit) {
  return context_answer(
      [&] { return best_block_size(min_grid, threads, function, shared_of, shared_bytes, limit); });
}
int cuOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* threads, void* function,
                                              size_t (*shared_of)(int), size_t shared_bytes,
                                              int limit, unsigned) {
  return cuOccupancyMaxPotentialBlockSize(min_grid, threads, function, shared_of, shared_bytes,
                                          limit);
}
int cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, void* function, int blocks,
                                            int threads) {
  return context_answer([&] { return available_shared(bytes, function, blocks, threads); });
}
int cuOccupancyMaxPotentialClusterSize(int* size, void* function, const abi::DriverLaunch* c) {
  return context_answer(
      [&] { return c != nullptr ? max_cluster_size(size, function) : Status::InvalidValue; });
}
int cuOccupancyMaxActiveClusters(int* clusters, void* function, const abi::DriverLaunch* c) {
  return context_answer([&] {
    if (c == nullptr) return Status::InvalidValue;
    return max_active_clusters(clusters, function, {c->block[0], c->block[1], c->block[2]},
                               c->shared_bytes, attributes_of(*c));
  });
}

int cuStreamCreate(void** stream, unsigned flags) {
  return context_answer([&] { return create_stream(stream, flags, 0); });
}
int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return context_answer([&] { return create_stream(stream, flags, priority); });
}
int cuStreamDestroy_v2(void* stream) {
  return context_answer([&] { return destroy_stream(stream); });
}
int cuStreamSynchronize(void* stream) {
  return context_answer([&] { return synchronize_stream(stream); });
}
int cuStreamQuery(void* stream) {
  return context_answer([&] { return query_stream(stream); });
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return context_answer([&] { return wait_event(stream, event); });
}
int cuStreamGetPriority(void* stream, int* priority) {
  return context_answer([&] { return get_stream_priority(stream, priority); });
}
int cuStreamGetFlags(void* stream, unsigned* flags) {
  return context_answer([&] { return get_stream_flags(stream, flags); });
}
int cuStreamGetId(void* stream, unsigned long long* id) {
  return context_answer([&] { return get_stream_id(stream, id); });
}
int cuStreamGetDevice(void* stream, int* device) {
  return context_answer([&] {
    if (device == nullptr) return Status::InvalidValue;
    if (find_stream(stream) == nullptr) return Status::InvalidResourceHandle;
    *device = 0;
    return Status::Success;
  });
}
int cuStreamGetCtx(void* stream, void** context) {
  return context_answer([&] {
    if (find_stream(stream) == nullptr) return Status::InvalidResourceHandle;
    return get_context(context);
  });
}
int cuStreamSetAttribute(void* stream, int attribute, const abi::AttributeValue* value) {
  return context_answer([&] { return set_stream_attribute(stream, attribute, value); });
}
int cuStreamGetAttribute(void* stream, int attribute, abi::AttributeValue* value) {
  return context_answer([&] { return get_stream_attribute(stream, attribute, value); });
}
int cuStreamCopyAttributes(void* target, void* source) {
  return context_answer([&] { return copy_stream_attributes(target, source); });
}
int cuStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* user,
                        unsigned flags) {
  return context_answer([&] {
    if (function == nullptr || flags != 0) return Status::InvalidValue;
    return enqueue(stream, CallbackOperation{function, stream, user});
  });
}
int cuStreamBeginCapture_v2(void* stream, int mode) {
  return context_answer([&] { return begin_capture(stream, mode); });
}
int cuStreamBeginCaptureToGraph(void* stream, void* graph, void* const* dependencies,
                                const abi::EdgeData*, size_t count, int mode) {
  return context_answer([&] { return begin_capture_to(stream, graph, dependencies, count, mode); });
}
int cuStreamEndCapture(void* stream, void** graph) {
  return context_answer([&] { return end_capture(stream, graph); });
}
int cuStreamIsCapturing(void* stream, int* status) {
  return context_answer([&] { return get_capture_status(stream, status); });
}
int cuStreamGetCaptureInfo_v2(void* stream, int* status, uint64_t* id, void** graph,
                              const void* const** dependencies, size_t* count) {
  return context_answer(
      [&] { return get_capture_info(stream, status, id, graph, dependencies, nullptr, count); });
}
int cuStreamGetCaptureInfo_v3(void* stream, int* status, uint64_t* id, void** graph,
                              const void* const** dependencies, const abi::EdgeData** edges,
                              size_t* count) {
  return context_answer(
      [&] { return get_capture_info(stream, status, id, graph, dependencies, edges, count); });
}
int cuStreamUpdateCaptureDependencies(void* stream, void** nodes, size_t count, unsigned flags) {
  return context_answer([&] { return update_capture_dependencies(stream, nodes, count, flags); });
}
int cuStreamUpdateCaptureDependencies_v2(void* stream, void** nodes, const abi::EdgeData*,
                                         size_t count, unsigned flags) {
  return context_answer([&] { return update_capture_dependencies(stream, nodes, count, flags); });
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  return context_answer([&] { return exchange_capture_mode(mode); });
}

int cuEventCreate(void** event, unsigned flags) {
  return context_answer([&] { return create_event(event, flags); });
}
int cuEventDestroy_v2(void* event) {
  return context_answer([&] { return destroy_event(event); });
}
int cuEventRecord(void* event, void* stream) {
  return context_answer([&] { return record_event(event, stream); });
}
int cuEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return context_answer([&] { return record_event(event, stream, flags); });
}
int cuEventSynchronize(void* event) {
  return context_answer([&] { return synchronize_event(event); });
}
int cuEventQuery(void* event) {
  return context_answer([&] { return query_event(event); });
}
int cuEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return context_answer([&] { return get_elapsed(milliseconds, start, end); });
}
int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

}  // extern "C"
