// SPDX-License-Identifier: Apache-2.0

// Graphs of operations: built by hand or captured, instantiated into a fixed order, launched as
// often as wanted. Conditional nodes are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/live.h"
#include "ptxbench/cudart/operation.h"
#include "ptxbench/cudart/status.h"

namespace weft::cudart {

struct Node : Live<Node> {
  Graph* graph = nullptr;
  Operation operation;
  std::vector<Node*> dependencies;
  const Node* original = nullptr;  // the node this one is a clone of
  bool enabled = true;
  std::vector<void*> parameters;  // what cudaGraphKernelNodeGetParams hands out
};

struct UserObject;

struct Graph : Live<Graph> {
  std::vector<std::unique_ptr<Node>> nodes;  // in order of creation
  std::map<UserObject*, unsigned> retained;  // references held on user objects
  const Graph* original = nullptr;
  ~Graph();

  Node* add(Operation operation, std::vector<Node*> dependencies);
  std::shared_ptr<Graph> clone() const;
  // An order in which every node follows its dependencies; empty when there is a cycle.
  std::vector<Node*> order() const;
};

struct ExecutableGraph : Live<ExecutableGraph> {
  std::shared_ptr<Graph> graph;  // a clone of the source
  std::vector<Node*> order;
  unsigned long long flags = 0;
};

// Runs every enabled node once.
Status run_graph(const Graph& graph);

Status create_graph(void** graph);
Status destroy_graph(void* graph);
Status clone_graph(void** clone, void* graph);
Status find_in_clone(void** node, void* original, void* clone);

Status add_node(void** node, void* graph, void* const* dependencies, size_t count,
                Operation operation);
Status destroy_node(void* node);
// The operation behind a node's parameters, checked; for cudaGraphAddNode and the typed adders.
Status make_operation(Operation& operation, abi::NodeParameters* parameters);
Status make_kernel_operation(Operation& operation, const abi::KernelNode& parameters);
Status make_child_operation(Operation& operation, void* graph);
Status make_event_operation(Operation& operation, void* event, bool record);
Status make_allocation(Operation& operation, abi::AllocationNode* node);

Status get_node_type(void* node, int* type);
// The node's operation, for reading; nullptr when it is none or holds another kind.
Node* find_node(void* node);
template <typename T>
T* node_operation(void* node) {
  Node* found = find_node(node);
  return found != nullptr ? std::get_if<T>(&found->operation) : nullptr;
}
Status get_kernel_node(void* node, abi::KernelNode* parameters);
Status get_copy_node(void* node, abi::Copy3D* copy);
Status get_fill_node(void* node, abi::Fill* fill);
Status get_host_node(void* node, abi::HostCall* call);
Status get_child_graph(void* node, void** graph);
Status get_node_event(void* node, void** event);
Status get_allocation_node(void* node, abi::AllocationNode* parameters);
Status get_free_node(void* node, void** pointer);
// Replaces the operation by another of the same type.
Status set_node(void* node, Operation operation);

// Launch attributes of a kernel node: those that change what runs are kept in its launch.
Status set_kernel_attribute(void* node, int attribute, const abi::AttributeValue* value);
Status get_kernel_attribute(void* node, int attribute, abi::AttributeValue* value);
Status copy_kernel_attributes(void* target, void* source);

Status get_nodes(void* graph, void** nodes, size_t* count);
Status get_root_nodes(void* graph, void** nodes, size_t* count);
Status get_edges(void* graph, void** from, void** to, abi::EdgeData* edges, size_t* count);
Status get_dependencies(void* node, void** nodes, abi::EdgeData* edges, size_t* count);
Status get_dependents(void* node, void** nodes, abi::EdgeData* edges, size_t* count);
Status add_dependencies(void* graph, void* const* from, void* const* to, size_t count);
Status remove_dependencies(void* graph, void* const* from, void* const* to, size_t count);

Status instantiate(void** executable, void* graph, unsigned long long flags);
Status destroy_executable(void* executable);
Status launch_graph(void* executable, void* stream);
Status get_executable_flags(void* executable, unsigned long long* flags);
Status update_executable(void* executable, void* graph, abi::UpdateResult* result);
// `node` is a node of the graph that the executable was made from.
Status set_executable_node(void* executable, void* node, Operation operation);
Status set_node_enabled(void* executable, void* node, bool enabled);
Status get_node_enabled(void* executable, void* node, unsigned* enabled);
Status print_graph(void* graph, const char* path);

Status create_user_object(void** object, void* pointer, abi::HostFunction destroy, unsigned count);
Status retain_user_object(void* object, unsigned count);
Status release_user_object(void* object, unsigned count);
Status graph_retain(void* graph, void* object, unsigned count, bool move);
Status graph_release(void* graph, void* object, unsigned count);

// Memory of allocation nodes belongs to the graph that made it; freeing it elsewhere is noted only.
bool is_graph_memory(const void* pointer);

}  // namespace weft::cudart
