// SPDX-License-Identifier: Apache-2.0

// Checks and times one built candidate on a real GPU: loads the shared object as the judge's worker
// does, runs it at one shape, compares with a float64 reference computed here by the simplest
// kernels, and prints one line of JSON. One process per case, so a candidate that hangs or faults
// costs only its own line; tests/gpu/run starts and times out the processes.
//
//   hopper_kernels CANDIDATE.so gemm M N K [REPEATS]
//   hopper_kernels CANDIDATE.so attention BATCH TOKENS HEADS HEAD_DIM CAUSAL [REPEATS]
//   hopper_kernels CANDIDATE.so backward BATCH TOKENS HEADS HEAD_DIM CAUSAL [REPEATS]
//   hopper_kernels device
//
// Outputs are poisoned with NaN before the run and lie between guard zones that must not change.
// With REPEATS > 0 the candidate is timed: five batches of that many launches between two events,
// the median batch counts.
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/gpu/references.cuh"

namespace {

using weft::gpu_test::Attention;
using weft::gpu_test::attention_reference;
using weft::gpu_test::backward_reference;
using weft::gpu_test::fill;
using weft::gpu_test::gemm_reference;

cudaStream_t stream;
std::string raised;

[[noreturn]] void stop(const std::string& outcome, const std::string& detail) {
  std::string safe = detail;
  for (char& c : safe) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32) c = ' ';
  }
  std::printf("{\"outcome\": \"%s\", \"detail\": \"%s\"}\n", outcome.c_str(), safe.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    stop("cuda_error", std::string(what) + ": " + cudaGetErrorString(status));
  }
}

// Device memory with a guard zone before and behind it.
class Buffer {
 public:
  static constexpr size_t kGuard = 4096;
  explicit Buffer(size_t bytes) : bytes_(bytes) {
    check(cudaMalloc(&base_, bytes + 2 * kGuard), "cudaMalloc");
    check(cudaMemset(base_, 0xff, bytes + 2 * kGuard), "cudaMemset");
  }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(base_ + kGuard);
  }
  size_t bytes() const { return bytes_; }
  template <typename T>
  std::vector<T> read() const {
    std::vector<T> host(bytes_ / sizeof(T));
    check(cudaMemcpy(host.data(), base_ + kGuard, bytes_, cudaMemcpyDeviceToHost), "read back");
    return host;
  }
  bool guards_intact() const {
    std::vector<uint8_t> host(kGuard);
    for (const size_t offset : {size_t{0}, kGuard + bytes_}) {
      check(cudaMemcpy(host.data(), base_ + offset, kGuard, cudaMemcpyDeviceToHost), "read guard");
      for (const uint8_t byte : host) {
        if (byte != 0xff) return false;
      }
    }
    return true;
  }

 private:
  uint8_t* base_ = nullptr;
  size_t bytes_;
};

struct Tensor {
  Buffer buffer;
  std::vector<int64_t> shape;
  DLTensor view{};
  Tensor(std::vector<int64_t> extents, DLDataType type)
      : buffer(size(extents, type)), shape(extents) {
    view.data = buffer.as<void>();
    view.device = {kDLCUDA, 0};
    view.ndim = static_cast<int32_t>(shape.size());
    view.dtype = type;
    view.shape = shape.data();
  }
  Tensor(const Tensor&) = delete;
  static size_t size(const std::vector<int64_t>& extents, DLDataType type) {
    size_t count = type.bits / 8;
    for (const int64_t extent : extents) count *= static_cast<size_t>(extent);
    return count;
  }
  __nv_bfloat16* bf16() const { return buffer.as<__nv_bfloat16>(); }
  void randomize(uint64_t seed, bool spiky) {
    fill<<<1024, 256>>>(bf16(), buffer.bytes() / 2, seed, spiky);
    check(cudaDeviceSynchronize(), "fill");
  }
};

constexpr DLDataType kBf16{kDLBfloat, 16, 1};
constexpr DLDataType kFloat{kDLFloat, 32, 1};

using Run = int (*)(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);

void call(Run run, const std::vector<Tensor*>& tensors) {
  std::vector<TVMFFIAny> args(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    args[i] = {};
    args[i].type_index = kTVMFFIDLTensorPtr;
    args[i].v_ptr = &tensors[i]->view;
  }
  TVMFFIAny result{};
  if (run(nullptr, args.data(), static_cast<int32_t>(args.size()), &result) != 0) {
    stop("refused", raised);
  }
}

