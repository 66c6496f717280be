// SPDX-License-Identifier: Apache-2.0

// The queue of asynchronous work, and the faults of work whose issuing op is long gone.

#include "ptxbench/emulator/async_engine.h"

#include <algorithm>
#include <utility>

#include "ptxbench/emulator/block.h"
#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

// The standard heap keeps the largest in front; the front must be what is due first.
bool later(const std::unique_ptr<AsyncOperation>& a, const std::unique_ptr<AsyncOperation>& b) {
  return a->due != b->due ? a->due > b->due : a->order > b->order;
}

}  // namespace

IssuePlace issue_place(Warp& warp, const Op& op, int lane) {
  return {&warp, warp.frame->code->instructions[op.instruction], lane};
}

bool IssuePlace::fault(FaultKind kind, std::string message, uint64_t address,
                       std::vector<std::string> notes) const {
  notes.push_back("the asynchronous operation was issued at PTX line " +
                  std::to_string(instruction->position.line) + " and failed when it was performed");
  warp->record_fault(*instruction, lane, kind, std::move(message), address, std::move(notes));
  return false;
}

void AsyncEngine::submit(std::unique_ptr<AsyncOperation> operation, uint64_t due) {
  operation->due = due;
  operation->order = submitted_++;
  queue_.push_back(std::move(operation));
  std::push_heap(queue_.begin(), queue_.end(), later);
}

std::optional<uint64_t> AsyncEngine::next_due() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.front()->due;
}

bool AsyncEngine::advance(Cluster& cluster, uint64_t now) {
  while (!queue_.empty() && queue_.front()->due <= now) {
    std::pop_heap(queue_.begin(), queue_.end(), later);
    // Out of the queue first: performing may submit more.
    const std::unique_ptr<AsyncOperation> operation = std::move(queue_.back());
    queue_.pop_back();
    if (!operation->perform(cluster)) return false;
  }
  return true;
}

void submit_after(Cluster& cluster, std::unique_ptr<AsyncOperation> operation, uint64_t typical) {
  cluster.async.submit(std::move(operation), cluster.clock + cluster.schedule.latency(typical));
}

}  // namespace weft::emulator
