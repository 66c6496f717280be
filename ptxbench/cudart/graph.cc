// SPDX-License-Identifier: Apache-2.0

// The graph as a structure: nodes, edges, clones.
#include "ptxbench/cudart/graph.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/stream.h"

namespace weft::cudart {
namespace {

// Answers the CUDA way: without an array only the count, else as many as fit, the rest null.
Status hand_out(const std::vector<Node*>& list, void** nodes, size_t* count) {
  if (count == nullptr) return Status::InvalidValue;
  if (nodes == nullptr) {
    *count = list.size();
    return Status::Success;
  }
  for (size_t i = 0; i < *count; ++i) nodes[i] = i < list.size() ? list[i] : nullptr;
  *count = std::min(*count, list.size());
  return Status::Success;
}

std::vector<Node*> dependents(const Node& node) {
  std::vector<Node*> list;
  for (const auto& other : node.graph->nodes)
    if (std::find(other->dependencies.begin(), other->dependencies.end(), &node) !=
        other->dependencies.end())
      list.push_back(other.get());
  return list;
}

void clear_edges(abi::EdgeData* edges, size_t count) {
  if (edges != nullptr) std::fill(edges, edges + count, abi::EdgeData{});
}

}  // namespace

struct UserObject : Live<UserObject> {
  void* pointer;
  abi::HostFunction destroy;
  unsigned count;
};

namespace {

Status drop(UserObject* object, unsigned count) {
  if (UserObject::find(object) == nullptr || count == 0 || count > object->count)
    return Status::InvalidValue;
  object->count -= count;
  if (object->count != 0) return Status::Success;
  object->destroy(object->pointer);
  delete object;
  return Status::Success;
}

}  // namespace

Graph::~Graph() {
  for (const auto& [object, count] : retained) (void)drop(object, count);
}

Node* Graph::add(Operation operation, std::vector<Node*> dependencies) {
  auto node = std::make_unique<Node>();
  node->graph = this;
  node->operation = std::move(operation);
  node->dependencies = std::move(dependencies);
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  copy->original = this;
  std::map<const Node*, Node*> clones;
  for (const auto& node : nodes) {
    Operation operation = node->operation;
    if (auto* child = std::get_if<GraphOperation>(&operation)) child->graph = child->graph->clone();
    Node* made = copy->add(std::move(operation), {});
    made->original = node.get();
    made->enabled = node->enabled;
    clones[node.get()] = made;
  }
  for (const auto& node : nodes)
    for (const Node* dependency : node->dependencies)
      clones[node.get()]->dependencies.push_back(clones[dependency]);
  for (const auto& [object, count] : retained) {
    object->count += count;
    copy->retained[object] = count;
  }
  return copy;
}

std::vector<Node*> Graph::order() const {
  std::vector<Node*> sorted;
  std::set<const Node*> placed;
  bool progress = true;
  while (progress && sorted.size() < nodes.size()) {
    progress = false;
    for (const auto& node : nodes) {
      if (placed.contains(node.get())) continue;
      const bool free = std::all_of(node->dependencies.begin(), node->dependencies.end(),
                                    [&](const Node* d) { return placed.contains(d); });
      if (!free) continue;
      placed.insert(node.get());
      sorted.push_back(node.get());
      progress = true;
    }
  }
  if (sorted.size() != nodes.size()) sorted.clear();
  return sorted;
}

Status create_graph(void** graph) {
  if (graph == nullptr) return Status::InvalidValue;
  *graph = new Graph;
  return Status::Success;
}

Status destroy_graph(void* graph) {
  Graph* found = Graph::find(graph);
  if (found == nullptr) return Status::InvalidValue;
  delete found;
  return Status::Success;
}

Status clone_graph(void** clone, void* graph) {
  const Graph* found = Graph::find(graph);
  if (clone == nullptr || found == nullptr) return Status::InvalidValue;
  // The program owns this clone; it leaves the shared pointer for good.
  auto copy = found->clone();
  auto* own = new Graph;
  own->nodes = std::move(copy->nodes);
  own->retained = std::move(copy->retained);
  copy->retained.clear();
  own->original = found;
  for (const auto& node : own->nodes) node->graph = own;
  *clone = own;
  return Status::Success;
}

Status find_in_clone(void** node, void* original, void* clone) {
  const Graph* found = Graph::find(clone);
  if (node == nullptr || found == nullptr) return Status::InvalidValue;
  for (const auto& candidate : found->nodes)
    if (candidate->original == original) {
      *node = candidate.get();
      return Status::Success;
    }
  return Status::InvalidValue;
}

Status destroy_node(void* node) {
  Node* found = Node::find(node);
  if (found == nullptr) return Status::InvalidValue;
  if (std::holds_alternative<AllocateOperation>(found->operation) ||
      std::holds_alternative<FreeOperation>(found->operation))
    return Status::NotSupported;
  Graph& graph = *found->graph;
  for (const auto& other : graph.nodes) std::erase(other->dependencies, found);
  std::erase_if(graph.nodes, [&](const auto& own) { return own.get() == found; });
  return Status::Success;
}

Node* find_node(void* node) {
  return Node::find(node);
}

Status get_node_type(void* node, int* type) {
  const Node* found = Node::find(node);
  if (found == nullptr || type == nullptr) return Status::InvalidValue;
  *type = node_type(found->operation);
  return Status::Success;
}

Status get_nodes(void* graph, void** nodes, size_t* count) {
  const Graph* found = Graph::find(graph);
  if (found == nullptr) return Status::InvalidValue;
  std::vector<Node*> list;
  for (const auto& node : found->nodes) list.push_back(node.get());
  return hand_out(list, nodes, count);
}

Status get_root_nodes(void* graph, void** nodes, size_t* count) {
  const Graph* found = Graph::find(graph);
  if (found == nullptr) return Status::InvalidValue;
  std::vector<Node*> list;
  for (const auto& node : found->nodes)
    if (node->dependencies.empty()) list.push_back(node.get());
  return hand_out(list, nodes, count);
}

Status get_edges(void* graph, void** from, void** to, abi::EdgeData* edges, size_t* count) {
  const Graph* found = Graph::find(graph);
  if (found == nullptr || count == nullptr) return Status::InvalidValue;
  std::vector<Node*> sources, targets;
  for (const auto& node : found->nodes)
    for (Node* dependency : node->dependencies) {
      sources.push_back(dependency);
      targets.push_back(node.get());
    }
  clear_edges(edges, *count);
  size_t again = *count;
  EXPECT_SUCCESS(hand_out(sources, from, count));
  return hand_out(targets, to, to != nullptr ? &again : count);
}

Status get_dependencies(void* node, void** nodes, abi::EdgeData* edges, size_t* count) {
  const Node* found = Node::find(node);
  if (found == nullptr || count == nullptr) return Status::InvalidValue;
  clear_edges(edges, *count);
  return hand_out(found->dependencies, nodes, count);
}

Status get_dependents(void* node, void** nodes, abi::EdgeData* edges, size_t* count) {
  const Node* found = Node::find(node);
  if (found == nullptr || count == nullptr) return Status::InvalidValue;
  clear_edges(edges, *count);
  return hand_out(dependents(*found), nodes, count);
}

Status add_dependencies(void* graph, void* const* from, void* const* to, size_t count) {
  if (Graph::find(graph) == nullptr || (count != 0 && (from == nullptr || to == nullptr)))
    return Status::InvalidValue;
  for (size_t i = 0; i < count; ++i) {
    Node* source = Node::find(from[i]);
    Node* target = Node::find(to[i]);
    if (source == nullptr || target == nullptr || source->graph != graph ||
        target->graph != graph || source == target)
      return Status::InvalidValue;
    auto& list = target->dependencies;
    if (std::find(list.begin(), list.end(), source) != list.end()) return Status::InvalidValue;
    list.push_back(source);
  }
  return Status::Success;
}

Status remove_dependencies(void* graph, void* const* from, void* const* to, size_t count) {
  if (Graph::find(graph) == nullptr || (count != 0 && (from == nullptr || to == nullptr)))
    return Status::InvalidValue;
  for (size_t i = 0; i < count; ++i) {
    Node* target = Node::find(to[i]);
    if (target == nullptr || std::erase(target->dependencies, static_cast<Node*>(from[i])) == 0)
      return Status::InvalidValue;
  }
  return Status::Success;
}

Status print_graph(void* graph, const char* path) {
  const Graph* found = Graph::find(graph);
  if (found == nullptr || path == nullptr) return Status::InvalidValue;
  static constexpr const char* kNames[] = {"kernel", "memcpy",    "memset",       "host",
                                           "host",   "empty",     "event record", "event wait",
                                           "graph",  "mem alloc", "mem free"};
  std::ofstream out(path);
  out << "digraph graph_1 {\n";
  std::map<const Node*, size_t> numbers;
  for (const auto& node : found->nodes) {
    numbers.emplace(node.get(), numbers.size());
    out << "  node_" << numbers[node.get()] << " [label=\"" << kNames[node->operation.index()];
    if (const auto* launch = std::get_if<PreparedLaunch>(&node->operation))
      out << "\\n" << launch->kernel->name;
    out << "\"];\n";
  }
  for (const auto& node : found->nodes)
    for (const Node* dependency : node->dependencies)
      out << "  node_" << numbers[dependency] << " -> node_" << numbers[node.get()] << ";\n";
  out << "}\n";
  out.close();
  return out ? Status::Success : Status::Unknown;
}

Status create_user_object(void** object, void* pointer, abi::HostFunction destroy, unsigned count) {
  if (object == nullptr || destroy == nullptr || count == 0) return Status::InvalidValue;
  auto* made = new UserObject;
  made->pointer = pointer;
  made->destroy = destroy;
  made->count = count;
  *object = made;
  return Status::Success;
}

Status retain_user_object(void* object, unsigned count) {
  UserObject* found = UserObject::find(object);
  if (found == nullptr || count == 0) return Status::InvalidValue;
  found->count += count;
  return Status::Success;
}

Status release_user_object(void* object, unsigned count) {
  return drop(static_cast<UserObject*>(object), count);
}

Status graph_retain(void* graph, void* object, unsigned count, bool move) {
  Graph* found = Graph::find(graph);
  UserObject* target = UserObject::find(object);
  if (found == nullptr || target == nullptr || count == 0) return Status::InvalidValue;
  if (!move) target->count += count;
  found->retained[target] += count;
  return Status::Success;
}

Status graph_release(void* graph, void* object, unsigned count) {
  Graph* found = Graph::find(graph);
  auto* target = static_cast<UserObject*>(object);
  if (found == nullptr) return Status::InvalidValue;
  const auto entry = found->retained.find(target);
  if (entry == found->retained.end() || entry->second < count) return Status::InvalidValue;
  entry->second -= count;
  if (entry->second == 0) found->retained.erase(entry);
  return drop(target, count);
}

}  // namespace weft::cudart