// Writes the outputs' bytes to the file that WEFT_DUMP names, so that two devices can be compared.
void dump(const std::vector<const Tensor*>& outputs) {
  const char* path = std::getenv("WEFT_DUMP");
  if (path == nullptr) return;
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) stop("refused", std::string("cannot write ") + path);
  for (const Tensor* output : outputs) {
    const auto bytes = output->buffer.read<uint8_t>();
    std::fwrite(bytes.data(), 1, output->buffer.bytes(), file);
  }
  std::fclose(file);
}

double milliseconds(Run run, const std::vector<Tensor*>& tensors, int repeats) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<float> batches;
  for (int batch = 0; batch < 6; ++batch) {
    check(cudaEventRecord(begin, stream), "record");
    for (int i = 0; i < repeats; ++i) call(run, tensors);
    check(cudaEventRecord(end, stream), "record");
    check(cudaEventSynchronize(end), "timed run");
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, begin, end), "elapsed");
    if (batch > 0) batches.push_back(elapsed / static_cast<float>(repeats));
  }
  std::sort(batches.begin(), batches.end());
  return batches[batches.size() / 2];
}

// ||out - reference|| / ||reference||, and the largest difference in units of the reference's root
// mean square. NaN anywhere gives NaN.
struct Difference {
  double square_error = 0, square = 0, largest = 0;
  size_t count = 0;
  void add(double value, double reference) {
    const double error = std::fabs(value - reference);
    square_error += error * error;
    square += reference * reference;
    if (!(error <= largest)) largest = error;
    ++count;
  }
  double relative() const { return std::sqrt(square_error / square); }
  double worst() const { return largest / std::sqrt(square / static_cast<double>(count)); }
};

void report(const std::vector<std::pair<const char*, Difference>>& outputs, bool guards,
            double tolerance, double ms, double flops) {
  bool right = guards;
  std::string errors;
  for (const auto& [name, difference] : outputs) {
    right = right && difference.relative() <= tolerance;
    char text[128];
    std::snprintf(text, sizeof text, "%s\"%s\": {\"relative\": %.3g, \"worst\": %.3g}",
                  errors.empty() ? "" : ", ", name, difference.relative(), difference.worst());
    errors += text;
  }
  // JSON has no NaN.
  for (size_t at; (at = errors.find("-nan")) != std::string::npos;) errors.replace(at, 4, "null");
  for (size_t at; (at = errors.find("nan")) != std::string::npos;) errors.replace(at, 3, "null");
  for (size_t at; (at = errors.find("inf")) != std::string::npos;) errors.replace(at, 3, "null");
  std::printf("{\"outcome\": \"%s\", \"guards_intact\": %s, \"errors\": {%s}",
              right ? "right" : "wrong", guards ? "true" : "false", errors.c_str());
  if (ms > 0) std::printf(", \"milliseconds\": %.5f, \"tflops\": %.1f", ms, flops / ms * 1e-9);
  std::printf("}\n");
}

int check_gemm(Run run, int64_t m, int64_t n, int64_t k, int repeats) {
  Tensor a({m, k}, kBf16), b({n, k}, kBf16), c({m, n}, kBf16);
  a.randomize(1, false);
  b.randomize(2, false);
  call(run, {&a, &b, &c});
  check(cudaStreamSynchronize(stream), "candidate");
  dump({&c});
  const double ms = repeats > 0 ? milliseconds(run, {&a, &b, &c}, repeats) : 0;

  // Everything where that is little, else every element of a stride that is coprime to n.
  const uint64_t elements = static_cast<uint64_t>(m) * n;
  const uint64_t step = elements <= (1u << 21) ? 1 : elements / (1u << 20) | 1;
  std::vector<uint64_t> samples;
  for (uint64_t i = 0; i < elements; i += step) samples.push_back(i);
  Buffer device_samples(samples.size() * 8), device_reference(samples.size() * 8);
  check(cudaMemcpy(device_samples.as<void>(), samples.data(), samples.size() * 8,
                   cudaMemcpyHostToDevice),
        "samples");
  gemm_reference<<<(samples.size() + 255) / 256, 256>>>(
      a.bf16(), b.bf16(), device_reference.as<double>(), device_samples.as<uint64_t>(),
      static_cast<int>(samples.size()), static_cast<int>(n), static_cast<int>(k));
  check(cudaDeviceSynchronize(), "reference");
  const auto reference = device_reference.read<double>();
  const auto out = c.buffer.read<__nv_bfloat16>();
  Difference difference;
  for (size_t i = 0; i < samples.size(); ++i) {
    difference.add(__bfloat162float(out[samples[i]]), reference[i]);
  }
  report({{"c", difference}},
         a.buffer.guards_intact() && b.buffer.guards_intact() && c.buffer.guards_intact(), 5e-3, ms,
         2.0 * m * n * k);
  return 0;
}

