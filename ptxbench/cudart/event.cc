// SPDX-License-Identifier: Apache-2.0

// Events: a moment on the host's clock, or a place in a capture.
#include <algorithm>

#include "ptxbench/cudart/graph.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/stream.h"

namespace weft::cudart {
namespace {

constexpr unsigned kDisableTiming = 2;
constexpr unsigned kExternal = 1;  // cudaEventRecordExternal

// An event of a capture that has ended stands for nothing any more.
void forget_ended(Event& event) {
  if (!event.capture || !event.capture->ended) return;
  event.capture.reset();
  event.frontier.clear();
}

}  // namespace

void mark_recorded(Event* event) {
  if (Event::find(event) == nullptr) return;
  event->recorded = true;
  event->time = std::chrono::steady_clock::now();
  event->capture.reset();
}

Status create_event(void** event, unsigned flags) {
  if (event == nullptr || flags > 7) return Status::InvalidValue;
  if ((flags & 4) && !(flags & kDisableTiming)) return Status::InvalidValue;  // interprocess
  auto* made = new Event;
  made->flags = flags;
  *event = made;
  return Status::Success;
}

Status destroy_event(void* event) {
  Event* found = Event::find(event);
  if (found == nullptr) return Status::InvalidResourceHandle;
  delete found;
  return Status::Success;
}

Status record_event(void* event, void* stream, unsigned flags) {
  Event* found = Event::find(event);
  Stream* place = find_stream(stream);
  if (found == nullptr || place == nullptr) return Status::InvalidResourceHandle;
  if (place->capture && (flags & kExternal)) return enqueue(stream, RecordOperation{found});
  if (place->capture) {
    if (place->capture->invalid) return Status::StreamCaptureInvalidated;
    found->capture = place->capture;
    found->frontier = place->frontier;
    return Status::Success;
  }
  return enqueue(stream, RecordOperation{found});
}

Status wait_event(void* stream, void* event) {
  Event* found = Event::find(event);
  Stream* place = find_stream(stream);
  if (found == nullptr || place == nullptr) return Status::InvalidResourceHandle;
  forget_ended(*found);
  if (!found->capture) {
    if (!place->capture) return Status::Success;
    place->capture->invalid = true;
    return Status::StreamCaptureIsolation;
  }
  if (!place->capture) {
    // The stream joins the capture.
    place->capture = found->capture;
    place->frontier = found->frontier;
    place->capture->joined.push_back(place);
    return Status::Success;
  }
  if (place->capture != found->capture) {
    place->capture->invalid = found->capture->invalid = true;
    return Status::StreamCaptureMerge;
  }
  for (Node* node : found->frontier)
    if (std::find(place->frontier.begin(), place->frontier.end(), node) == place->frontier.end())
      place->frontier.push_back(node);
  return Status::Success;
}

Status synchronize_event(void* event) {
  Event* found = Event::find(event);
  if (found == nullptr) return Status::InvalidResourceHandle;
  forget_ended(*found);
  if (found->capture) {
    found->capture->invalid = true;
    return Status::CapturedEvent;
  }
  flush_output();
  return Status::Success;
}

Status query_event(void* event) {
  return synchronize_event(event);
}

Status get_elapsed(float* milliseconds, void* start, void* end) {
  if (milliseconds == nullptr) return Status::InvalidValue;
  const Event* from = Event::find(start);
  const Event* to = Event::find(end);
  if (from == nullptr || to == nullptr || !from->recorded || !to->recorded ||
      ((from->flags | to->flags) & kDisableTiming))
    return Status::InvalidResourceHandle;
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return Status::Success;
}

}  // namespace weft::cudart
