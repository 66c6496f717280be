// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/worker/bench.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text_file.h"
#include "ptxbench/judge/worker/activity_clock.h"
#include "ptxbench/judge/worker/buffer_sets.h"
#include "ptxbench/judge/worker/sass_counter.h"

namespace weft::judge {
namespace {

// Tag of our own preparation; calls carry 1, 2, 3 ...
constexpr uint64_t kOwnTag = uint64_t{1} << 40;

class Pipes {
 public:
  static Result<Pipes> open(const BenchOrders& bench) {
    Pipes pipes;
    pipes.ask_.reset(std::fopen(bench.ask.c_str(), "re"));
    pipes.answer_.reset(std::fopen(bench.answer.c_str(), "we"));
    if (!pipes.ask_ || !pipes.answer_) return Error("cannot open the bench's pipes");
    return pipes;
  }
  // Empty at the end of the pipe.
  std::string read() {
    std::string line;
    for (int c = std::fgetc(ask_.get()); c != EOF && c != '\n'; c = std::fgetc(ask_.get()))
      line += static_cast<char>(c);
    return line;
  }
  void write(const Json& answer) {
    std::fputs((weft::to_line(answer) + "\n").c_str(), answer_.get());
    std::fflush(answer_.get());
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> ask_, answer_;
};

Json failure_json(const std::string& kind, const std::string& message) {
  return {{"failed", true}, {"kind", kind}, {"message", message}};
}

class ServedBench {
 public:
  ServedBench(const Orders& orders, const BenchOrders& bench, const Runtime& runtime, void* stream,
              const TimingRuntime& timing, BufferSets buffers, std::vector<Call> calls, Call empty)
      : orders_(orders),
        bench_(bench),
        runtime_(runtime),
        stream_(stream),
        timing_(timing),
        buffers_(std::move(buffers)),
        calls_(std::move(calls)),
        empty_(std::move(empty)) {}

  // One request; the answer is an object with "failed" when the subject failed.
  Result<Json> answer(const Json& request, Pipes& pipes) {
    const std::string ask = request.value("ask", "");
    if (ask == "count") return count();
    if (ask == "profile") return profile();
    if (ask == "time" && request.value("empty", false)) return time_empty();
    if (ask == "time") return time(calls_of(request));
    if (ask == "batch") return batch(calls_of(request), pipes);
    if (ask == "dump") return dump(request.value("set", 0u));
    return Error("unknown request: " + ask);
  }

 private:
  static std::vector<BenchCall> calls_of(const Json& request) {
    std::vector<BenchCall> calls;
    for (const Json& call : request.at("calls")) {
      calls.push_back({call.value("set", 0u), call.value("content", 0u),
                       call.value("rotations", std::vector<int64_t>{})});
    }
    return calls;
  }

  Result<std::optional<Json>> call_and_wait(unsigned set) {
    if (const std::optional<CallFailure> failure = calls_[set]())
      return std::optional<Json>(failure_json(failure->kind, failure->message));
    for (const int code : {runtime_.last_error(), runtime_.synchronize()}) {
      const Result<Done> done = runtime_.check(code, "call");
      if (!done.ok()) return std::optional<Json>(failure_json("", done.error().message()));
    }
    return std::optional<Json>();
  }

  Result<Json> count() {
    TRY(buffers_.prepare({0, 0, std::vector<int64_t>(bench_.axes.size())}, kPoison));
    TRY(runtime_.check(runtime_.synchronize(), "cudaDeviceSynchronize"));
    // Functions are loaded when they are first launched, and only what is loaded can be patched.
    if (std::optional<Json> failure = TRY(call_and_wait(0))) return *failure;
    Result<SassCounter> counter = SassCounter::start();
    if (!counter.ok()) return Json{{"unavailable", counter.error().message()}};
    if (std::optional<Json> failure = TRY(call_and_wait(0))) return *failure;
    const Result<std::vector<SassCount>> counts = counter->finish();
    if (!counts.ok()) return Json{{"unavailable", counts.error().message()}};
    Json list = Json::array();
    for (const SassCount& one : *counts)
      list.push_back({one.function, one.offset, one.warps, one.threads});
    TRY(write_json(bench_.outputs + "/sass.json", list));
    return Json{{"instructions", list.size()}};
  }

