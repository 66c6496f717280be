// SPDX-License-Identifier: Apache-2.0

// Graphs of the driver API. Node structures that runtime and driver share in layout are shared
// here.
#include "ptxbench/cudart/graph.h"

#include "ptxbench/cudart/driver/edge.h"
#include "ptxbench/cudart/stream.h"

using namespace weft::cudart;

namespace {

template <typename Make, typename Use>
int with_operation(Make make, Use use) {
  return context_answer([&] {
    Operation operation;
    EXPECT_SUCCESS(make(operation));
    return use(std::move(operation));
  });
}

auto adding(void** node, void* graph, void* const* dependencies, size_t count) {
  return [=](Operation operation) {
    return add_node(node, graph, dependencies, count, std::move(operation));
  };
}
auto setting(void* node) {
  return [=](Operation operation) { return set_node(node, std::move(operation)); };
}
auto setting(void* executable, void* node) {
  return [=](Operation operation) {
    return set_executable_node(executable, node, std::move(operation));
  };
}

auto kernel(const abi::DriverKernelNode* p) {
  return [=](Operation& operation) {
    if (p == nullptr) return Status::InvalidValue;
    return make_kernel_operation(operation, {p->function != nullptr ? p->function : p->kernel,
                                             {p->grid[0], p->grid[1], p->grid[2]},
                                             {p->block[0], p->block[1], p->block[2]},
                                             p->shared_bytes,
                                             p->parameters,
                                             p->extra});
  };
}
auto fill(const abi::Fill* p) {
  return [=](Operation& operation) {
    if (p == nullptr) return Status::InvalidValue;
    operation = FillOperation{*p};
    return check(FillOperation{*p});
  };
}
auto host(const abi::HostCall* p) {
  return [=](Operation& operation) {
    if (p == nullptr || p->function == nullptr) return Status::InvalidValue;
    operation = HostOperation{*p};
    return Status::Success;
  };
}
auto child(void* graph) {
  return [=](Operation& operation) { return make_child_operation(operation, graph); };
}
auto event_node(void* event, bool record) {
  return [=](Operation& operation) { return make_event_operation(operation, event, record); };
}

}  // namespace

