// SPDX-License-Identifier: Apache-2.0

// Nodes from their parameters and back.
#include <mutex>
#include <set>

#include "ptxbench/cudart/graph.h"
#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/stream.h"

namespace weft::cudart {
namespace {

struct GraphMemory {
  std::mutex mutex;
  std::set<const void*> pointers;
};
GraphMemory& graph_memory() {
  static GraphMemory& instance = *new GraphMemory;
  return instance;
}

}  // namespace

bool is_graph_memory(const void* pointer) {
  const std::lock_guard lock(graph_memory().mutex);
  return graph_memory().pointers.contains(pointer);
}

Status make_allocation(Operation& operation, abi::AllocationNode* node) {
  if (node == nullptr || node->bytes == 0) return Status::InvalidValue;
  EXPECT_SUCCESS(allocate(&node->pointer, node->bytes, AllocationKind::Device));
  {
    const std::lock_guard lock(graph_memory().mutex);
    graph_memory().pointers.insert(node->pointer);
  }
  abi::AllocationNode kept = *node;
  kept.access = nullptr;
  kept.access_count = 0;
  operation = AllocateOperation{kept};
  return Status::Success;
}

Status make_kernel_operation(Operation& operation, const abi::KernelNode& parameters) {
  PreparedLaunch launch;
  EXPECT_SUCCESS(prepare_launch(launch, parameters.function, parameters.grid, parameters.block,
                                parameters.shared_bytes, parameters.parameters, parameters.extra,
                                {}));
  operation = std::move(launch);
  return Status::Success;
}

Status make_child_operation(Operation& operation, void* graph) {
  const Graph* child = Graph::find(graph);
  if (child == nullptr) return Status::InvalidValue;
  operation = GraphOperation{child->clone()};
  return Status::Success;
}

Status make_event_operation(Operation& operation, void* event, bool record) {
  Event* found = Event::find(event);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (record)
    operation = RecordOperation{found};
  else
    operation = WaitOperation{found};
  return Status::Success;
}

Status make_operation(Operation& operation, abi::NodeParameters* p) {
  if (p == nullptr) return Status::InvalidValue;
  switch (p->type) {
    case abi::kKernelNode:
      return make_kernel_operation(operation, p->kernel);
    case abi::kCopyNode: {
      const CopyOperation copy{p->copy.copy};
      operation = copy;
      return check(copy);
    }
    case abi::kFillNode: {
      const FillOperation fill{p->fill};
      operation = fill;
      return check(fill);
    }
    case abi::kHostNode:
      if (p->host.function == nullptr) return Status::InvalidValue;
      operation = HostOperation{p->host};
      return Status::Success;
    case abi::kGraphNode:
      return make_child_operation(operation, p->graph.graph);
    case abi::kEmptyNode:
      operation = EmptyOperation{};
      return Status::Success;
    case abi::kWaitEventNode:
      return make_event_operation(operation, p->event.event, false);
    case abi::kRecordEventNode:
      return make_event_operation(operation, p->event.event, true);
    case abi::kAllocationNode:
      return make_allocation(operation, &p->allocation);
    case abi::kFreeNode:
      operation = FreeOperation{p->free_pointer};
      return Status::Success;
    case abi::kConditionalNode:
      complain_once("conditional graph nodes are not supported by the emulated CUDA library");
      return Status::NotSupported;
    default:
      return Status::NotSupported;
  }
}

Status add_node(void** node, void* graph, void* const* dependencies, size_t count,
                Operation operation) {
  Graph* found = Graph::find(graph);
  if (node == nullptr || found == nullptr || (dependencies == nullptr && count != 0))
    return Status::InvalidValue;
  std::vector<Node*> list;
  for (size_t i = 0; i < count; ++i) {
    Node* dependency = Node::find(dependencies[i]);
    if (dependency == nullptr || dependency->graph != found) return Status::InvalidValue;
    list.push_back(dependency);
  }
  *node = found->add(std::move(operation), std::move(list));
  return Status::Success;
}

Status get_kernel_node(void* node, abi::KernelNode* parameters) {
  Node* found = Node::find(node);
  const auto* launch = node_operation<PreparedLaunch>(node);
  if (launch == nullptr || parameters == nullptr) return Status::InvalidValue;
  found->parameters = parameter_pointers(*launch);
  *parameters = {};
  parameters->function = launch->kernel;
  parameters->grid = {launch->grid.x, launch->grid.y, launch->grid.z};
  parameters->block = {launch->block.x, launch->block.y, launch->block.z};
  parameters->shared_bytes = launch->shared_bytes;
  parameters->parameters = found->parameters.data();
  return Status::Success;
}

Status get_copy_node(void* node, abi::Copy3D* copy) {
  const auto* operation = node_operation<CopyOperation>(node);
  if (operation == nullptr || copy == nullptr) return Status::InvalidValue;
  *copy = operation->copy;
  return Status::Success;
}

Status get_fill_node(void* node, abi::Fill* fill) {
  const auto* operation = node_operation<FillOperation>(node);
  if (operation == nullptr || fill == nullptr) return Status::InvalidValue;
  *fill = operation->fill;
  return Status::Success;
}

Status get_host_node(void* node, abi::HostCall* call) {
  const auto* operation = node_operation<HostOperation>(node);
  if (operation == nullptr || call == nullptr) return Status::InvalidValue;
  *call = operation->call;
  return Status::Success;
}

Status get_child_graph(void* node, void** graph) {
  const auto* operation = node_operation<GraphOperation>(node);
  if (operation == nullptr || graph == nullptr) return Status::InvalidValue;
  *graph = operation->graph.get();
  return Status::Success;
}

Status get_node_event(void* node, void** event) {
  if (event == nullptr) return Status::InvalidValue;
  if (const auto* record = node_operation<RecordOperation>(node))
    *event = record->event;
  else if (const auto* wait = node_operation<WaitOperation>(node))
    *event = wait->event;
  else
    return Status::InvalidValue;
  return Status::Success;
}

Status get_allocation_node(void* node, abi::AllocationNode* parameters) {
  const auto* operation = node_operation<AllocateOperation>(node);
  if (operation == nullptr || parameters == nullptr) return Status::InvalidValue;
  *parameters = operation->node;
  return Status::Success;
}

Status get_free_node(void* node, void** pointer) {
  const auto* operation = node_operation<FreeOperation>(node);
  if (operation == nullptr || pointer == nullptr) return Status::InvalidValue;
  *pointer = operation->pointer;
  return Status::Success;
}

Status set_kernel_attribute(void* node, int attribute, const abi::AttributeValue* value) {
  auto* launch = node_operation<PreparedLaunch>(node);
  if (launch == nullptr || value == nullptr || attribute < 0 || attribute > 16)
    return Status::InvalidValue;
  if (attribute == abi::kAttributeCooperative) launch->cooperative = value->number != 0;
  if (attribute == abi::kAttributeClusterDimension)
    launch->cluster = {value->dimensions[0], value->dimensions[1], value->dimensions[2]};
  return Status::Success;
}

Status get_kernel_attribute(void* node, int attribute, abi::AttributeValue* value) {
  const auto* launch = node_operation<PreparedLaunch>(node);
  if (launch == nullptr || value == nullptr || attribute < 0 || attribute > 16)
    return Status::InvalidValue;
  *value = {};
  if (attribute == abi::kAttributeCooperative) value->number = launch->cooperative;
  if (attribute == abi::kAttributeClusterDimension) {
    value->dimensions[0] = launch->cluster.x;
    value->dimensions[1] = launch->cluster.y;
    value->dimensions[2] = launch->cluster.z;
  }
  return Status::Success;
}

Status copy_kernel_attributes(void* target, void* source) {
  auto* to = node_operation<PreparedLaunch>(target);
  const auto* from = node_operation<PreparedLaunch>(source);
  if (to == nullptr || from == nullptr) return Status::InvalidValue;
  to->cooperative = from->cooperative;
  to->cluster = from->cluster;
  return Status::Success;
}

Status set_node(void* node, Operation operation) {
  Node* found = Node::find(node);
  if (found == nullptr || found->operation.index() != operation.index())
    return Status::InvalidValue;
  found->operation = std::move(operation);
  return Status::Success;
}

}  // namespace weft::cudart