  // For a profiler around this process: it looks at one call only.
  Result<Json> profile() {
    TRY(buffers_.prepare({0, 0, std::vector<int64_t>(bench_.axes.size())}, kPoison));
    TRY(runtime_.check(runtime_.synchronize(), "cudaDeviceSynchronize"));
    TRY(runtime_.check(timing_.start_profiler(), "cudaProfilerStart"));
    if (std::optional<Json> failure = TRY(call_and_wait(0))) return *failure;
    TRY(runtime_.check(timing_.stop_profiler(), "cudaProfilerStop"));
    return Json{{"profiled", true}};
  }

  Result<Done> start_clock() {
    if (clock_ || !clock_problem_.empty()) return Done{};
    Result<std::unique_ptr<ActivityClock>> clock = ActivityClock::start();
    if (clock.ok()) {
      clock_ = std::move(clock).value();
      return Done{};
    }
    clock_problem_ = clock.error().message();
    for (void*& event : events_)
      TRY(runtime_.check(timing_.create_event(&event), "cudaEventCreate"));
    return Done{};
  }

  struct Window {
    uint64_t begin = 0, end = 0;
  };

  Result<Json> time(const std::vector<BenchCall>& calls) {
    TRY(start_clock());
    std::vector<Window> windows;
    std::vector<double> event_times;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (clock_) clock_->tag(kOwnTag);
      const Result<Done> prepared = buffers_.prepare(calls[i], kPoison);
      const Result<Done> cooled = buffers_.cooler().cool();
      if (clock_) clock_->untag();
      TRY(Result<Done>(prepared));
      TRY(Result<Done>(cooled));
      Window window;
      if (clock_) {
        clock_->tag(i + 1);
        window.begin = clock_->now();
      } else {
        TRY(runtime_.check(timing_.record_event(events_[0], stream_), "cudaEventRecord"));
      }
      if (!clock_) {
        if (const std::optional<CallFailure> failure = calls_[calls[i].set]())
          return failure_json(failure->kind, failure->message);
        TRY(runtime_.check(timing_.record_event(events_[1], stream_), "cudaEventRecord"));
        TRY(runtime_.check(runtime_.synchronize(), "cudaDeviceSynchronize"));
        float milliseconds = 0;
        TRY(runtime_.check(timing_.elapsed(&milliseconds, events_[0], events_[1]),
                           "cudaEventElapsedTime"));
        event_times.push_back(milliseconds * 1e6);
        continue;
      }
      std::optional<Json> failure = TRY(call_and_wait(calls[i].set));
      window.end = clock_->now();
      clock_->untag();
      if (failure) return *failure;
      windows.push_back(window);
    }
    if (!clock_) {
      return Json{{"timer", "events"}, {"reason", clock_problem_}, {"nanoseconds", event_times}};
    }
    return attribute(windows, TRY(clock_->collect()));
  }

  Result<Json> time_empty() {
    TRY(start_clock());
    if (!clock_ || !empty_) return Json{{"nanoseconds", Json::array()}};
    TRY(buffers_.cooler().cool());
    TRY(clock_->collect());
    clock_->tag(1);
    const Window window{clock_->now(), UINT64_MAX};
    empty_();
    TRY(runtime_.check(runtime_.synchronize(), "cudaDeviceSynchronize"));
    clock_->untag();
    return attribute({window}, TRY(clock_->collect()));
  }

  // Every activity that is not ours belongs to a call: by its tag, or, when another thread launched
  // it, by the window in which it started. A call took from its first start to its last end.
  static Json attribute(const std::vector<Window>& windows,
                        const std::vector<DeviceActivity>& activities) {
    struct Sum {
      uint64_t start = 0, end = 0, kernels = 0, to_host = 0;
    };
    std::vector<Sum> sums(windows.size());
    uint64_t untagged = 0, late = 0;
    for (const DeviceActivity& activity : activities) {
      if (activity.tag == kOwnTag) continue;
      size_t call = activity.tag - 1;
      if (activity.tag == 0) {
        ++untagged;
        call = 0;
        while (call + 1 < windows.size() && windows[call + 1].begin <= activity.start) ++call;
      }
      if (call >= windows.size()) continue;
      if (activity.start > windows[call].end) ++late;
      Sum& sum = sums[call];
      sum.start = sum.end == 0 ? activity.start : std::min(sum.start, activity.start);
      sum.end = std::max(sum.end, activity.end);
      sum.kernels += activity.kernel ? 1 : 0;
      sum.to_host += activity.to_host;
    }
    Json times = Json::array(), kernels = Json::array(), to_host = Json::array();
    std::set<std::string> functions;
    for (const DeviceActivity& activity : activities)
      if (activity.tag != kOwnTag && activity.kernel) functions.insert(activity.name);
    for (const Sum& sum : sums) {
      times.push_back(static_cast<double>(sum.end - sum.start));
      kernels.push_back(sum.kernels);
      to_host.push_back(sum.to_host);
    }
    return {{"timer", "cupti"},   {"nanoseconds", times},   {"kernels", kernels},
            {"to_host", to_host}, {"functions", functions}, {"untagged", untagged},
            {"late", late}};
  }

