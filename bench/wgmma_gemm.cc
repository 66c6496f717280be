// SPDX-License-Identifier: Apache-2.0

// How fast the emulator runs a whole wgmma kernel: kernels/hopper/gemm_wgmma.cu, tensor copies,
// barriers and stores included, beside plain products of the same size by oneDNN on as many threads
// in the same run: fp32, and bf16 where the processor has instructions for it.
//
//   bench_wgmma_gemm GEMM_WGMMA.ptx [--workers N] [--size M] [--check NAMES]
//
// Prints GFLOP/s by the wall clock, and by processor time for machines that other programs share:
// there a second is one of `workers` cores each working a second.

#include <dnnl.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "ptxbench/emulator/machine.h"
#include "ptxbench/emulator/tensor_map.h"
#include "ptxbench/emulator/tile/tile_engine.h"
#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

// The kernel's own numbers: a cluster of two blocks makes 256 x 256 of C with 64 of K a step.
constexpr uint32_t kTile = 128, kTileK = 64, kThreads = 384, kSharedBytes = 230'464;

float from_bf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

TensorMap bf16_map(const void* base, uint64_t rows, uint64_t columns, uint16_t box_rows) {
  TensorMap map;
  map.global_address = reinterpret_cast<uint64_t>(base);
  map.strides[0] = columns * 2;
  map.last_index[0] = static_cast<uint32_t>(columns - 1);
  map.last_index[1] = static_cast<uint32_t>(rows - 1);
  map.box[0] = kTileK;
  map.box[1] = box_rows;
  map.element_strides[0] = map.element_strides[1] = 1;
  map.rank = 2;
  map.element = TensorElement::Bf16;
  map.swizzle = TensorSwizzle::Bytes128;
  seal(map);
  return map;
}

struct Rate {
  double wall = 0, processor = 0;  // GFLOP/s
};

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The best of five calls, after one that warms up.
Rate measure(double flops, unsigned workers, const std::function<void()>& call) {
  Rate best;
  call();
  for (int round = 0; round < 5; ++round) {
    const double wall = now(CLOCK_MONOTONIC), processor = now(CLOCK_PROCESS_CPUTIME_ID);
    call();
    best.wall = std::max(best.wall, flops / (now(CLOCK_MONOTONIC) - wall) * 1e-9);
    best.processor = std::max(best.processor,
                              flops * workers / (now(CLOCK_PROCESS_CPUTIME_ID) - processor) * 1e-9);
  }
  return best;
}

// c = a b^T through oneDNN, bf16 with fp32 sums inside. False where oneDNN has no such product.
class Bf16Product {
 public:
  Bf16Product(int64_t n, const uint16_t* a, const uint16_t* b, uint16_t* c) {
    dnnl_memory_desc_t rows, transposed;
    dnnl_matmul_desc_t operation;
    const dnnl_dims_t sizes = {n, n};
    ready_ =
        good(dnnl_engine_create(&engine_, dnnl_cpu, 0)) &&
        good(dnnl_stream_create(&stream_, engine_, dnnl_stream_default_flags)) &&
        good(dnnl_memory_desc_init_by_tag(&rows, 2, sizes, dnnl_bf16, dnnl_ab)) &&
        good(dnnl_memory_desc_init_by_tag(&transposed, 2, sizes, dnnl_bf16, dnnl_ba)) &&
        good(dnnl_matmul_desc_init(&operation, &rows, &transposed, nullptr, &rows)) &&
        good(dnnl_primitive_desc_create(&description_, &operation, nullptr, engine_, nullptr)) &&
        good(dnnl_primitive_create(&primitive_, description_)) &&
        memory(rows, DNNL_ARG_SRC, const_cast<uint16_t*>(a)) &&
        memory(transposed, DNNL_ARG_WEIGHTS, const_cast<uint16_t*>(b)) &&
        memory(rows, DNNL_ARG_DST, c);
  }
  bool ready() const { return ready_; }
  void operator()() const {
    dnnl_primitive_execute(primitive_, stream_, static_cast<int>(arguments_.size()),
                           arguments_.data());
    dnnl_stream_wait(stream_);
  }

 private:
  static bool good(dnnl_status_t status) { return status == dnnl_success; }
  bool memory(const dnnl_memory_desc_t& description, int argument, void* bytes) {
    dnnl_memory_t made = nullptr;
    if (!good(dnnl_memory_create(&made, &description, engine_, bytes))) return false;
    arguments_.push_back({argument, made});
    return true;
  }

  dnnl_engine_t engine_ = nullptr;
  dnnl_stream_t stream_ = nullptr;
  dnnl_primitive_desc_t description_ = nullptr;
  dnnl_primitive_t primitive_ = nullptr;
  std::vector<dnnl_exec_arg_t> arguments_;
  bool ready_ = false;
};

const Kernel* paired_kernel(const Program& program) {
  for (const Kernel* kernel : program.kernels())
    if (info(*kernel).name.find("gemm_wgmmaILi2E") != std::string::npos) return kernel;
  return nullptr;
}

struct Parameters {  // of the kernel, laid out as PTX says
  TensorMap a, b, c;
  int cluster_rows, columns, steps;
};

struct Arrays {
  uint64_t n;
  uint16_t *a, *b, *c;  // device memory, which host code reads as well

  Arrays(Machine& machine, uint64_t size) : n(size) {
    for (uint16_t** array : {&a, &b, &c})
      *array = reinterpret_cast<uint16_t*>(machine.memory().allocate(n * n * 2));
    std::mt19937 random(3);
    for (uint16_t* array : {a, b})
      for (uint64_t i = 0; i < n * n; ++i)  // +- 2^-7 to 2, every mantissa
        array[i] = static_cast<uint16_t>((random() & 0x807f) | ((120 + random() % 8) << 7));
    std::memset(c, 0xff, n * n * 2);
  }
};