// Rows are numbered (batch * heads + head) * tokens + token, the order of lse.
std::vector<int> sampled_rows(const Attention& p, int at_most) {
  const int rows = p.batch * p.heads * p.tokens;
  const int step = rows <= at_most ? 1 : rows / at_most | 1;
  std::vector<int> samples;
  for (int i = 0; i < rows; i += step) samples.push_back(i);
  samples.push_back(rows - 1);
  return samples;
}

struct AttentionReference {
  std::vector<double> o, lse;
};

AttentionReference reference_of(const Attention& p, const Tensor& q, const Tensor& k,
                                const Tensor& v, const std::vector<int>& samples) {
  Buffer rows(samples.size() * 4), o(samples.size() * p.head_dim * 8), lse(samples.size() * 8);
  check(cudaMemcpy(rows.as<void>(), samples.data(), samples.size() * 4, cudaMemcpyHostToDevice),
        "samples");
  const int shared = p.tokens * 8;
  check(cudaFuncSetAttribute(attention_reference, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared),
        "reference shared memory");
  attention_reference<<<samples.size(), 128, shared>>>(
      p, q.bf16(), k.bf16(), v.bf16(), rows.as<int>(), o.as<double>(), lse.as<double>());
  check(cudaDeviceSynchronize(), "reference");
  return {o.read<double>(), lse.read<double>()};
}

int check_attention(Run run, const Attention& p, int repeats) {
  const std::vector<int64_t> shape{p.batch, p.heads, p.tokens, p.head_dim};
  Tensor q(shape, kBf16), k(shape, kBf16), v(shape, kBf16), o(shape, kBf16);
  Tensor lse({p.batch, p.heads, p.tokens}, kFloat);
  q.randomize(1, true);
  k.randomize(2, true);
  v.randomize(3, true);
  call(run, {&q, &k, &v, &o, &lse});
  check(cudaStreamSynchronize(stream), "candidate");
  dump({&o, &lse});
  const double ms = repeats > 0 ? milliseconds(run, {&q, &k, &v, &o, &lse}, repeats) : 0;

  const std::vector<int> samples = sampled_rows(p, 4096);
  const AttentionReference reference = reference_of(p, q, k, v, samples);
  const auto out = o.buffer.read<__nv_bfloat16>();
  const auto out_lse = lse.buffer.read<float>();
  Difference o_difference, lse_difference;
  for (size_t i = 0; i < samples.size(); ++i) {
    const int token = samples[i] % p.tokens;
    const int head = samples[i] / p.tokens % p.heads;
    const size_t row = p.row(samples[i] / p.tokens / p.heads, token, head);
    for (int d = 0; d < p.head_dim; ++d) {
      o_difference.add(__bfloat162float(out[row + d]), reference.o[i * p.head_dim + d]);
    }
    lse_difference.add(out_lse[samples[i]], reference.lse[i]);
  }
  bool guards = true;
  for (const Tensor* tensor : {&q, &k, &v, &o, &lse}) {
    guards = guards && tensor->buffer.guards_intact();
  }
  const double flops =
      4.0 * p.batch * p.heads * p.head_dim * double(p.tokens) * p.tokens / (p.causal ? 2 : 1);
  report({{"o", o_difference}, {"lse", lse_difference}}, guards, 1e-2, ms, flops);
  return 0;
}

