// SPDX-License-Identifier: Apache-2.0

// ptxbench-worker ORDERS.json: runs one candidate in this process and nowhere else. It loads the
// inputs, poisons the outputs, calls, waits, and writes back raw bytes. What is right is decided by
// the judge; whatever the candidate does to this process costs only this process.
#include <cstdio>
#include <cstdlib>

#include "base/text_file.h"
#include "ptxbench/judge/orders.h"
#include "ptxbench/judge/worker/program.h"
#include "ptxbench/judge/worker/runtime.h"
#include "ptxbench/judge/worker/tensors.h"

namespace weft::judge {
namespace {

// The report is rewritten at every stage, so that a crash leaves behind where it happened.
class Progress {
 public:
  explicit Progress(const Orders& orders) : file_(orders.report) {}

  Result<Done> enter(const char* stage, unsigned trial) {
    report.stage = stage;
    report.trial = trial;
    return write();
  }
  Result<Done> fail(std::string kind, std::string message) {
    report.failed = true;
    report.kind = std::move(kind);
    report.message = std::move(message);
    return write();
  }
  Result<Done> write() const { return write_file(file_, to_text(report)); }

  WorkerReport report;

 private:
  std::string file_;
};

Result<Done> run_trial(const Orders& orders, const Runtime& runtime, DeviceTensors& tensors,
                       const Call& call, unsigned trial, Progress& progress) {
  TRY(progress.enter("prepare", trial));
  TRY(tensors.prepare(orders, trial));
  TRY(progress.enter("call", trial));
  if (const std::optional<CallFailure> failure = call())
    return progress.fail(failure->kind, failure->message);
  TRY(runtime.check(runtime.last_error(), "launch"));
  TRY(progress.enter("synchronize", trial));
  TRY(runtime.check(runtime.synchronize(), "cudaDeviceSynchronize"));
  TRY(progress.enter("collect", trial));
  TRY(tensors.collect(orders, trial, progress.report));
  progress.report.completed_trials = trial + 1;
  return Done{};
}

Result<Done> run_all(const Orders& orders, Progress& progress) {
  const Runtime runtime = TRY(Runtime::open());
  TRY(runtime.check(runtime.set_device(0), "cudaSetDevice"));
  void* stream = nullptr;
  TRY(runtime.check(runtime.create_stream(&stream), "cudaStreamCreate"));
  set_current_stream(stream);
  TRY(progress.enter("prepare", 0));
  DeviceTensors tensors = TRY(DeviceTensors::allocate(runtime, orders));
  TRY(progress.enter("load", 0));
  const Call call =
      TRY(orders.ptx ? load_ptx(orders, tensors, stream) : load_shared_object(orders, tensors));
  for (unsigned trial = 0; trial < orders.poisons.size(); ++trial) {
    TRY(run_trial(orders, runtime, tensors, call, trial, progress));
    if (progress.report.failed) return Done{};
  }
  return progress.enter("done", 0);
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
  Progress progress(*orders);
  const Result<Done> ran = run_all(*orders, progress);
  if (ran.ok()) return 0;
  const Result<Done> told = progress.fail("", ran.error().message());
  if (!told.ok()) std::fprintf(stderr, "%s\n", format(told.error()).c_str());
  return 0;
}

}  // namespace
}  // namespace weft::judge

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: ptxbench-worker ORDERS.json (started by ptxbench eval)\n");
    return 2;
  }
  return weft::judge::run(arguments[1]);
}
