// SPDX-License-Identifier: Apache-2.0

// C = A * transpose(B), all row-major bfloat16 with float32 sums, by cuBLASLt. Its heuristics
// propose algorithms; each is timed and the fastest is the baseline, since the first proposal is
// often a few per cent slower.
#include "ptxbench/baselines/baseline.h"
#include "ptxbench/baselines/stopwatch.h"

#ifdef WEFT_HAVE_CUBLASLT

#include <cublasLt.h>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/vendor_library.h"

namespace weft::baselines {
namespace {

constexpr size_t kWorkspaceBytes = size_t{64} << 20;
constexpr int kProposals = 16, kRepetitions = 5;

struct CublasLt {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtMatmulDescCreate) create_product = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) set_product = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) create_layout = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) propose = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) get_config = nullptr;
  decltype(&cublasLtMatmul) multiply = nullptr;
  decltype(&cublasLtGetVersion) version = nullptr;
  decltype(&cublasLtGetStatusName) status_name = nullptr;

  static Result<CublasLt> open() {
    const VendorLibrary library = TRY(VendorLibrary::open({"libcublasLt.so.13", "libcublasLt.so"}));
    CublasLt lt;
    TRY(library.find("cublasLtCreate", lt.create));
    TRY(library.find("cublasLtMatmulDescCreate", lt.create_product));
    TRY(library.find("cublasLtMatmulDescSetAttribute", lt.set_product));
    TRY(library.find("cublasLtMatrixLayoutCreate", lt.create_layout));
    TRY(library.find("cublasLtMatmulPreferenceCreate", lt.create_preference));
    TRY(library.find("cublasLtMatmulPreferenceSetAttribute", lt.set_preference));
    TRY(library.find("cublasLtMatmulAlgoGetHeuristic", lt.propose));
    TRY(library.find("cublasLtMatmulAlgoConfigGetAttribute", lt.get_config));
    TRY(library.find("cublasLtMatmul", lt.multiply));
    TRY(library.find("cublasLtGetVersion", lt.version));
    TRY(library.find("cublasLtGetStatusName", lt.status_name));
    return lt;
  }
  Result<Done> check(cublasStatus_t code, const char* call) const {
    if (code == CUBLAS_STATUS_SUCCESS) return Done{};
    return Error(fmt::format("{}: {}", call, status_name(code)));
  }
};

class Product : public Baseline {
 public:
  static Result<std::unique_ptr<Baseline>> create(const judge::Orders& orders,
                                                  const judge::Runtime& runtime, void* stream) {
    auto product = std::make_unique<Product>();
    TRY(product->describe(orders));
    product->runtime_ = &runtime;
    product->stream_ = stream;
    TRY(runtime.check(runtime.allocate(&product->workspace_, kWorkspaceBytes), "cudaMalloc"));
    return std::unique_ptr<Baseline>(std::move(product));
  }

  Result<judge::Call> bind(const judge::DeviceTensors& tensors) override {
    if (!chosen_) TRY(choose(tensors));
    const void *a = tensors.data(0), *b = tensors.data(1);
    void* c = tensors.data(2);
    return judge::Call([this, a, b, c]() -> std::optional<judge::CallFailure> {
      if (multiply(a, b, c, algorithm_)) return std::nullopt;
      return judge::CallFailure{"LibraryError", "cublasLtMatmul failed"};
    });
  }

  judge::Introduction introduce() const override {
    return {{"library", "cuBLASLt"},
            {"version", std::to_string(lt_.version())},
            {"algorithm", algorithm_text_},
            {"precision", "bfloat16 inputs, float32 sums, bfloat16 output"}};
  }

