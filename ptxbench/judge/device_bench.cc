// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/device_bench.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/subprocess.h"
#include "ptxbench/judge/bench.h"
#include "ptxbench/judge/device.h"
#include "ptxbench/judge/device_state.h"
#include "ptxbench/judge/roofline.h"
#include "ptxbench/judge/rotation.h"
#include "ptxbench/judge/timing_judgement.h"
#include "ptxbench/judge/timing_statistics.h"
#include "ptxbench/problems/comparison.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

constexpr unsigned kSets = 3, kWarmups = 10, kBatches = 3;
constexpr double kBatchSeconds = 0.03;
constexpr unsigned kShortestBatch = 5, kLongestBatch = 200;
constexpr uint8_t kPoison = 0xFF;
// A call that copies this share of its inputs to the host computes there.
constexpr double kHostShare = 0.5;
constexpr double kLargestL2 = 256e6;  // bytes; the candidate's process says how large it is
constexpr double kAssemblerSeconds = 120;

wire::DeviceCondition condition(const DeviceState& state) {
  return {state.sm_mhz, state.memory_mhz, state.celsius, state.watts,
          throttle_words(state.throttle_reasons)};
}

Json call_json(const BenchCall& call) {
  return {{"set", call.set}, {"content", call.content}, {"rotations", call.rotations}};
}

class TwoProcesses final : public DeviceBench {
 public:
  Result<Done> begin(const DeviceBenchSettings& settings, const problems::Task& task,
                     const Toolchain& toolchain) {
    settings_ = settings;
    task_ = &task;
    toolchain_ = &toolchain;
    axes_ = rotation_axes(task);
    monitor_.emplace(TRY(DeviceMonitor::open(settings.device)));
    BenchSettings bench;
    bench.orders = settings.orders;
    bench.bench.sets = kSets;
    for (const ProvenContent& content : settings.contents)
      bench.bench.contents.push_back(content.folder);
    for (const RotationAxis& axis : axes_) bench.bench.axes.push_back(axis.positions);
    bench.bench.family = std::string(task.definition.tag("family"));
    bench.bench.causal = task.definition.tag("causal") == "true";
    bench.readable = vendor_folders(toolchain);
    bench.library_path = vendor_library_path(toolchain);
    bench.device = settings.device;
    bench.seconds = settings.seconds;
    BenchSettings library = bench;
    if (settings_.orders.ptx) {
      settings_.orders.candidate = TRY(assemble());
      bench.orders.candidate = settings_.orders.candidate;
    }
    bench.program = toolchain.worker;
    bench.folder = settings.folder + "/candidate";
    bench.readable.push_back(bench.orders.candidate);
    counter_.emplace(TRY(DeviceCounter::start(bench, toolchain, settings.folder)));
    candidate_ = TRY(Bench::start(std::move(bench)));
    if (toolchain.library.empty()) {
      library_reason_ = "ptxbench-library is missing beside this program";
      return Done{};
    }
    library.program = toolchain.library;
    library.folder = settings.folder + "/library";
    library.orders.candidate.clear();
    library.orders.launches.clear();
    library_ = TRY(Bench::start(std::move(library)));
    return Done{};
  }

  Result<DeviceCounts> count() override { return counter_->count(TRY(launched_functions())); }

  Result<TimingOutcome> time() override {
    TimingOutcome outcome;
    wire::Timing timing;
    TRY(meet_library(timing));
    timing.before = condition(monitor_->state());
    const Result<Json> hello = candidate_->introduction();
    if (!hello.ok()) return failed(hello.error());
    l2_bytes_ = static_cast<uint64_t>(std::clamp(number_in(*hello, "l2_bytes"), 0.0, kLargestL2));
    for (unsigned i = 0; i < kWarmups; ++i) {
      const Result<std::optional<Failure>> round = one_round(timing, Record::No);
      if (!round.ok()) return failed(round.error());
    }
    const std::vector<unsigned> checked = drawn_rounds();
    for (unsigned round = 0; round < settings_.most_rounds; ++round) {
      check_this_ = std::find(checked.begin(), checked.end(), round) != checked.end();
      const Result<std::optional<Failure>> timed = one_round(timing, Record::Yes);
      if (!timed.ok()) return failed(timed.error());
      if (*timed) return TimingOutcome{**timed, std::nullopt};
      if (round + 1 >= settings_.least_rounds && round + 1 > checked.back() && confident(timing))
        break;
    }
    check_this_ = false;
    timing.after = condition(monitor_->state());
    weigh(timing, roofline(work_of(*task_), monitor_->facts(), l2_bytes_), monitor_->facts().name);
    const Result<std::optional<Failure>> batches = run_batches(timing);
    if (!batches.ok()) return failed(batches.error());
    outcome.failure = *batches;
    if (!outcome.failure) outcome.failure = impossible(timing);
    if (!outcome.failure) outcome.timing = std::move(timing);
    return outcome;
  }

 private:
  enum class Record : uint8_t { No, Yes };