extern "C" {

#define GRAPH(name) cuGraph##name
#define GRAPH_2(name) cuGraph##name##_v2
#define ANSWER context_answer
#include "ptxbench/cudart/graph_functions.def"

int cuGraphCreate(void** graph, unsigned) {
  return context_answer([&] { return create_graph(graph); });
}
int cuGraphDestroy(void* graph) {
  return context_answer([&] { return destroy_graph(graph); });
}
int cuGraphClone(void** clone, void* graph) {
  return context_answer([&] { return clone_graph(clone, graph); });
}
int cuGraphNodeFindInClone(void** node, void* original, void* clone) {
  return context_answer([&] { return find_in_clone(node, original, clone); });
}
int cuGraphAddKernelNode_v2(void** node, void* graph, void* const* dependencies, size_t count,
                            const abi::DriverKernelNode* p) {
  return with_operation(kernel(p), adding(node, graph, dependencies, count));
}
int cuGraphAddMemsetNode(void** node, void* graph, void* const* dependencies, size_t count,
                         const abi::Fill* p, void*) {
  return with_operation(fill(p), adding(node, graph, dependencies, count));
}
int cuGraphAddHostNode(void** node, void* graph, void* const* dependencies, size_t count,
                       const abi::HostCall* p) {
  return with_operation(host(p), adding(node, graph, dependencies, count));
}
int cuGraphAddChildGraphNode(void** node, void* graph, void* const* dependencies, size_t count,
                             void* inner) {
  return with_operation(child(inner), adding(node, graph, dependencies, count));
}
int cuGraphAddEmptyNode(void** node, void* graph, void* const* dependencies, size_t count) {
  return context_answer(
      [&] { return add_node(node, graph, dependencies, count, EmptyOperation{}); });
}
int cuGraphAddEventRecordNode(void** node, void* graph, void* const* dependencies, size_t count,
                              void* event) {
  return with_operation(event_node(event, true), adding(node, graph, dependencies, count));
}
int cuGraphAddEventWaitNode(void** node, void* graph, void* const* dependencies, size_t count,
                            void* event) {
  return with_operation(event_node(event, false), adding(node, graph, dependencies, count));
}
int cuGraphAddMemAllocNode(void** node, void* graph, void* const* dependencies, size_t count,
                           abi::AllocationNode* p) {
  return with_operation([&](Operation& operation) { return make_allocation(operation, p); },
                        adding(node, graph, dependencies, count));
}
int cuGraphAddMemFreeNode(void** node, void* graph, void* const* dependencies, size_t count,
                          uint64_t address) {
  return context_answer([&] {
    return add_node(node, graph, dependencies, count,
                    FreeOperation{reinterpret_cast<void*>(address)});
  });
}
int cuGraphKernelNodeSetParams_v2(void* node, const abi::DriverKernelNode* p) {
  return with_operation(kernel(p), setting(node));
}
int cuGraphKernelNodeGetParams_v2(void* node, abi::DriverKernelNode* p) {
  return context_answer([&] {
    if (p == nullptr) return Status::InvalidValue;
    abi::KernelNode common;
    EXPECT_SUCCESS(get_kernel_node(node, &common));
    *p = {common.function,
          {common.grid.x, common.grid.y, common.grid.z},
          {common.block.x, common.block.y, common.block.z},
          common.shared_bytes,
          common.parameters,
          nullptr,
          nullptr,
          nullptr};
    return Status::Success;
  });
}
int cuGraphKernelNodeSetAttribute(void* node, int attribute, const abi::AttributeValue* value) {
  return context_answer([&] { return set_kernel_attribute(node, attribute, value); });
}
int cuGraphKernelNodeGetAttribute(void* node, int attribute, abi::AttributeValue* value) {
  return context_answer([&] { return get_kernel_attribute(node, attribute, value); });
}
int cuGraphKernelNodeCopyAttributes(void* target, void* source) {
  return context_answer([&] { return copy_kernel_attributes(target, source); });
}
int cuGraphMemsetNodeSetParams(void* node, const abi::Fill* p) {
  return with_operation(fill(p), setting(node));
}
int cuGraphMemsetNodeGetParams(void* node, abi::Fill* p) {
  return context_answer([&] { return get_fill_node(node, p); });
}
int cuGraphHostNodeSetParams(void* node, const abi::HostCall* p) {
  return with_operation(host(p), setting(node));
}
int cuGraphHostNodeGetParams(void* node, abi::HostCall* p) {
  return context_answer([&] { return get_host_node(node, p); });
}
int cuGraphChildGraphNodeGetGraph(void* node, void** graph) {
  return context_answer([&] { return get_child_graph(node, graph); });
}
int cuGraphEventRecordNodeGetEvent(void* node, void** event) {
  return context_answer([&] { return get_node_event(node, event); });
}
int cuGraphEventWaitNodeGetEvent(void* node, void** event) {
  return context_answer([&] { return get_node_event(node, event); });
}
int cuGraphMemAllocNodeGetParams(void* node, abi::AllocationNode* p) {
  return context_answer([&] { return get_allocation_node(node, p); });
}
int cuGraphMemFreeNodeGetParams(void* node, uint64_t* address) {
  return context_answer([&] { return get_free_node(node, reinterpret_cast<void**>(address)); });
}
int cuGraphInstantiate_v2(void** executable, void* graph, void** error_node, char* log,
                          size_t size) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && size != 0) *log = '\0';
  return cuGraphInstantiateWithFlags(executable, graph, 0);
}
int cuGraphExecKernelNodeSetParams_v2(void* executable, void* node,
                                      const abi::DriverKernelNode* p) {
  return with_operation(kernel(p), setting(executable, node));
}
int cuGraphExecMemsetNodeSetParams(void* executable, void* node, const abi::Fill* p, void*) {
  return with_operation(fill(p), setting(executable, node));
}
int cuGraphExecHostNodeSetParams(void* executable, void* node, const abi::HostCall* p) {
  return with_operation(host(p), setting(executable, node));
}

}  // extern "C"
