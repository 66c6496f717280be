// SPDX-License-Identifier: Apache-2.0

// ptxbench-worker ORDERS.json: runs one candidate in this process and nowhere else. It loads the
// candidate, then answers call orders: it loads the inputs, poisons the outputs, calls, waits, and
// writes back raw bytes. What is right is decided by the judge; whatever the candidate does to this
// process costs only this process. With BENCH.json it is counted and timed instead (bench.h).
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/text_file.h"
#include "ptxbench/judge/orders.h"
#include "ptxbench/judge/worker/candidate_bench.h"
#include "ptxbench/judge/worker/program.h"
#include "ptxbench/judge/worker/runtime.h"
#include "ptxbench/judge/worker/shared_poison.h"
#include "ptxbench/judge/worker/tensors.h"

namespace weft::judge {
namespace {

constexpr size_t kLongestMessage = 4000;  // bytes of a candidate's error message that are passed on

// Fills the memory that calls used before their tensors moved.
constexpr uint8_t kSpoilt = 0xE7;

// The two pipes. Every stage is told when it begins, so that a crash leaves behind where it
// happened.
class Link {
 public:
  static Result<Link> open(const Orders& orders) {
    Link link;
    link.calls_ = Descriptor(::open(orders.calls.c_str(), O_RDONLY | O_CLOEXEC));
    link.reports_ = Descriptor(::open(orders.reports.c_str(), O_WRONLY | O_CLOEXEC));
    if (!link.calls_.open() || !link.reports_.open())
      return Error(fmt::format("cannot open the judge's pipes: {}", std::strerror(errno)));
    return link;
  }

