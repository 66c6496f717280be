// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/worker/candidate_bench.h"

#include <cstdio>
#include <string>

#include "base/text_file.h"
#include "ptxbench/judge/worker/bench.h"
#include "ptxbench/judge/worker/program.h"

namespace weft::judge {
namespace {

Result<Done> serve(const std::string& orders_file, const std::string& bench_file) {
  std::string text = TRY(read_file(orders_file));
  const Orders orders = TRY(read_orders(std::move(text), orders_file));
  text = TRY(read_file(bench_file));
  const BenchOrders bench = TRY(read_bench_orders(std::move(text), bench_file));
  const Runtime runtime = TRY(Runtime::open());
  TRY(runtime.check(runtime.set_device(0), "cudaSetDevice"));
  void* stream = nullptr;
  TRY(runtime.check(runtime.create_stream(&stream), "cudaStreamCreate"));
  set_current_stream(stream);
  const std::unique_ptr<Program> program =
      TRY(orders.ptx ? load_ptx(orders, stream) : load_shared_object(orders));
  const DeviceTensors* bound = nullptr;
  const auto bind = [&](const DeviceTensors& tensors) -> Result<Call> {
    return Call([&program, &bound, to = &tensors] {
      if (bound != to) program->bind(*to);
      bound = to;
      return program->call();
    });
  };
  return serve_bench(orders, bench, runtime, stream, bind, [] { return Introduction(); });
}

}  // namespace

int bench_candidate(const char* orders_file, const char* bench_file) {
  const Result<Done> served = serve(orders_file, bench_file);
  if (served.ok()) return 0;
  std::fprintf(stderr, "%s\n", format(served.error()).c_str());
  return 2;
}

}  // namespace weft::judge
