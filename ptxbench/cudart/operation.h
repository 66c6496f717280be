// SPDX-License-Identifier: Apache-2.0

// One piece of work for a stream: also the content of a graph node. A stream runs it at once or,
// while it is being captured, turns it into a node.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/launch.h"
#include "ptxbench/cudart/status.h"

namespace weft::cudart {

struct Event;
struct Graph;

// Any copy is a 3D copy: plain ones have a height and a depth of 1.
struct CopyOperation {
  abi::Copy3D copy{};
};
struct FillOperation {
  abi::Fill fill{};
  size_t depth = 1;        // slices
  size_t slice_pitch = 0;  // bytes between them
};
struct HostOperation {
  abi::HostCall call{};
};
// cudaStreamAddCallback.
struct CallbackOperation {
  void (*function)(void* stream, int status, void* user) = nullptr;
  void* stream = nullptr;
  void* user = nullptr;
};
struct EmptyOperation {};
struct RecordOperation {
  Event* event = nullptr;
};
struct WaitOperation {
  Event* event = nullptr;
};
struct GraphOperation {
  std::shared_ptr<Graph> graph;  // the node's own copy
};
struct AllocateOperation {
  abi::AllocationNode node{};  // its pointer is valid from the node's creation on
};
struct FreeOperation {
  void* pointer = nullptr;
};

using Operation = std::variant<PreparedLaunch, CopyOperation, FillOperation, HostOperation,
                               CallbackOperation, EmptyOperation, RecordOperation, WaitOperation,
                               GraphOperation, AllocateOperation, FreeOperation>;

// The number that cudaGraphNodeGetType answers.
int node_type(const Operation& operation);

// Runs it to its end.
Status perform(const Operation& operation);

// Plain copies and fills, checked when they are made.
CopyOperation linear_copy(void* target, const void* source, size_t bytes, int kind);
CopyOperation pitched_copy(void* target, size_t target_pitch, const void* source,
                           size_t source_pitch, size_t width, size_t rows, int kind);
Status check(const CopyOperation& copy);
Status check(const FillOperation& fill);

}  // namespace weft::cudart