  Result<Done> enter(const char* stage) {
    report.stage = stage;
    return tell();
  }
  Result<Done> fail(std::string kind, std::string message) {
    report.failed = true;
    report.kind = std::move(kind);
    report.message = message.substr(0, kLongestMessage);
    return tell();
  }
  Result<Done> tell() {
    const std::string line = to_line(report) + "\n";
    for (size_t done = 0; done < line.size();) {
      const ssize_t length = ::write(reports_.get(), line.data() + done, line.size() - done);
      if (length < 0 && errno == EINTR) continue;
      if (length <= 0) return Error("the judge does not listen any more");
      done += static_cast<size_t>(length);
    }
    return Done{};
  }
  // The next line; an error when the judge has hung up.
  Result<std::string> next() {
    for (;;) {
      const size_t end = buffer_.find('\n');
      if (end != buffer_.npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      char part[4096];
      const ssize_t length = ::read(calls_.get(), part, sizeof part);
      if (length < 0 && errno == EINTR) continue;
      if (length <= 0) return Error("the judge has hung up");
      buffer_.append(part, static_cast<size_t>(length));
    }
  }

  WorkerReport report;

 private:
  Descriptor calls_, reports_;
  std::string buffer_;
};

// Whether a thread of this process is at its end, as one that was joined may still be: it is listed
// until the kernel has let go of it. Flags are the seventh word behind the name (man 5 proc).
bool is_exiting(const char* thread) {
  constexpr unsigned long kExiting = 0x4;  // PF_EXITING of linux/sched.h
  const std::string path = std::string("/proc/self/task/") + thread;
  const Result<std::string> stat = read_file(path + "/stat");
  // Gone meanwhile. One that cannot be read for another reason counts as there.
  if (!stat.ok()) return access(path.c_str(), F_OK) != 0;
  const size_t name_end = stat->rfind(')');
  unsigned long flags = 0;
  return name_end != stat->npos &&
         std::sscanf(stat->c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) == 1 &&
         (flags & kExiting) != 0;
}

// An error where the candidate left no descriptor to look with: a thread must not hide like that.
Result<int> thread_count() {
  DIR* folder = opendir("/proc/self/task");
  if (folder == nullptr)
    return Error(fmt::format("cannot count the threads: {}", std::strerror(errno)));
  int count = 0;
  while (const dirent* entry = readdir(folder))
    count += entry->d_name[0] != '.' && !is_exiting(entry->d_name);
  closedir(folder);
  return count;
}

Result<Done> run_call(const Orders& orders, const CallOrder& call, const Runtime& runtime,
                      const std::optional<SharedPoison>& shared, DeviceTensors& tensors,
                      Program& program, Link& link) {
  TRY(link.enter("prepare"));
  TRY(tensors.prepare(orders, call));
  if (shared) TRY(shared->fill(call.poison));
  const int threads = TRY(thread_count());
  TRY(link.enter("call"));
  if (runtime.record != nullptr && !call.recording.empty()) runtime.record(call.recording.c_str());
  if (const std::optional<CallFailure> failure = program.call())
    return link.fail(failure->kind, failure->message);
  TRY(runtime.check(runtime.last_error(), "launch"));
  TRY(link.enter("synchronize"));
  TRY(runtime.check(runtime.synchronize(), "cudaDeviceSynchronize"));
  if (runtime.record != nullptr) runtime.record(nullptr);
  link.report.threads_left = TRY(thread_count()) - threads;
  program.inspect(link.report);
  TRY(link.enter("collect"));
  TRY(tensors.collect(orders, call, link.report));
  for (size_t i = 0; i < tensors.count(); ++i)
    link.report.addresses.push_back(reinterpret_cast<uint64_t>(tensors.data(i)));
  return link.enter("done");
}

Result<Done> run_all(const Orders& orders, Link& link) {
  TRY(link.enter("load"));
  const Runtime runtime = TRY(Runtime::open());
  TRY(runtime.check(runtime.set_device(0), "cudaSetDevice"));
  void* stream = nullptr;
  TRY(runtime.check(runtime.create_stream(&stream), "cudaStreamCreate"));
  set_current_stream(stream);
  const std::unique_ptr<Program> program =
      TRY(orders.ptx ? load_ptx(orders, stream) : load_shared_object(orders));
  DeviceTensors tensors = TRY(DeviceTensors::allocate(runtime, orders));
  program->bind(tensors);
  std::optional<SharedPoison> shared;
  if (runtime.record == nullptr) shared = TRY(SharedPoison::create(runtime));
  TRY(link.enter("ready"));
  for (;;) {
    const std::string line = TRY(link.next());
    if (line == "end") return Done{};
    const CallOrder call = TRY(read_call(line));
    link.report = {};
    if (call.move) {
      TRY(tensors.spoil(orders, kSpoilt));
      tensors = TRY(DeviceTensors::allocate(runtime, orders));
      program->bind(tensors);
    }
    TRY(run_call(orders, call, runtime, shared, tensors, *program, link));
    if (link.report.failed) return Done{};
  }
}

int run(const char* path) {
  const Result<std::string> text = read_file(path);
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", format(text.error()).c_str());
    return 2;
  }
  const Result<Orders> orders = read_orders(*text, path);
  if (!orders.ok()) {
    std::fprintf(stderr, "%s\n", format(orders.error()).c_str());
    return 2;
  }
  Result<Link> link = Link::open(*orders);
  if (!link.ok()) {
    std::fprintf(stderr, "%s\n", format(link.error()).c_str());
    return 2;
  }
  const Result<Done> ran = run_all(*orders, *link);
  if (ran.ok()) return 0;
  const Result<Done> told = link->fail("", ran.error().message());
  if (!told.ok()) std::fprintf(stderr, "%s\n", format(told.error()).c_str());
  return 0;
}

}  // namespace
}  // namespace weft::judge

int main(int count, char** arguments) {
  if (count != 2 && count != 3) {
    std::fprintf(stderr,
                 "usage: ptxbench-worker ORDERS.json [BENCH.json] (started by ptxbench eval)\n");
    return 2;
  }
  // Everything has been handed over: what the candidate registered for the end of the process has
  // no business any more.
  const int code = count == 3 ? weft::judge::bench_candidate(arguments[1], arguments[2])
                              : weft::judge::run(arguments[1]);
  std::fflush(nullptr);
  _exit(code);
}
