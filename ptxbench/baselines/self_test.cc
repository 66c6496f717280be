// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/baselines/self_test.h"

#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "ptxbench/baselines/own_kernels.h"
#include "ptxbench/judge/worker/activity_clock.h"
#include "ptxbench/judge/worker/cooler.h"

namespace weft::baselines {
namespace {

constexpr uint64_t kKnownNanoseconds = 2'000'000;
constexpr int kKnownSamples = 15, kEmptySamples = 101, kReadSamples = 21;

class Bench {
 public:
  static Result<std::unique_ptr<Bench>> open() {
    auto bench = std::make_unique<Bench>();
    bench->runtime_ = TRY(judge::Runtime::open());
    const judge::Runtime& runtime = bench->runtime_;
    TRY(runtime.check(runtime.set_device(0), "cudaSetDevice"));
    TRY(runtime.check(runtime.create_stream(&bench->stream_), "cudaStreamCreate"));
    bench->timing_ = TRY(judge::TimingRuntime::open());
    bench->cooler_ = TRY(judge::Cooler::create(runtime, bench->timing_));
    bench->kernels_ = TRY(OwnKernels::load(bench->stream_));
    for (void*& event : bench->events_)
      TRY(runtime.check(bench->timing_.create_event(&event), "cudaEventCreate"));
    return bench;
  }

  enum class Cache : uint8_t { Cold, AsIs };

  // By activity records.
  Result<std::vector<double>> by_records(const judge::Call& call, int samples, Cache cache) {
    std::unique_ptr<judge::ActivityClock> clock = TRY(judge::ActivityClock::start());
    for (int i = 0; i <= samples; ++i) {
      if (cache == Cache::Cold) TRY(cooler_.cool());
      clock->tag(1);
      TRY(run(call));
      clock->untag();
    }
    std::vector<double> times;
    for (const judge::DeviceActivity& activity : TRY(clock->collect())) {
      if (activity.tag == 1) times.push_back(static_cast<double>(activity.end - activity.start));
    }
    if (times.size() != static_cast<size_t>(samples) + 1)
      return Error("the activity records do not match the launches");
    times.erase(times.begin());  // warms up
    return times;
  }

  Result<std::vector<double>> by_events(const judge::Call& call, int samples) {
    std::vector<double> times;
    for (int i = 0; i <= samples; ++i) {
      timing_.record_event(events_[0], stream_);
      call();
      timing_.record_event(events_[1], stream_);
      TRY(runtime_.check(runtime_.synchronize(), "cudaDeviceSynchronize"));
      float milliseconds = 0;
      TRY(runtime_.check(timing_.elapsed(&milliseconds, events_[0], events_[1]),
                         "cudaEventElapsedTime"));
      if (i > 0) times.push_back(milliseconds * 1e6);
    }
    return times;
  }

  Result<void*> memory(uint64_t bytes) {
    void* made = nullptr;
    TRY(runtime_.check(runtime_.allocate(&made, bytes), "cudaMalloc"));
    TRY(runtime_.check(runtime_.fill(made, 0x5A, bytes), "cudaMemset"));
    return made;
  }

  const OwnKernels& kernels() const { return kernels_; }
  uint64_t l2_bytes() const { return cooler_.l2_bytes(); }

 private:
  Result<Done> run(const judge::Call& call) {
    if (const auto failure = call()) return Error(failure->message);
    return runtime_.check(runtime_.synchronize(), "cudaDeviceSynchronize");
  }

  judge::Runtime runtime_;
  judge::TimingRuntime timing_;
  judge::Cooler cooler_;
  OwnKernels kernels_;
  void* stream_ = nullptr;
  void* events_[2] = {};
};

}  // namespace

Result<Json> test_timer() {
  const std::unique_ptr<Bench> bench = TRY(Bench::open());
  const OwnKernels& kernels = bench->kernels();
  Json json = {{"known_ns", kKnownNanoseconds}, {"l2_bytes", bench->l2_bytes()}};
  const judge::Call known = kernels.last(kKnownNanoseconds), empty = kernels.empty();
  const uint64_t half = bench->l2_bytes() / 2 / 4096 * 4096;
  void* range = TRY(bench->memory(half));
  void* sink = TRY(bench->memory(4));
  const judge::Call read = kernels.read(range, half, sink);
  json["read_bytes"] = half;
  json["known_events"] = TRY(bench->by_events(known, kKnownSamples));
  json["empty_events"] = TRY(bench->by_events(empty, kEmptySamples));
  json["known_records"] = TRY(bench->by_records(known, kKnownSamples, Bench::Cache::Cold));
  json["empty_records"] = TRY(bench->by_records(empty, kEmptySamples, Bench::Cache::Cold));
  json["cold_read"] = TRY(bench->by_records(read, kReadSamples, Bench::Cache::Cold));
  json["warm_read"] = TRY(bench->by_records(read, kReadSamples, Bench::Cache::AsIs));
  return json;
}

}  // namespace weft::baselines