 private:
  Result<Done> describe(const judge::Orders& orders) {
    lt_ = TRY(CublasLt::open());
    TRY(lt_.check(lt_.create(&handle_), "cublasLtCreate"));
    if (orders.tensors.size() != 3 || orders.tensors[0].shape.size() != 2)
      return Error("no product of two matrices");
    const auto m = static_cast<uint64_t>(orders.tensors[0].shape[0]);
    const auto k = static_cast<uint64_t>(orders.tensors[0].shape[1]);
    const auto n = static_cast<uint64_t>(orders.tensors[1].shape[0]);
    // Column-major libraries see the transposes: C^T (n x m) = B (k x n, transposed) * A^T (k x m).
    TRY(lt_.check(lt_.create_product(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                  "cublasLtMatmulDescCreate"));
    const cublasOperation_t transposed = CUBLAS_OP_T;
    TRY(lt_.check(
        lt_.set_product(product_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
        "cublasLtMatmulDescSetAttribute"));
    const auto layout = [this](cublasLtMatrixLayout_t* to, uint64_t rows, uint64_t columns) {
      return lt_.check(
          lt_.create_layout(to, CUDA_R_16BF, rows, columns, static_cast<int64_t>(rows)),
          "cublasLtMatrixLayoutCreate");
    };
    TRY(layout(&b_, k, n));
    TRY(layout(&a_, k, m));
    return layout(&c_, n, m);
  }

  bool multiply(const void* a, const void* b, void* c, const cublasLtMatmulAlgo_t& algorithm) {
    const float one = 1, zero = 0;
    return lt_.multiply(handle_, product_, &one, b, b_, a, a_, &zero, c, c_, c, c_, &algorithm,
                        workspace_, kWorkspaceBytes,
                        static_cast<cudaStream_t>(stream_)) == CUBLAS_STATUS_SUCCESS;
  }

  Result<Done> choose(const judge::DeviceTensors& tensors) {
    cublasLtMatmulPreference_t preference = nullptr;
    TRY(lt_.check(lt_.create_preference(&preference), "cublasLtMatmulPreferenceCreate"));
    TRY(lt_.check(lt_.set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                     &kWorkspaceBytes, sizeof kWorkspaceBytes),
                  "cublasLtMatmulPreferenceSetAttribute"));
    std::vector<cublasLtMatmulHeuristicResult_t> proposals(kProposals);
    int found = 0;
    TRY(lt_.check(lt_.propose(handle_, product_, b_, a_, c_, c_, preference, kProposals,
                              proposals.data(), &found),
                  "cublasLtMatmulAlgoGetHeuristic"));
    judge::Runtime const& runtime = *runtime_;
    Stopwatch watch = TRY(Stopwatch::create(runtime, stream_));
    double best = std::numeric_limits<double>::infinity();
    int best_index = -1;
    for (int i = 0; i < found; ++i) {
      if (proposals[i].state != CUBLAS_STATUS_SUCCESS) continue;
      const double time = watch.measure(
          [&] {
            return multiply(tensors.data(0), tensors.data(1), tensors.data(2), proposals[i].algo);
          },
          kRepetitions);
      if (time >= best) continue;
      best = time;
      best_index = i;
    }
    if (best_index < 0) return Error("cuBLASLt has no algorithm for this product");
    algorithm_ = proposals[best_index].algo;
    chosen_ = true;
    algorithm_text_ = fmt::format(
        "id {} tile {} stages {} cluster {}, heuristic {} of {}, fastest of them",
        config(CUBLASLT_ALGO_CONFIG_ID), config(CUBLASLT_ALGO_CONFIG_TILE_ID),
        config(CUBLASLT_ALGO_CONFIG_STAGES_ID),
        config(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, sizeof(uint16_t)), best_index + 1, found);
    return Done{};
  }

  int64_t config(cublasLtMatmulAlgoConfigAttributes_t attribute, size_t bytes = sizeof(int32_t)) {
    int32_t value = 0;
    size_t written = 0;
    if (lt_.get_config(&algorithm_, attribute, &value, bytes, &written) != CUBLAS_STATUS_SUCCESS)
      return -1;
    return value;
  }

  CublasLt lt_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
  bool chosen_ = false;
  std::string algorithm_text_;
  const judge::Runtime* runtime_ = nullptr;
  void* stream_ = nullptr;
  void* workspace_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Baseline>> open_cublaslt(const judge::Orders& orders,
                                                const judge::Runtime& runtime, void* stream) {
  return Product::create(orders, runtime, stream);
}

}  // namespace weft::baselines

#else

namespace weft::baselines {

Result<std::unique_ptr<Baseline>> open_cublaslt(const judge::Orders&, const judge::Runtime&,
                                                void*) {
  return Error("built without cuBLASLt's header", "install the CUDA toolkit and build again");
}

}  // namespace weft::baselines

#endif
