// SPDX-License-Identifier: Apache-2.0

// Graphs of the runtime API.
#include "ptxbench/cudart/graph.h"

#include "ptxbench/cudart/module.h"
#include "ptxbench/cudart/runtime/edge.h"
#include "ptxbench/cudart/stream.h"

using namespace weft::cudart;

namespace {

// Makes an operation with `make` and hands it to `use`.
template <typename Make, typename Use>
int with_operation(Make make, Use use) {
  return answer([&] {
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

auto kernel(const abi::KernelNode* p) {
  return [=](Operation& operation) {
    return p != nullptr ? make_kernel_operation(operation, *p) : Status::InvalidValue;
  };
}
auto copy(const abi::Copy3D* p) {
  return [=](Operation& operation) {
    if (p == nullptr) return Status::InvalidValue;
    operation = CopyOperation{*p};
    return check(CopyOperation{*p});
  };
}
auto line(void* target, const void* source, size_t size, int kind) {
  return [=](Operation& operation) {
    const CopyOperation made = linear_copy(target, source, size, kind);
    operation = made;
    return check(made);
  };
}
auto to_symbol(const void* symbol, const void* source, size_t size, size_t offset, int kind) {
  return [=](Operation& operation) {
    void* address = nullptr;
    size_t bytes = 0;
    EXPECT_SUCCESS(find_symbol(symbol, &address, &bytes));
    if (offset > bytes || size > bytes - offset) return Status::InvalidValue;
    operation = linear_copy(static_cast<std::byte*>(address) + offset, source, size, kind);
    return Status::Success;
  };
}
auto from_symbol(void* target, const void* symbol, size_t size, size_t offset, int kind) {
  return [=](Operation& operation) {
    void* address = nullptr;
    size_t bytes = 0;
    EXPECT_SUCCESS(find_symbol(symbol, &address, &bytes));
    if (offset > bytes || size > bytes - offset) return Status::InvalidValue;
    operation = linear_copy(target, static_cast<std::byte*>(address) + offset, size, kind);
    return Status::Success;
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
auto recording(void* event) {
  return [=](Operation& operation) { return make_event_operation(operation, event, true); };
}
auto waiting(void* event) {
  return [=](Operation& operation) { return make_event_operation(operation, event, false); };
}
auto any(abi::NodeParameters* p) {
  return [=](Operation& operation) { return make_operation(operation, p); };
}

}  // namespace

extern "C" {

#define GRAPH(name) cudaGraph##name
#define GRAPH_2(name) cudaGraph##name
#define ANSWER answer
#include "ptxbench/cudart/graph_functions.def"

int cudaGraphCreate(void** graph, unsigned) {
  return answer([&] { return create_graph(graph); });
}
int cudaGraphDestroy(void* graph) {
  return answer([&] { return destroy_graph(graph); });
}
int cudaGraphClone(void** clone, void* graph) {
  return answer([&] { return clone_graph(clone, graph); });
}
int cudaGraphNodeFindInClone(void** node, void* original, void* clone) {
  return answer([&] { return find_in_clone(node, original, clone); });
}

int cudaGraphAddNode(void** node, void* graph, void* const* dependencies, const abi::EdgeData*,
                     size_t count, abi::NodeParameters* p) {
  return with_operation(any(p), adding(node, graph, dependencies, count));
}
int cudaGraphAddKernelNode(void** node, void* graph, void* const* dependencies, size_t count,
                           const abi::KernelNode* p) {
  return with_operation(kernel(p), adding(node, graph, dependencies, count));
}
int cudaGraphAddMemcpyNode(void** node, void* graph, void* const* dependencies, size_t count,
                           const abi::Copy3D* p) {
  return with_operation(copy(p), adding(node, graph, dependencies, count));
}
int cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const* dependencies, size_t count,
                             void* target, const void* source, size_t size, int kind) {
  return with_operation(line(target, source, size, kind), adding(node, graph, dependencies, count));
}
int cudaGraphAddMemcpyNodeToSymbol(void** node, void* graph, void* const* dependencies,
                                   size_t count, const void* symbol, const void* source,
                                   size_t size, size_t offset, int kind) {
  return with_operation(to_symbol(symbol, source, size, offset, kind),
                        adding(node, graph, dependencies, count));
}
int cudaGraphAddMemcpyNodeFromSymbol(void** node, void* graph, void* const* dependencies,
                                     size_t count, void* target, const void* symbol, size_t size,
                                     size_t offset, int kind) {
  return with_operation(from_symbol(target, symbol, size, offset, kind),
                        adding(node, graph, dependencies, count));
}
int cudaGraphAddMemsetNode(void** node, void* graph, void* const* dependencies, size_t count,
                           const abi::Fill* p) {
  return with_operation(fill(p), adding(node, graph, dependencies, count));
}
int cudaGraphAddHostNode(void** node, void* graph, void* const* dependencies, size_t count,
                         const abi::HostCall* p) {
  return with_operation(host(p), adding(node, graph, dependencies, count));
}
int cudaGraphAddChildGraphNode(void** node, void* graph, void* const* dependencies, size_t count,
                               void* inner) {
  return with_operation(child(inner), adding(node, graph, dependencies, count));
}
int cudaGraphAddEmptyNode(void** node, void* graph, void* const* dependencies, size_t count) {
  return answer([&] { return add_node(node, graph, dependencies, count, EmptyOperation{}); });
}
int cudaGraphAddEventRecordNode(void** node, void* graph, void* const* dependencies, size_t count,
                                void* event) {
  return with_operation(recording(event), adding(node, graph, dependencies, count));
}
int cudaGraphAddEventWaitNode(void** node, void* graph, void* const* dependencies, size_t count,
                              void* event) {
  return with_operation(waiting(event), adding(node, graph, dependencies, count));
}
int cudaGraphAddMemAllocNode(void** node, void* graph, void* const* dependencies, size_t count,
                             abi::AllocationNode* p) {
  return with_operation([&](Operation& operation) { return make_allocation(operation, p); },
                        adding(node, graph, dependencies, count));
}
int cudaGraphAddMemFreeNode(void** node, void* graph, void* const* dependencies, size_t count,
                            void* pointer) {
  return answer([&] { return add_node(node, graph, dependencies, count, FreeOperation{pointer}); });
}

int cudaGraphKernelNodeGetParams(void* node, abi::KernelNode* p) {
  return answer([&] { return get_kernel_node(node, p); });
}
int cudaGraphKernelNodeSetParams(void* node, const abi::KernelNode* p) {
  return with_operation(kernel(p), setting(node));
}
int cudaGraphKernelNodeSetAttribute(void* node, int attribute, const abi::AttributeValue* value) {
  return answer([&] { return set_kernel_attribute(node, attribute, value); });
}
int cudaGraphKernelNodeGetAttribute(void* node, int attribute, abi::AttributeValue* value) {
  return answer([&] { return get_kernel_attribute(node, attribute, value); });
}
int cudaGraphKernelNodeCopyAttributes(void* target, void* source) {
  return answer([&] { return copy_kernel_attributes(target, source); });
}
int cudaGraphMemcpyNodeGetParams(void* node, abi::Copy3D* p) {
  return answer([&] { return get_copy_node(node, p); });
}
int cudaGraphMemcpyNodeSetParams(void* node, const abi::Copy3D* p) {
  return with_operation(copy(p), setting(node));
}
int cudaGraphMemcpyNodeSetParams1D(void* node, void* target, const void* source, size_t size,
                                   int kind) {
  return with_operation(line(target, source, size, kind), setting(node));
}
int cudaGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol, const void* source,
                                         size_t size, size_t offset, int kind) {
  return with_operation(to_symbol(symbol, source, size, offset, kind), setting(node));
}
int cudaGraphMemcpyNodeSetParamsFromSymbol(void* node, void* target, const void* symbol,
                                           size_t size, size_t offset, int kind) {
  return with_operation(from_symbol(target, symbol, size, offset, kind), setting(node));
}
int cudaGraphMemsetNodeGetParams(void* node, abi::Fill* p) {
  return answer([&] { return get_fill_node(node, p); });
}
int cudaGraphMemsetNodeSetParams(void* node, const abi::Fill* p) {
  return with_operation(fill(p), setting(node));
}
int cudaGraphHostNodeGetParams(void* node, abi::HostCall* p) {
  return answer([&] { return get_host_node(node, p); });
}
int cudaGraphHostNodeSetParams(void* node, const abi::HostCall* p) {
  return with_operation(host(p), setting(node));
}
int cudaGraphChildGraphNodeGetGraph(void* node, void** graph) {
  return answer([&] { return get_child_graph(node, graph); });
}
int cudaGraphEventRecordNodeGetEvent(void* node, void** event) {
  return answer([&] { return get_node_event(node, event); });
}
int cudaGraphEventRecordNodeSetEvent(void* node, void* event) {
  return with_operation(recording(event), setting(node));
}
int cudaGraphEventWaitNodeGetEvent(void* node, void** event) {
  return answer([&] { return get_node_event(node, event); });
}
int cudaGraphEventWaitNodeSetEvent(void* node, void* event) {
  return with_operation(waiting(event), setting(node));
}
int cudaGraphMemAllocNodeGetParams(void* node, abi::AllocationNode* p) {
  return answer([&] { return get_allocation_node(node, p); });
}
int cudaGraphMemFreeNodeGetParams(void* node, void* pointer) {
  return answer([&] { return get_free_node(node, static_cast<void**>(pointer)); });
}
int cudaGraphNodeSetParams(void* node, abi::NodeParameters* p) {
  return with_operation(any(p), setting(node));
}

int cudaGraphInstantiate(void** executable, void* graph, unsigned long long flags) {
  return answer([&] { return instantiate(executable, graph, flags); });
}
int cudaGraphInstantiateWithParams(void** executable, void* graph, abi::InstantiateParameters* p) {
  return answer([&] {
    if (p == nullptr) return Status::InvalidValue;
    const Status status = instantiate(executable, graph, p->flags);
    p->error_node = nullptr;
    p->result = status == Status::Success ? 0 : 1;
    return status;
  });
}
int cudaGraphExecNodeSetParams(void* executable, void* node, abi::NodeParameters* p) {
  return with_operation(any(p), setting(executable, node));
}
int cudaGraphExecKernelNodeSetParams(void* executable, void* node, const abi::KernelNode* p) {
  return with_operation(kernel(p), setting(executable, node));
}
int cudaGraphExecMemcpyNodeSetParams(void* executable, void* node, const abi::Copy3D* p) {
  return with_operation(copy(p), setting(executable, node));
}
int cudaGraphExecMemcpyNodeSetParams1D(void* executable, void* node, void* target,
                                       const void* source, size_t size, int kind) {
  return with_operation(line(target, source, size, kind), setting(executable, node));
}
int cudaGraphExecMemcpyNodeSetParamsToSymbol(void* executable, void* node, const void* symbol,
                                             const void* source, size_t size, size_t offset,
                                             int kind) {
  return with_operation(to_symbol(symbol, source, size, offset, kind), setting(executable, node));
}
int cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* executable, void* node, void* target,
                                               const void* symbol, size_t size, size_t offset,
                                               int kind) {
  return with_operation(from_symbol(target, symbol, size, offset, kind), setting(executable, node));
}
int cudaGraphExecMemsetNodeSetParams(void* executable, void* node, const abi::Fill* p) {
  return with_operation(fill(p), setting(executable, node));
}
int cudaGraphExecHostNodeSetParams(void* executable, void* node, const abi::HostCall* p) {
  return with_operation(host(p), setting(executable, node));
}
int cudaGraphExecChildGraphNodeSetParams(void* executable, void* node, void* graph) {
  return with_operation(child(graph), setting(executable, node));
}
int cudaGraphExecEventRecordNodeSetEvent(void* executable, void* node, void* event) {
  return with_operation(recording(event), setting(executable, node));
}
int cudaGraphExecEventWaitNodeSetEvent(void* executable, void* node, void* event) {
  return with_operation(waiting(event), setting(executable, node));
}

int cudaUserObjectCreate(void** object, void* pointer, abi::HostFunction destroy, unsigned count,
                         unsigned) {
  return answer([&] { return create_user_object(object, pointer, destroy, count); });
}
int cudaUserObjectRetain(void* object, unsigned count) {
  return answer([&] { return retain_user_object(object, count); });
}
int cudaUserObjectRelease(void* object, unsigned count) {
  return answer([&] { return release_user_object(object, count); });
}
int cudaGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags) {
  return answer([&] { return graph_retain(graph, object, count, flags & 1); });
}
int cudaGraphReleaseUserObject(void* graph, void* object, unsigned count) {
  return answer([&] { return graph_release(graph, object, count); });
}

}  // extern "C"
