// SPDX-License-Identifier: Apache-2.0

// Streams, events and the capture of a stream into a graph. Work runs inside the call that enqueues
// it, in the order of the calls: an order that every CUDA program must accept.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/live.h"
#include "ptxbench/cudart/operation.h"
#include "ptxbench/cudart/status.h"

namespace weft::cudart {

struct Node;
struct Stream;

// One capture, shared by the streams that joined it.
struct Capture {
  Graph* graph = nullptr;
  bool owns_graph = true;  // false when captured into the program's own graph
  Stream* origin = nullptr;
  int mode = 0;  // cudaStreamCaptureMode
  uint64_t id = 0;
  bool invalid = false;
  bool ended = false;
  std::vector<Stream*> joined;  // streams that follow until the end, the origin left out
};

struct Stream : Live<Stream> {
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  void* context = nullptr;  // CUcontext it was made in
  std::shared_ptr<Capture> capture;
  std::vector<Node*> frontier;  // nodes that the next captured one depends on
  std::vector<abi::LaunchAttribute> attributes;
};

struct Event : Live<Event> {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
  std::shared_ptr<Capture> capture;  // when last recorded in a captured stream
  std::vector<Node*> frontier;
};
void mark_recorded(Event* event);

// A handle may be 0 (default), 1 (legacy default) or 2 (default of the thread). nullptr for none.
Stream* find_stream(const void* handle);

Status create_stream(void** stream, unsigned flags, int priority);
Status destroy_stream(void* stream);
Status synchronize_stream(void* stream);
Status query_stream(void* stream);
Status synchronize_device();
Status get_stream_flags(void* stream, unsigned* flags);
Status get_stream_priority(void* stream, int* priority);
Status get_stream_id(void* stream, unsigned long long* id);
Status set_stream_attribute(void* stream, int attribute, const abi::AttributeValue* value);
Status get_stream_attribute(void* stream, int attribute, abi::AttributeValue* value);
Status copy_stream_attributes(void* target, void* source);

// Runs the operation, or adds it to the graph that the stream is captured into.
Status enqueue(void* stream, Operation operation);
Status enqueue_launch(const void* symbol, abi::Dim3 grid, abi::Dim3 block, size_t shared_bytes,
                      void* stream, void** parameters, void** extra = nullptr,
                      std::span<const abi::LaunchAttribute> attributes = {});
// A copy or fill that the caller waits for; not allowed on a captured stream.
Status enqueue_and_wait(void* stream, Operation operation);
// Asynchronous allocation: at once, or a node of the captured graph.
Status allocate_async(void** pointer, size_t size, void* stream);
Status free_async(void* pointer, void* stream);

Status create_event(void** event, unsigned flags);
Status destroy_event(void* event);
Status record_event(void* event, void* stream, unsigned flags = 0);
Status wait_event(void* stream, void* event);
Status synchronize_event(void* event);
Status query_event(void* event);
Status get_elapsed(float* milliseconds, void* start, void* end);

Status begin_capture(void* stream, int mode, Graph* into = nullptr,
                     const std::vector<Node*>& dependencies = {});
Status begin_capture_to(void* stream, void* graph, void* const* dependencies, size_t count,
                        int mode);
Status end_capture(void* stream, void** graph);
Status get_capture_status(void* stream, int* status);
Status get_capture_info(void* stream, int* status, uint64_t* id, void** graph,
                        const void* const** dependencies, const abi::EdgeData** edges,
                        size_t* count);
Status update_capture_dependencies(void* stream, void* const* nodes, size_t count, unsigned flags);
Status exchange_capture_mode(int* mode);

}  // namespace weft::cudart
