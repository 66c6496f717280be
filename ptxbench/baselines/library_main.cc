// SPDX-License-Identifier: Apache-2.0

// ptxbench-library ORDERS.json BENCH.json: a library's answer to a task, in a process of its own,
// so that nothing of a candidate's can slow it down or learn from it. `ptxbench-library timer`
// tests the timer and prints JSON. Both are started by ptxbench.
#include <cstdio>
#include <cstring>
#include <string>

#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "ptxbench/baselines/baseline.h"
#include "ptxbench/baselines/own_kernels.h"
#include "ptxbench/baselines/self_test.h"

namespace weft::baselines {
namespace {

Result<Done> serve(const std::string& orders_file, const std::string& bench_file) {
  std::string text = TRY(read_file(orders_file));
  const judge::Orders orders = TRY(judge::read_orders(std::move(text), orders_file));
  text = TRY(read_file(bench_file));
  const judge::BenchOrders bench = TRY(judge::read_bench_orders(std::move(text), bench_file));
  const judge::Runtime runtime = TRY(judge::Runtime::open());
  TRY(runtime.check(runtime.set_device(0), "cudaSetDevice"));
  void* stream = nullptr;
  TRY(runtime.check(runtime.create_stream(&stream), "cudaStreamCreate"));
  std::unique_ptr<Baseline> baseline;
  const auto bind = [&](const judge::DeviceTensors& tensors) -> Result<judge::Call> {
    if (!baseline) {
      if (bench.family == "gemm")
        baseline = TRY(open_cublaslt(orders, runtime, stream));
      else if (bench.family == "mha_with_lse" || bench.family == "mha_bwd")
        baseline = TRY(open_cudnn_attention(orders, bench, runtime, stream));
      else
        return Error("no library is known for the family " + bench.family);
    }
    return baseline->bind(tensors);
  };
  const OwnKernels kernels = TRY(OwnKernels::load(stream));
  return judge::serve_bench(
      orders, bench, runtime, stream, bind, [&] { return baseline->introduce(); }, kernels.empty());
}

int complain(const Error& error) {
  std::fprintf(stderr, "%s\n", format(error).c_str());
  return 2;
}

int run(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "timer") == 0) {
    const Result<Json> tested = test_timer();
    if (!tested.ok()) return complain(tested.error());
    std::fputs((to_line(*tested) + "\n").c_str(), stdout);
    return 0;
  }
  if (count != 3) {
    std::fputs("usage: ptxbench-library ORDERS.json BENCH.json | timer\n", stderr);
    return 2;
  }
  const Result<Done> served = serve(arguments[1], arguments[2]);
  return served.ok() ? 0 : complain(served.error());
}

}  // namespace
}  // namespace weft::baselines

int main(int count, char** arguments) {
  return weft::baselines::run(count, arguments);
}
