// SPDX-License-Identifier: Apache-2.0

// Instantiated graphs: launched, updated, changed node by node.
#include <algorithm>

#include "ptxbench/cudart/graph.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/stream.h"

namespace weft::cudart {
namespace {

// cudaGraphExecUpdateResult.
enum Update : int { kUpdated = 0, kTopologyChanged = 2, kTypeChanged = 3 };

Node* find_own(ExecutableGraph& executable, const void* source_node) {
  for (const auto& node : executable.graph->nodes)
    if (node->original == source_node) return node.get();
  return nullptr;
}

Status run_nodes(const std::vector<Node*>& order) {
  for (const Node* node : order)
    if (node->enabled) EXPECT_SUCCESS(perform(node->operation));
  return Status::Success;
}

// Positions of the dependencies in the list of nodes: equal in two graphs of the same topology.
std::vector<size_t> dependency_positions(const Graph& graph, const Node& node) {
  std::vector<size_t> positions;
  for (const Node* dependency : node.dependencies)
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      if (graph.nodes[i].get() == dependency) positions.push_back(i);
  std::sort(positions.begin(), positions.end());
  return positions;
}

}  // namespace

Status run_graph(const Graph& graph) {
  return run_nodes(graph.order());
}

Status instantiate(void** executable, void* graph, unsigned long long flags) {
  const Graph* found = Graph::find(graph);
  if (executable == nullptr || found == nullptr) return Status::InvalidValue;
  if (flags & 4) {
    complain_once("launching graphs from the device is not supported by the emulated CUDA library");
    return Status::NotSupported;
  }
  auto made = std::make_unique<ExecutableGraph>();
  made->graph = found->clone();
  made->order = made->graph->order();
  made->flags = flags;
  if (made->order.size() != made->graph->nodes.size()) return Status::InvalidValue;
  *executable = made.release();
  return Status::Success;
}

Status destroy_executable(void* executable) {
  ExecutableGraph* found = ExecutableGraph::find(executable);
  if (found == nullptr) return Status::InvalidValue;
  delete found;
  return Status::Success;
}

Status launch_graph(void* executable, void* stream) {
  ExecutableGraph* found = ExecutableGraph::find(executable);
  const Stream* place = find_stream(stream);
  if (found == nullptr) return Status::InvalidValue;
  if (place == nullptr) return Status::InvalidResourceHandle;
  if (place->capture) return enqueue(stream, GraphOperation{found->graph->clone()});
  const Status status = run_nodes(found->order);
  // A kernel's fault shows at the next synchronisation, as for a plain launch.
  return ready() == Status::Success ? status : Status::Success;
}

Status get_executable_flags(void* executable, unsigned long long* flags) {
  const ExecutableGraph* found = ExecutableGraph::find(executable);
  if (found == nullptr || flags == nullptr) return Status::InvalidValue;
  *flags = found->flags;
  return Status::Success;
}

Status update_executable(void* executable, void* graph, abi::UpdateResult* result) {
  ExecutableGraph* found = ExecutableGraph::find(executable);
  const Graph* source = Graph::find(graph);
  if (found == nullptr || source == nullptr) return Status::InvalidValue;
  const auto answer = [&](Update update, void* node) {
    if (result != nullptr) *result = {update, node, nullptr};
    return update == kUpdated ? Status::Success : Status::GraphExecUpdateFailure;
  };
  Graph& own = *found->graph;
  if (own.nodes.size() != source->nodes.size()) return answer(kTopologyChanged, nullptr);
  for (size_t i = 0; i < own.nodes.size(); ++i) {
    Node* theirs = source->nodes[i].get();
    if (node_type(own.nodes[i]->operation) != node_type(theirs->operation))
      return answer(kTypeChanged, theirs);
    if (dependency_positions(own, *own.nodes[i]) != dependency_positions(*source, *theirs))
      return answer(kTopologyChanged, theirs);
  }
  for (size_t i = 0; i < own.nodes.size(); ++i) {
    own.nodes[i]->operation = source->nodes[i]->operation;
    if (auto* child = std::get_if<GraphOperation>(&own.nodes[i]->operation))
      child->graph = child->graph->clone();
  }
  return answer(kUpdated, nullptr);
}

Status set_executable_node(void* executable, void* node, Operation operation) {
  ExecutableGraph* found = ExecutableGraph::find(executable);
  if (found == nullptr) return Status::InvalidValue;
  Node* own = find_own(*found, node);
  return own != nullptr ? set_node(own, std::move(operation)) : Status::InvalidValue;
}

Status set_node_enabled(void* executable, void* node, bool enabled) {
  ExecutableGraph* found = ExecutableGraph::find(executable);
  if (found == nullptr) return Status::InvalidValue;
  Node* own = find_own(*found, node);
  if (own == nullptr) return Status::InvalidValue;
  const int type = node_type(own->operation);
  if (type != abi::kKernelNode && type != abi::kCopyNode && type != abi::kFillNode)
    return Status::InvalidValue;
  own->enabled = enabled;
  return Status::Success;
}

Status get_node_enabled(void* executable, void* node, unsigned* enabled) {
  ExecutableGraph* found = ExecutableGraph::find(executable);
  if (found == nullptr || enabled == nullptr) return Status::InvalidValue;
  const Node* own = find_own(*found, node);
  if (own == nullptr) return Status::InvalidValue;
  *enabled = own->enabled;
  return Status::Success;
}

}  // namespace weft::cudart
