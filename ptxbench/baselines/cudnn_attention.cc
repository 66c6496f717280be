// SPDX-License-Identifier: Apache-2.0

// Attention by cuDNN. Its heuristics propose plans; each that can be built is timed and the fastest
// is the baseline.
#include <fmt/format.h>

#include "ptxbench/baselines/baseline.h"
#include "ptxbench/baselines/stopwatch.h"

#ifdef WEFT_HAVE_CUDNN

#include "ptxbench/baselines/attention_graph.h"

namespace weft::baselines {
namespace {

constexpr size_t kProposals = 8;
constexpr int kRepetitions = 3;

class CudnnAttention : public Baseline {
 public:
  static Result<std::unique_ptr<Baseline>> create(const judge::Orders& orders,
                                                  const judge::BenchOrders& bench,
                                                  const judge::Runtime& runtime, void* stream) {
    auto made = std::make_unique<CudnnAttention>();
    made->runtime_ = &runtime;
    made->stream_ = stream;
    made->library_ = TRY(Cudnn::open());
    const Cudnn& library = made->library_;
    TRY(library.check(library.create(&made->handle_), "cudnnCreate"));
    TRY(library.check(library.set_stream(made->handle_, static_cast<cudaStream_t>(stream)),
                      "cudnnSetStream"));
    const std::vector<int64_t>& q = orders.tensors[0].shape;
    if (q.size() != 4) return Error("no attention with four axes");
    if (orders.tensors[1].shape != q)
      return Error("no baseline for keys of another number or length than the queries");
    const AttentionShape shape{q[0], q[2], q[1], q[3], bench.causal};
    made->backward_ = bench.family == "mha_bwd";
    made->graph_ = std::make_unique<AttentionGraph>(
        TRY(made->backward_ ? attention_backward_graph(library, made->handle_, shape)
                            : attention_forward_graph(library, made->handle_, shape)));
    made->plans_ = TRY(made->graph_->graph.plans(kProposals));
    int64_t workspace = 0;
    for (const CudnnGraph::Plan& plan : made->plans_)
      workspace = std::max(workspace, plan.workspace_bytes);
    TRY(made->reserve(made->workspace_, std::max<int64_t>(workspace, 16)));
    for (const int64_t bytes : made->graph_->scratch_bytes) {
      made->scratch_.push_back(nullptr);
      TRY(made->reserve(made->scratch_.back(), bytes));
    }
    return std::unique_ptr<Baseline>(std::move(made));
  }

  Result<judge::Call> bind(const judge::DeviceTensors& tensors) override {
    std::map<int64_t, void*> pointers;
    for (size_t i = 0; i < graph_->ids.size(); ++i) pointers[graph_->ids[i]] = tensors.data(i);
    for (size_t i = 0; i < scratch_.size(); ++i) pointers[graph_->scratch_ids[i]] = scratch_[i];
    const cudnnBackendDescriptor_t pack = TRY(graph_->graph.pack(pointers, workspace_));
    if (chosen_ < 0) TRY(choose(pack));
    return judge::Call([this, pack]() -> std::optional<judge::CallFailure> {
      const Result<Done> ran = graph_->graph.run(plans_[static_cast<size_t>(chosen_)], pack);
      if (ran.ok()) return std::nullopt;
      return judge::CallFailure{"LibraryError", ran.error().message()};
    });
  }

  judge::Introduction introduce() const override {
    return {{"library", "cuDNN"},
            {"version", std::to_string(library_.version())},
            {"algorithm", algorithm_text_},
            {"precision", "bfloat16 inputs, float32 sums, bfloat16 outputs"}};
  }

 private:
  Result<Done> reserve(void*& address, int64_t bytes) {
    return runtime_->check(runtime_->allocate(&address, static_cast<size_t>(bytes)), "cudaMalloc");
  }

  Result<Done> choose(cudnnBackendDescriptor_t pack) {
    Stopwatch watch = TRY(Stopwatch::create(*runtime_, stream_));
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < plans_.size(); ++i) {
      const double time =
          watch.measure([&] { return graph_->graph.run(plans_[i], pack).ok(); }, kRepetitions);
      if (time >= best) continue;
      best = time;
      chosen_ = static_cast<int>(i);
    }
    if (chosen_ < 0) return Error("no plan of cuDNN runs");
    algorithm_text_ =
        fmt::format("graph of {} attention, engine {}, plan {} of {}, fastest of them",
                    backward_ ? "backward" : "forward", plans_[static_cast<size_t>(chosen_)].engine,
                    chosen_ + 1, plans_.size());
    return Done{};
  }

  Cudnn library_;
  cudnnHandle_t handle_ = nullptr;
  std::unique_ptr<AttentionGraph> graph_;
  std::vector<CudnnGraph::Plan> plans_;
  std::vector<void*> scratch_;
  void* workspace_ = nullptr;
  int chosen_ = -1;
  bool backward_ = false;
  std::string algorithm_text_;
  const judge::Runtime* runtime_ = nullptr;
  void* stream_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Baseline>> open_cudnn_attention(const judge::Orders& orders,
                                                       const judge::BenchOrders& bench,
                                                       const judge::Runtime& runtime,
                                                       void* stream) {
  return CudnnAttention::create(orders, bench, runtime, stream);
}

}  // namespace weft::baselines

#else

namespace weft::baselines {

Result<std::unique_ptr<Baseline>> open_cudnn_attention(const judge::Orders&,
                                                       const judge::BenchOrders&,
                                                       const judge::Runtime&, void*) {
  return Error("built without cuDNN's headers", "install cuDNN 9 and build again");
}

}  // namespace weft::baselines

#endif