int check_backward(Run run, const Attention& p, int repeats) {
  const std::vector<int64_t> shape{p.batch, p.heads, p.tokens, p.head_dim};
  Tensor q(shape, kBf16), k(shape, kBf16), v(shape, kBf16), o(shape, kBf16), grad(shape, kBf16);
  Tensor lse({p.batch, p.heads, p.tokens}, kFloat), delta({p.batch, p.heads, p.tokens}, kFloat);
  Tensor dq(shape, kBf16), dk(shape, kBf16), dv(shape, kBf16);
  q.randomize(1, true);
  k.randomize(2, true);
  v.randomize(3, true);
  grad.randomize(4, true);

  // The forward results that the candidate is given, from the forward reference over all rows.
  const std::vector<int> all = sampled_rows(p, p.batch * p.heads * p.tokens);
  const AttentionReference forward = reference_of(p, q, k, v, all);
  const auto host_grad = grad.buffer.read<__nv_bfloat16>();
  std::vector<__nv_bfloat16> host_o(host_grad.size());
  std::vector<float> host_lse(all.size() - 1), host_delta(all.size() - 1);
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    const size_t row =
        p.row(all[i] / p.tokens / p.heads, all[i] % p.tokens, all[i] / p.tokens % p.heads);
    double sum = 0;
    for (int d = 0; d < p.head_dim; ++d) {
      host_o[row + d] = __double2bfloat16(forward.o[i * p.head_dim + d]);
      sum +=
          double(__bfloat162float(host_o[row + d])) * double(__bfloat162float(host_grad[row + d]));
    }
    host_lse[i] = static_cast<float>(forward.lse[i]);
    host_delta[i] = static_cast<float>(sum);
  }
  const auto upload = [](const Tensor& tensor, const void* data) {
    check(cudaMemcpy(tensor.buffer.as<void>(), data, tensor.buffer.bytes(), cudaMemcpyHostToDevice),
          "upload");
  };
  upload(o, host_o.data());
  upload(lse, host_lse.data());
  upload(delta, host_delta.data());

  const std::vector<Tensor*> tensors{&q, &k, &v, &o, &grad, &lse, &dq, &dk, &dv};
  call(run, tensors);
  check(cudaStreamSynchronize(stream), "candidate");
  dump({&dq, &dk, &dv});
  const double ms = repeats > 0 ? milliseconds(run, tensors, repeats) : 0;

  const std::vector<int> samples = sampled_rows(p, 2048);
  const size_t bytes = samples.size() * p.head_dim * 8;
  Buffer rows(samples.size() * 4), ref_q(bytes), ref_k(bytes), ref_v(bytes);
  check(cudaMemcpy(rows.as<void>(), samples.data(), samples.size() * 4, cudaMemcpyHostToDevice),
        "samples");
  const int shared = p.tokens * 16;
  check(
      cudaFuncSetAttribute(backward_reference, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
      "reference shared memory");
  backward_reference<<<samples.size(), 128, shared>>>(
      p, q.bf16(), k.bf16(), v.bf16(), grad.bf16(), lse.buffer.as<float>(),
      delta.buffer.as<float>(), rows.as<int>(), ref_q.as<double>(), ref_k.as<double>(),
      ref_v.as<double>());
  check(cudaDeviceSynchronize(), "reference");

  const auto compare = [&](const Tensor& tensor, const Buffer& reference) {
    const auto out = tensor.buffer.read<__nv_bfloat16>();
    const auto expected = reference.read<double>();
    Difference difference;
    for (size_t i = 0; i < samples.size(); ++i) {
      const size_t row = p.row(samples[i] / p.tokens / p.heads, samples[i] % p.tokens,
                               samples[i] / p.tokens % p.heads);
      for (int d = 0; d < p.head_dim; ++d) {
        difference.add(__bfloat162float(out[row + d]), expected[i * p.head_dim + d]);
      }
    }
    return difference;
  };
  bool guards = true;
  for (const Tensor* tensor : tensors) guards = guards && tensor->buffer.guards_intact();
  const double flops =
      10.0 * p.batch * p.heads * p.head_dim * double(p.tokens) * p.tokens / (p.causal ? 2 : 1);
  report({{"dq", compare(dq, ref_q)}, {"dk", compare(dk, ref_k)}, {"dv", compare(dv, ref_v)}},
         guards, 1e-2, ms, flops);
  return 0;
}

int describe_device() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  std::printf(
      "{\"name\": \"%s\", \"compute_capability\": \"%d.%d\", \"multiprocessors\": %d, "
      "\"cuda_driver_api\": %d, \"cuda_runtime\": %d}\n",
      properties.name, properties.major, properties.minor, properties.multiProcessorCount, driver,
      runtime);
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TVMFFIErrorSetRaisedFromCStr(
    const char* kind, const char* message) {
  raised = std::string(kind) + ": " + message;
}
extern "C" __attribute__((visibility("default"))) TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t,
                                                                                        int32_t) {
  return stream;
}

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 1 && args[0] == "device") return describe_device();
  if (args.size() < 5) {
    std::fprintf(stderr, "usage: see the head of tests/gpu/hopper_kernels.cu\n");
    return 2;
  }
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  void* library = dlopen(args[0].c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) stop("not_loaded", dlerror());
  const auto run = reinterpret_cast<Run>(dlsym(library, "__tvm_ffi_run"));
  if (run == nullptr) stop("not_loaded", "no symbol __tvm_ffi_run");

  const auto number = [&](size_t i) { return i < args.size() ? std::atoi(args[i].c_str()) : 0; };
  if (args[1] == "gemm") return check_gemm(run, number(2), number(3), number(4), number(5));
  const Attention problem{number(2), number(3), number(4), number(5), number(6) != 0};
  if (args[1] == "attention") return check_attention(run, problem, number(7));
  if (args[1] == "backward") return check_backward(run, problem, number(7));
  std::fprintf(stderr, "unknown family %s\n", args[1].c_str());
  return 2;
}