  Result<LaunchedFunctions> launched_functions() {
    const Answer answer =
        TRY(candidate_->ask({{"ask", "time"}, {"calls", Json::array({call_json(random_call())})}}));
    LaunchedFunctions launched;
    if (const auto names = answer.json.find("functions");
        names != answer.json.end() && names->is_array()) {
      for (const Json& name : *names)
        if (name.is_string()) launched.names.push_back(name);
    }
    const std::vector<double> kernels = numbers_in(answer.json, "kernels");
    if (!kernels.empty()) launched.launches = static_cast<uint64_t>(std::max(0.0, kernels[0]));
    return launched;
  }

  // A PTX text becomes the machine code that is then both run and disassembled.
  Result<std::string> assemble() {
    const DeviceFacts& facts = monitor_->facts();
    const std::string cubin = settings_.folder + "/candidate.cubin";
    std::error_code failure;
    fs::create_directories(settings_.folder, failure);
    Command command;
    command.arguments = {(fs::path(toolchain_->nvcc).parent_path() / "ptxas").string(),
                         fmt::format("-arch=sm_{}{}{}", facts.compute_major, facts.compute_minor,
                                     facts.compute_major >= 9 ? "a" : ""),
                         settings_.orders.candidate, "-o", cubin};
    command.limits.seconds = kAssemblerSeconds;
    const ProcessOutcome outcome = TRY(weft::run(command));
    if (!outcome.passed()) return Error("ptxas " + outcome.describe() + ": " + outcome.errors);
    return cubin;
  }

  static TimingOutcome failed(const Error& error) {
    return {Failure{wire::Status::RuntimeError, "while it was timed: " + error.message()},
            std::nullopt};
  }

  // A library that is missing or refuses costs its own numbers only.
  Result<Done> meet_library(wire::Timing& timing) {
    if (library_) {
      const Result<Json> hello = library_->introduction();
      if (hello.ok()) {
        timing.library.emplace();
        timing.library_record = {text_in(*hello, "library"), text_in(*hello, "version"),
                                 text_in(*hello, "algorithm"), text_in(*hello, "precision")};
        std::vector<double> empty;
        for (int i = 0; i < 21; ++i) {
          const Result<Answer> answer =
              library_->ask({{"ask", "time"}, {"empty", true}, {"calls", Json::array()}});
          if (!answer.ok()) break;
          for (const double time : numbers_in(answer->json, "nanoseconds")) empty.push_back(time);
        }
        if (!empty.empty()) timing.empty_kernel_ms = quantile(empty, 0.5) / 1e6;
        return Done{};
      }
      library_reason_ = hello.error().message();
      library_.reset();
    }
    timing.library_reason = library_reason_;
    return Done{};
  }

  BenchCall random_call() {
    BenchCall call;
    call.set = next_set_++ % kSets;
    call.content = static_cast<unsigned>(random_() % settings_.contents.size());
    for (const RotationAxis& axis : axes_)
      call.rotations.push_back(
          static_cast<int64_t>(random_() % static_cast<uint64_t>(axis.extent)));
    return call;
  }

  std::vector<unsigned> drawn_rounds() {
    return {static_cast<unsigned>(random_() % settings_.least_rounds)};
  }

  // The same call by both, in random order.
  Result<std::optional<Failure>> one_round(wire::Timing& timing, Record record) {
    const BenchCall call = random_call();
    const bool library_first = random_() % 2 == 0;
    double times[2] = {};
    for (const bool library : {library_first, !library_first}) {
      if (library && !library_) continue;
      Bench& bench = library ? *library_ : *candidate_;
      const Answer answer =
          TRY(bench.ask({{"ask", "time"}, {"calls", Json::array({call_json(call)})}}));
      const std::vector<double> list = numbers_in(answer.json, "nanoseconds");
      if (list.size() != 1) return Error("one time was asked for");
      times[library ? 1 : 0] = list[0];
      const std::string timer = text_in(answer.json, "timer");
      if (timing.timer.empty()) timing.timer = timer;
      if (timer != timing.timer)
        return Error("one arm was timed by " + timing.timer + ", the other by " + timer);
      if (library) continue;
      if (std::optional<Failure> failure = escaped(answer.json, times[0])) return failure;
      if (check_this_) {
        if (std::optional<Failure> failure = TRY(check_outputs(call))) return failure;
        ++timing.outputs_checked;
      }
    }
    if (record == Record::No) return std::optional<Failure>();
    timing.candidate.nanoseconds.push_back(times[0]);
    if (!library_) return std::optional<Failure>();
    timing.library->nanoseconds.push_back(times[1]);
    timing.ratios.push_back(times[1] / times[0]);
    return std::optional<Failure>();
  }

  // Work that began after the device was idle and the call had ended, or none at all, or work of
  // the processor.
  std::optional<Failure> escaped(const Json& answer, double nanoseconds) const {
    if (number_in(answer, "late") > 0)
      return Failure{wire::Status::RuntimeError,
                     "invalid timing: work was launched after the call had ended"};
    const std::vector<double> copied = numbers_in(answer, "to_host");
    const auto inputs = static_cast<double>(work_of(*task_).input_bytes);
    if (!copied.empty() && copied[0] >= kHostShare * inputs) {
      return Failure{wire::Status::RuntimeError,
                     fmt::format("not computed on the device: the call copied {:.0f} bytes to the "
                                 "host, its inputs have {:.0f}",
                                 copied[0], inputs)};
    }
    if (nanoseconds <= 0)
      return Failure{wire::Status::RuntimeError,
                     "invalid timing: nothing ran on the device in a timed call"};
    return std::nullopt;
  }

