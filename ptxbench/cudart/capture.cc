// SPDX-License-Identifier: Apache-2.0

// Stream capture: what a stream is told between begin and end becomes a graph instead of being run.
#include <atomic>
#include <set>

#include "ptxbench/cudart/graph.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/stream.h"

namespace weft::cudart {
namespace {

std::atomic<uint64_t> next_capture_id{1};
thread_local int thread_mode = 0;

// Whether some captured node is followed by nothing that the origin stream waits for.
bool has_unjoined_work(const Capture& capture, const std::vector<Node*>& frontier) {
  std::set<const Node*> joined;
  std::vector<const Node*> open(frontier.begin(), frontier.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!joined.insert(node).second) continue;
    open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  for (const auto& node : capture.graph->nodes)
    if (!joined.contains(node.get())) return true;
  return false;
}

}  // namespace

Status begin_capture(void* stream, int mode, Graph* into, const std::vector<Node*>& dependencies) {
  Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (mode < 0 || mode > 2) return Status::InvalidValue;
  // The legacy default stream waits for the others and cannot be captured.
  if (reinterpret_cast<uintptr_t>(stream) <= 1) return Status::StreamCaptureUnsupported;
  if (found->capture) return Status::IllegalState;
  found->capture = std::make_shared<Capture>();
  found->capture->owns_graph = into == nullptr;
  found->capture->graph = into != nullptr ? into : new Graph;
  found->capture->origin = found;
  found->capture->mode = mode;
  found->capture->id = next_capture_id++;
  found->frontier = dependencies;
  return Status::Success;
}

Status begin_capture_to(void* stream, void* graph, void* const* dependencies, size_t count,
                        int mode) {
  Graph* into = Graph::find(graph);
  if (into == nullptr || (dependencies == nullptr && count != 0)) return Status::InvalidValue;
  std::vector<Node*> nodes;
  for (size_t i = 0; i < count; ++i) {
    nodes.push_back(Node::find(dependencies[i]));
    if (nodes.back() == nullptr || nodes.back()->graph != into) return Status::InvalidValue;
  }
  return begin_capture(stream, mode, into, nodes);
}

Status end_capture(void* stream, void** graph) {
  Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (graph == nullptr) return Status::InvalidValue;
  *graph = nullptr;
  if (!found->capture) return Status::IllegalState;
  if (found->capture->origin != found) {
    found->capture->invalid = true;
    return Status::StreamCaptureUnmatched;
  }
  const std::shared_ptr<Capture> capture = std::move(found->capture);
  const std::vector<Node*> frontier = std::move(found->frontier);
  found->capture.reset();
  found->frontier.clear();
  Status status = Status::Success;
  if (capture->invalid)
    status = Status::StreamCaptureInvalidated;
  else if (capture->owns_graph && has_unjoined_work(*capture, frontier))
    status = Status::StreamCaptureUnjoined;
  capture->ended = true;
  for (Stream* joined : capture->joined)
    if (Stream::find(joined) != nullptr && joined->capture == capture) {
      joined->capture.reset();
      joined->frontier.clear();
    }
  if (status == Status::Success) {
    *graph = capture->graph;
  } else if (capture->owns_graph) {
    delete capture->graph;
  }
  return status;
}

Status get_capture_status(void* stream, int* status) {
  return get_capture_info(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

Status get_capture_info(void* stream, int* status, uint64_t* id, void** graph,
                        const void* const** dependencies, const abi::EdgeData** edges,
                        size_t* count) {
  static const std::vector<abi::EdgeData>& plain_edges = *new std::vector<abi::EdgeData>(4096);
  Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (status == nullptr) return Status::InvalidValue;
  *status = !found->capture ? 0 : found->capture->invalid ? 2 : 1;
  if (*status != 1) return Status::Success;
  if (id != nullptr) *id = found->capture->id;
  if (graph != nullptr) *graph = found->capture->graph;
  if (dependencies != nullptr)
    *dependencies = reinterpret_cast<const void* const*>(found->frontier.data());
  if (edges != nullptr)
    *edges = found->frontier.size() <= plain_edges.size() ? plain_edges.data() : nullptr;
  if (count != nullptr) *count = found->frontier.size();
  return Status::Success;
}

Status update_capture_dependencies(void* stream, void* const* nodes, size_t count, unsigned flags) {
  Stream* found = find_stream(stream);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (!found->capture) return Status::IllegalState;
  if (found->capture->invalid) return Status::StreamCaptureInvalidated;
  if (flags > 1 || (nodes == nullptr && count != 0)) return Status::InvalidValue;
  std::vector<Node*> given;
  for (size_t i = 0; i < count; ++i) {
    Node* node = Node::find(nodes[i]);
    if (node == nullptr || node->graph != found->capture->graph) return Status::InvalidValue;
    given.push_back(node);
  }
  if (flags == 1) found->frontier.clear();
  found->frontier.insert(found->frontier.end(), given.begin(), given.end());
  return Status::Success;
}

Status exchange_capture_mode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) return Status::InvalidValue;
  std::swap(*mode, thread_mode);
  return Status::Success;
}

}  // namespace weft::cudart
