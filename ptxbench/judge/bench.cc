// SPDX-License-Identifier: Apache-2.0

// The process runs under a thread that waits for it; this side waits for lines in the answering
// pipe or for the process's end, whichever comes first.
#include "ptxbench/judge/bench.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/descriptor.h"
#include "base/sandbox.h"
#include "base/text_file.h"
#include "ptxbench/judge/named_pipe.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

// Bytes of what the candidate and the library print that enter the log.
constexpr uint64_t kKeptLog = 64 << 10;
constexpr size_t kLongestAnswer = 1 << 20;
constexpr uint64_t kResidentBytes = uint64_t{48} << 30;  // CUDA maps and pins generously
constexpr uint64_t kFileBytes = uint64_t{8} << 30;
// The worker with CUPTI's and the driver's threads; a profiler around it is several processes.
constexpr unsigned kProcesses = 8, kLaunchedProcesses = 32;
constexpr int kWaitStep = 200;  // milliseconds

class ProcessBench final : public Bench {
 public:
  ~ProcessBench() override { ProcessBench::finish(); }

  Result<Done> begin(BenchSettings settings) {
    settings_ = std::move(settings);
    const std::string &folder = settings_.folder, in = folder + "/in", out = folder + "/out";
    std::error_code failure;
    fs::create_directories(in, failure);
    fs::create_directories(out, failure);
    if (failure)
      return Error(fmt::format("cannot make the scratch folder {}: {}", folder, failure.message()));
    BenchOrders& bench = settings_.bench;
    bench.ask = in + "/ask";
    bench.answer = out + "/answer";
    bench.outputs = out;
    ask_ = TRY(make_pipe(bench.ask));
    answer_ = TRY(make_pipe(bench.answer));
    settings_.orders.outputs = out;
    TRY(write_file(in + "/orders.json", to_text(settings_.orders)));
    TRY(write_file(in + "/bench.json", to_text(bench)));
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    ended_ = Descriptor(ends[0]);
    end_signal_ = Descriptor(ends[1]);
    started_ = Clock::now();

    Command command;
    command.arguments = settings_.launcher;
    for (const std::string& word : {settings_.program, in + "/orders.json", in + "/bench.json"})
      command.arguments.push_back(word);
    command.environment =
        std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C"};
    command.extra_environment = {{"LD_LIBRARY_PATH", settings_.library_path},
                                 {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                 {"CUDA_VISIBLE_DEVICES", std::to_string(settings_.device)}};
    command.working_directory = out;
    command.kept_output_bytes = kKeptLog;
    command.limits.seconds = settings_.seconds;
    command.limits.resident_bytes = kResidentBytes;
    command.limits.file_bytes = kFileBytes;
    command.limits.processes = settings_.launcher.empty() ? kProcesses : kLaunchedProcesses;
    command.cancel = &kill_;
    std::vector<std::string> readable = settings_.readable;
    readable.push_back(in);
    readable.push_back(settings_.program);
    for (const std::string& content : bench.contents) readable.push_back(content);
    Sandbox sandbox{.writable = {out}, .readable = std::move(readable), .devices = gpu_devices()};
    watcher_ = std::thread([this, command = std::move(command), sandbox = std::move(sandbox)] {
      ran_.emplace(run_sandboxed(command, sandbox));
      end_signal_.reset();
    });
    return Done{};
  }

  Result<Json> introduction() override {
    if (!introduced_) {
      const Json hello = TRY(next());
      introduced_ = true;
      hello_ = hello;
    }
    return hello_;
  }

  Result<Answer> ask(const Json& request) override {
    TRY(introduction());
    const Clock::time_point start = Clock::now();
    TRY(send(request));
    Json json = TRY(next());
    return Answer{std::move(json), std::chrono::duration<double>(Clock::now() - start).count()};
  }

  Result<Answer> batch(const Json& calls) override {
    TRY(introduction());
    TRY(send({{"ask", "batch"}, {"calls", calls}}));
    TRY(next());
    const Clock::time_point start = Clock::now();
    TRY(send({{"ask", "go"}}));
    Json json = TRY(next());
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    TRY(next());
    return Answer{std::move(json), seconds};
  }

  std::string finish() override {
    if (watcher_.joinable()) {
      // A process that waits for a request is let go, any other is killed.
      if (busy_ || !send({{"ask", "end"}}).ok()) kill_ = true;
      watcher_.join();
    }
    if (!ran_) return "";
    if (!ran_->ok()) return ran_->error().message();
    const ProcessOutcome& outcome = (*ran_)->outcome;
    std::string text = outcome.output + outcome.errors;
    if (!outcome.passed()) text += outcome.describe();
    return text;
  }

  const std::string& outputs() const override { return settings_.bench.outputs; }

 private:
  Result<Done> send(const Json& request) {
    busy_ = true;
    const std::string line = weft::to_line(request) + "\n";
    size_t done = 0;
    while (done < line.size()) {
      const ssize_t length = ::write(ask_.get(), line.data() + done, line.size() - done);
      if (length > 0) {
        done += static_cast<size_t>(length);
        continue;
      }
      if (length < 0 && errno != EINTR && errno != EAGAIN)
        return Error(fmt::format("cannot write to the pipe: {}", std::strerror(errno)));
      pollfd room = {.fd = ask_.get(), .events = POLLOUT, .revents = 0};
      if (poll(&room, 1, kWaitStep) == 0 && gone()) return Error(epitaph());
    }
    return Done{};
  }

  bool gone() const {
    pollfd end = {.fd = ended_.get(), .events = POLLIN, .revents = 0};
    return poll(&end, 1, 0) > 0;
  }

  std::string epitaph() {
    if (watcher_.joinable()) watcher_.join();
    const std::string said = finish();
    return "the process on the GPU ended: " + (said.empty() ? "without a word" : said);
  }

  Result<Json> next() {
    for (;;) {
      const size_t end = buffer_.find('\n');
      if (end != buffer_.npos) {
        Result<Json> json = parse_json(buffer_.substr(0, end));
        buffer_.erase(0, end + 1);
        if (!json.ok() || !json->is_object())
          return Error("the process on the GPU answered with something that is no object");
        if (json->contains("failed")) {
          const std::string kind = text_in(*json, "kind"), message = text_in(*json, "message");
          return Error(kind.empty() ? message : kind + ": " + message);
        }
        busy_ = false;
        return json;
      }
      if (buffer_.size() > kLongestAnswer) return Error("the answer does not end");
      if (std::chrono::duration<double>(Clock::now() - started_).count() > settings_.seconds + 5)
        return Error("the process on the GPU is silent");
      if (TRY(wait_for_more(answer_, ended_, kWaitStep, buffer_)) == Waited::Ended)
        return Error(epitaph());
    }
  }

  BenchSettings settings_;
  Descriptor ask_, answer_, ended_, end_signal_;
  std::thread watcher_;
  std::optional<Result<SandboxedOutcome>> ran_;  // read after the watcher has ended
  std::string buffer_;
  Json hello_;
  bool introduced_ = false;
  bool busy_ = true;  // until it has said that it is ready, and from a request to its answer
  std::atomic<bool> kill_{false};
  Clock::time_point started_;
};

}  // namespace

std::string text_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

std::vector<double> numbers_in(const Json& json, const char* name) {
  std::vector<double> numbers;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array()) return numbers;
  for (const Json& item : *found)
    if (item.is_number()) numbers.push_back(item.get<double>());
  return numbers;
}

Result<std::unique_ptr<Bench>> Bench::start(BenchSettings settings) {
  auto bench = std::make_unique<ProcessBench>();
  TRY(bench->begin(std::move(settings)));
  return std::unique_ptr<Bench>(std::move(bench));
}

}  // namespace weft::judge
