// SPDX-License-Identifier: Apache-2.0

// Rough times by events, enough to choose between a library's algorithms. The times that are
// reported come from the bench.
#pragma once

#include <functional>
#include <limits>

#include "base/result.h"
#include "ptxbench/judge/worker/timing_runtime.h"

namespace weft::baselines {

class Stopwatch {
 public:
  static Result<Stopwatch> create(const judge::Runtime& runtime, void* stream) {
    Stopwatch watch;
    watch.runtime_ = &runtime;
    watch.stream_ = stream;
    watch.timing_ = TRY(judge::TimingRuntime::open());
    for (void*& event : watch.events_)
      TRY(runtime.check(watch.timing_.create_event(&event), "cudaEventCreate"));
    return watch;
  }

  // Milliseconds of one call, the least of `repetitions` after one that warms up; infinite when it
  // fails.
  double measure(const std::function<bool()>& call, int repetitions) {
    constexpr double kFailed = std::numeric_limits<double>::infinity();
    if (!call() || runtime_->synchronize() != 0) {
      runtime_->last_error();
      return kFailed;
    }
    double least = kFailed;
    for (int i = 0; i < repetitions; ++i) {
      timing_.record_event(events_[0], stream_);
      if (!call()) return kFailed;
      timing_.record_event(events_[1], stream_);
      float milliseconds = 0;
      if (runtime_->synchronize() != 0 ||
          timing_.elapsed(&milliseconds, events_[0], events_[1]) != 0)
        return kFailed;
      if (milliseconds < least) least = milliseconds;
    }
    return least;
  }

 private:
  const judge::Runtime* runtime_ = nullptr;
  judge::TimingRuntime timing_;
  void* stream_ = nullptr;
  void* events_[2] = {};
};

}  // namespace weft::baselines