bool launch(Machine& machine, const Kernel& kernel, const Arrays& arrays, unsigned workers) {
  const uint64_t n = arrays.n;
  Parameters parameters{bf16_map(arrays.a, n, n, kTile), bf16_map(arrays.b, n, n, kTile),
                        bf16_map(arrays.c, n, n, 64),    static_cast<int>(n / 256),
                        static_cast<int>(n / 256),       static_cast<int>(n / kTileK)};
  Launch order;
  order.kernel = &kernel;
  // Blocks are persistent; more of them than workers keep every worker busy to the end.
  order.grid = {.x = std::min(static_cast<uint32_t>(n / 256 * (n / 256)), 16 * workers) * 2};
  order.block = {.x = kThreads};
  order.cluster = {.x = 2};
  order.dynamic_shared = kSharedBytes;
  order.parameters = std::as_bytes(std::span(&parameters, 1))
                         .first(offsetof(Parameters, steps) + sizeof(parameters.steps));
  const auto result = machine.run(order);
  if (!result.ok()) std::fprintf(stderr, "%s\n", format(result.error()).c_str());
  if (result.ok() && result->has_value()) std::fprintf(stderr, "%s\n", format(**result).c_str());
  return result.ok() && !result->has_value();
}

// Every element against the fp32 product: sums in another order and one rounding to bf16.
bool right(const Arrays& arrays, const std::vector<float>& expected, double magnitude) {
  for (uint64_t i = 0; i < arrays.n * arrays.n; ++i) {
    const double difference = std::abs(double{from_bf16(arrays.c[i])} - expected[i]);
    if (!(difference <= std::abs(expected[i]) * 0x1p-8 + magnitude * 0x1p-18)) {
      std::fprintf(stderr, "element %llu is %g, expected %g\n", static_cast<unsigned long long>(i),
                   from_bf16(arrays.c[i]), expected[i]);
      return false;
    }
  }
  return true;
}

int measure_all(const Kernel& kernel, Machine& machine, unsigned workers, uint64_t n) {
  const Arrays arrays(machine, n);
  const auto size = static_cast<dnnl_dim_t>(n);
  std::vector<float> a(n * n), b(n * n), expected(n * n);
  for (uint64_t i = 0; i < n * n; ++i) {
    a[i] = from_bf16(arrays.a[i]);
    b[i] = from_bf16(arrays.b[i]);
  }
  const auto plain = [&] {
    dnnl_sgemm('N', 'T', size, size, size, 1.0f, a.data(), size, b.data(), size, 0.0f,
               expected.data(), size);
  };
  plain();
  // Values lie below 2, so a sum of magnitudes below 4 n.
  if (!launch(machine, kernel, arrays, workers) ||
      !right(arrays, expected, 4 * static_cast<double>(n)))
    return 1;

  const double flops =
      2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  const Rate ours = measure(flops, workers, [&] { launch(machine, kernel, arrays, workers); });
  const Rate fp32 = measure(flops, workers, plain);
  std::vector<uint16_t> other(n * n);
  const Bf16Product product(static_cast<int64_t>(n), arrays.a, arrays.b, other.data());
  std::printf("wgmma product of %llu cubed, %u workers, engine %s: right\n",
              static_cast<unsigned long long>(n), workers, tile_engine().name.data());
  const auto line = [&](const char* name, const Rate& rate) {
    std::printf("%-14s %8.1f GFLOP/s wall, ours / it %5.2f | %8.1f GFLOP/s processor, %5.2f\n",
                name, rate.wall, ours.wall / rate.wall, rate.processor,
                ours.processor / rate.processor);
  };
  line("emulator", ours);
  line("oneDNN fp32", fp32);
  if (product.ready())
    line("oneDNN bf16", measure(flops, workers, [&] { product(); }));
  else
    std::printf("oneDNN bf16    none on this processor\n");
  return 0;
}

}  // namespace
}  // namespace weft::emulator

int main(int argc, char** argv) {
  using namespace weft::emulator;
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: bench_wgmma_gemm GEMM_WGMMA.ptx [--workers N] [--size M] "
                 "[--check NAMES]\n");
    return 2;
  }
  unsigned workers = 2;
  uint64_t size = 2048;
  std::string_view checked;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--workers") workers = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (option == "--check") checked = argv[i + 1];
    if (option == "--size") size = static_cast<uint64_t>(std::atoll(argv[i + 1]));
  }
  if (workers == 0 || size == 0 || size % 256 != 0) {
    std::fprintf(stderr, "the size must be a multiple of 256 and workers at least 1\n");
    return 2;
  }
  const auto checks = parse_checks(checked);
  if (!checks.ok()) {
    std::fprintf(stderr, "%s\n", weft::format(checks.error()).c_str());
    return 2;
  }
  omp_set_num_threads(static_cast<int>(workers));
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  auto module = weft::ptx::parse(text.str(), argv[1]);
  if (!module.ok()) {
    std::fprintf(stderr, "%s\n", weft::format(module.error()).c_str());
    return 2;
  }
  Machine machine(*find_device_model("h100"), Options{.workers = workers, .checks = *checks});
  auto program = machine.load(*module);
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", weft::format(program.error()).c_str());
    return 2;
  }
  const Kernel* kernel = paired_kernel(**program);
  if (kernel == nullptr) {
    std::fprintf(stderr, "no kernel gemm_wgmma<2> in %s\n", argv[1]);
    return 2;
  }
  return measure_all(*kernel, machine, workers, size);
}