  Result<Json> batch(const std::vector<BenchCall>& calls, Pipes& pipes) {
    std::vector<bool> filled(bench_.sets, false);
    for (const BenchCall& call : calls) {
      if (!filled[call.set]) TRY(buffers_.prepare(call, kPoison));
      filled[call.set] = true;
    }
    TRY(buffers_.cooler().cool());
    pipes.write({{"ready", calls.size()}});
    if (pipes.read().empty()) return Error("the judge went away");
    for (const BenchCall& call : calls) {
      if (const std::optional<CallFailure> failure = calls_[call.set]())
        return failure_json(failure->kind, failure->message);
    }
    TRY(runtime_.check(runtime_.synchronize(), "cudaDeviceSynchronize"));
    pipes.write({{"done", calls.size()}});
    // Their records would only pile up.
    if (clock_) TRY(clock_->collect());
    return Json{{"ended", true}};
  }

  // Copies of ours, which are no part of the call that follows.
  Result<Json> dump(unsigned set) {
    if (clock_) clock_->tag(kOwnTag);
    const Result<Done> copied = copy_outputs(set);
    if (clock_) clock_->untag();
    TRY(Result<Done>(copied));
    return Json{{"dumped", set}};
  }

  Result<Done> copy_outputs(unsigned set) {
    Orders named = orders_;
    named.outputs = bench_.outputs;
    for (size_t i = 0; i < orders_.tensors.size(); ++i) {
      if (!orders_.tensors[i].output) continue;
      std::string bytes(orders_.tensors[i].bytes, '\0');
      TRY(runtime_.check(runtime_.copy(bytes.data(), buffers_.set(set).data(i), bytes.size(),
                                       Runtime::kDeviceToHost),
                         "cudaMemcpy"));
      TRY(write_file(named.output_file(i), bytes));
    }
    return Done{};
  }

  static constexpr uint8_t kPoison = 0xFF;  // NaN in every floating type

  const Orders& orders_;
  const BenchOrders& bench_;
  const Runtime& runtime_;
  void* stream_;
  const TimingRuntime& timing_;
  BufferSets buffers_;
  std::vector<Call> calls_;
  Call empty_;
  std::unique_ptr<ActivityClock> clock_;
  std::string clock_problem_;
  void* events_[2] = {};
};

}  // namespace

Result<Done> serve_bench(const Orders& orders, const BenchOrders& bench, const Runtime& runtime,
                         void* stream, const Bind& bind,
                         const std::function<Introduction()>& introduce, const Call& empty) {
  Pipes pipes = TRY(Pipes::open(bench));
  const TimingRuntime timing = TRY(TimingRuntime::open());
  const auto refuse = [&pipes](const Error& error) {
    pipes.write(failure_json("", error.message()));
    return Done{};
  };
  Result<BufferSets> buffers = BufferSets::allocate(runtime, timing, orders, bench);
  if (!buffers.ok()) return refuse(buffers.error());
  std::vector<Call> calls;
  for (unsigned i = 0; i < bench.sets; ++i) {
    Result<Call> call = bind(buffers->set(i));
    if (!call.ok()) return refuse(call.error());
    calls.push_back(std::move(call).value());
  }
  Json hello = {{"ready", true}, {"l2_bytes", buffers->cooler().l2_bytes()}};
  for (const auto& [name, value] : introduce()) hello[name] = value;
  ServedBench served(orders, bench, runtime, stream, timing, std::move(buffers).value(),
                     std::move(calls), empty);
  pipes.write(hello);
  for (std::string line = pipes.read(); !line.empty(); line = pipes.read()) {
    const Result<Json> request = parse_json(line);
    if (!request.ok()) return refuse(request.error());
    if (request->value("ask", "") == "end") break;
    const Result<Json> answer = served.answer(*request, pipes);
    if (!answer.ok()) return refuse(answer.error());
    pipes.write(*answer);
  }
  return Done{};
}

}  // namespace weft::judge