  Result<std::optional<Failure>> check_outputs(const BenchCall& call) {
    TRY(candidate_->ask({{"ask", "dump"}, {"set", call.set}}));
    const size_t inputs = task_->definition.inputs.size();
    Orders named = settings_.orders;
    named.outputs = candidate_->outputs();
    for (size_t i = 0; i < task_->definition.outputs.size(); ++i) {
      const problems::TensorSpec& spec = task_->definition.outputs[i];
      const size_t tensor = inputs + i;
      const std::vector<int64_t> shape = task_->shape(spec);
      std::string turned = settings_.contents[call.content].outputs[i];
      for (size_t axis = 0; axis < axes_.size(); ++axis) {
        if (axes_[axis].positions[tensor] >= 0)
          turned = rotated(turned, shape, axes_[axis].positions[tensor], call.rotations[axis]);
      }
      const std::string bytes = TRY(read_foreign_file(named.output_file(tensor), turned.size()));
      if (bytes.size() != turned.size()) return Error("a dump is incomplete");
      if (turned == bytes) continue;
      problems::Tensor actual(spec.name, spec.dtype, shape), expected = actual;
      std::memcpy(actual.bytes.data(), bytes.data(), bytes.size());
      std::memcpy(expected.bytes.data(), turned.data(), turned.size());
      const problems::Tolerance tolerance = TRY(problems::tolerance_of(task_->definition, spec));
      const problems::Comparison compared =
          problems::compare(actual, problems::to_float(expected), tolerance, kPoison);
      if (compared.passed) continue;
      return std::optional(
          Failure{wire::Status::IncorrectNumerical,
                  fmt::format("a timed call's {} differs from what the same inputs gave before: {}",
                              spec.name, compared.reason)});
    }
    return std::optional<Failure>();
  }

  bool confident(const wire::Timing& timing) const {
    const std::vector<double>& values =
        timing.ratios.empty() ? timing.candidate.nanoseconds : timing.ratios;
    const Interval interval = median_interval(values, kTimingConfidence);
    return (interval.high - interval.low) / quantile(values, 0.5) <= settings_.confident;
  }

  // Nanoseconds of one call in a batch, by our clock; the best of a few batches.
  Result<double> batch_time(Bench& bench, const std::vector<BenchCall>& sets, unsigned calls) {
    Json list = Json::array();
    for (unsigned i = 0; i < calls; ++i) list.push_back(call_json(sets[i % sets.size()]));
    double least = 0;
    for (unsigned i = 0; i < kBatches; ++i) {
      const Answer answer = TRY(bench.batch(list));
      const double each = answer.seconds * 1e9 / calls;
      least = i == 0 ? each : std::min(least, each);
    }
    return least;
  }

  Result<std::optional<Failure>> run_batches(wire::Timing& timing) {
    const double median = timing.candidate.median_ms * 1e6;
    const auto calls = static_cast<unsigned>(
        std::clamp<double>(kBatchSeconds * 1e9 / median, kShortestBatch, kLongestBatch));
    std::vector<BenchCall> sets;
    for (unsigned i = 0; i < kSets; ++i) {
      sets.push_back(random_call());
      sets.back().set = i;
    }
    const double wall = TRY(batch_time(*candidate_, sets, calls));
    timing.candidate.wall_ms = wall / 1e6;
    if (std::optional<Failure> failure = TRY(check_outputs(sets[random_() % kSets])))
      return failure;
    ++timing.outputs_checked;
    double sinking = 1;
    if (library_) {
      const double library_wall = TRY(batch_time(*library_, sets, calls));
      timing.library->wall_ms = library_wall / 1e6;
      sinking = std::max(1.0, library_wall / (timing.library->median_ms * 1e6));
    }
    return unconfirmed(timing, sinking, calls);
  }

  DeviceBenchSettings settings_;
  const problems::Task* task_ = nullptr;
  const Toolchain* toolchain_ = nullptr;
  std::vector<RotationAxis> axes_;
  std::optional<DeviceMonitor> monitor_;
  std::optional<DeviceCounter> counter_;
  std::unique_ptr<Bench> candidate_, library_;
  std::string library_reason_;
  std::mt19937_64 random_{std::random_device{}()};
  unsigned next_set_ = 0;
  bool check_this_ = false;
  uint64_t l2_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<DeviceBench>> DeviceBench::start(const DeviceBenchSettings& settings,
                                                        const problems::Task& task,
                                                        const Toolchain& toolchain) {
  auto bench = std::make_unique<TwoProcesses>();
  TRY(bench->begin(settings, task, toolchain));
  return std::unique_ptr<DeviceBench>(std::move(bench));
}

}  // namespace weft::judge
