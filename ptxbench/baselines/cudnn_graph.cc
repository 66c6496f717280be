// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/baselines/cudnn_graph.h"

#include <fmt/format.h>

#include "base/vendor_library.h"

namespace weft::baselines {
namespace {

constexpr int64_t kAlignmentBytes = 16;

Extents row_major(const Extents& extents) {
  return {extents[1] * extents[2] * extents[3], extents[2] * extents[3], extents[3], 1};
}

}  // namespace

Result<Cudnn> Cudnn::open() {
  const VendorLibrary library =
      TRY(VendorLibrary::open({"libcudnn.so.9", "libcudnn.so"}, VendorLibrary::Symbols::Global));
  Cudnn cudnn;
  TRY(library.find("cudnnCreate", cudnn.create));
  TRY(library.find("cudnnSetStream", cudnn.set_stream));
  TRY(library.find("cudnnGetVersion", cudnn.version));
  TRY(library.find("cudnnGetErrorString", cudnn.status_text));
  TRY(library.find("cudnnGetLastErrorString", cudnn.last_text));
  TRY(library.find("cudnnBackendCreateDescriptor", cudnn.create_descriptor));
  TRY(library.find("cudnnBackendSetAttribute", cudnn.set));
  TRY(library.find("cudnnBackendGetAttribute", cudnn.get));
  TRY(library.find("cudnnBackendFinalize", cudnn.finalize));
  TRY(library.find("cudnnBackendExecute", cudnn.execute));
  return cudnn;
}

Result<Done> Cudnn::check(cudnnStatus_t code, const char* call) const {
  if (code == CUDNN_STATUS_SUCCESS) return Done{};
  char detail[512] = {};
  last_text(detail, sizeof detail);
  return Error(fmt::format("{}: {} {}", call, status_text(code), detail));
}

Result<CudnnGraph> CudnnGraph::create(const Cudnn& library, cudnnHandle_t handle) {
  CudnnGraph graph;
  graph.library_ = &library;
  graph.handle_ = handle;
  return graph;
}

Result<cudnnBackendDescriptor_t> CudnnGraph::descriptor(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t made = nullptr;
  TRY(library_->check(library_->create_descriptor(type, &made), "cudnnBackendCreateDescriptor"));
  return made;
}

Result<Done> CudnnGraph::set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                             cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  return library_->check(library_->set(descriptor, name, type, count, values),
                         "cudnnBackendSetAttribute");
}

Result<Done> CudnnGraph::finalize(cudnnBackendDescriptor_t descriptor) {
  return library_->check(library_->finalize(descriptor), "cudnnBackendFinalize");
}

Result<GraphTensor> CudnnGraph::tensor(cudnnDataType_t type, Extents extents, Extents strides,
                                       bool inner, bool by_value) {
  GraphTensor made{next_id_++, TRY(descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR)), extents, strides};
  TRY(set(made.descriptor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
  TRY(set(made.descriptor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, extents.data()));
  TRY(set(made.descriptor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides.data()));
  TRY(set(made.descriptor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &made.id));
  TRY(set(made.descriptor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
          &kAlignmentBytes));
  TRY(set(made.descriptor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &inner));
  TRY(set(made.descriptor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value));
  TRY(finalize(made.descriptor));
  return made;
}

Result<GraphTensor> CudnnGraph::real(cudnnDataType_t type, Extents extents, Extents strides) {
  return tensor(type, extents, strides, false, false);
}
Result<GraphTensor> CudnnGraph::inner(cudnnDataType_t type, Extents extents) {
  return tensor(type, extents, row_major(extents), true, false);
}
Result<GraphTensor> CudnnGraph::inner(cudnnDataType_t type, Extents extents, Extents strides) {
  return tensor(type, extents, strides, true, false);
}
Result<GraphTensor> CudnnGraph::number(float value) {
  const GraphTensor made = TRY(tensor(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, false, true));
  numbers_[made.id] = value;
  return made;
}

Result<Done> CudnnGraph::product(const GraphTensor& a, const GraphTensor& b,
                                 const GraphTensor& to) {
  const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
  const cudnnBackendDescriptor_t kind = TRY(descriptor(CUDNN_BACKEND_MATMUL_DESCRIPTOR));
  TRY(set(kind, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums));
  TRY(finalize(kind));
  const cudnnBackendDescriptor_t made = TRY(descriptor(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR));
  constexpr auto kDescriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  TRY(set(made, CUDNN_ATTR_OPERATION_MATMUL_ADESC, kDescriptor, 1, &a.descriptor));
  TRY(set(made, CUDNN_ATTR_OPERATION_MATMUL_BDESC, kDescriptor, 1, &b.descriptor));
  TRY(set(made, CUDNN_ATTR_OPERATION_MATMUL_CDESC, kDescriptor, 1, &to.descriptor));
  TRY(set(made, CUDNN_ATTR_OPERATION_MATMUL_DESC, kDescriptor, 1, &kind));
  TRY(finalize(made));
  operations_.push_back(made);
  return Done{};
}

Result<Done> CudnnGraph::pointwise(const Pointwise& operation, const GraphTensor& to) {
  const cudnnBackendDescriptor_t kind = TRY(descriptor(CUDNN_BACKEND_POINTWISE_DESCRIPTOR));
  TRY(set(kind, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &operation.mode));
  TRY(set(kind, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &operation.math));
  if (operation.axis >= 0)
    TRY(set(kind, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &operation.axis));
  TRY(finalize(kind));
  const cudnnBackendDescriptor_t made =
      TRY(descriptor(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR));
  constexpr auto kDescriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  TRY(set(made, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kDescriptor, 1, &kind));
  TRY(set(made, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, kDescriptor, 1, &operation.x->descriptor));
  if (operation.b != nullptr)
    TRY(set(made, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, kDescriptor, 1, &operation.b->descriptor));
  if (operation.t != nullptr)
    TRY(set(made, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, kDescriptor, 1, &operation.t->descriptor));
  TRY(set(made, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, kDescriptor, 1, &to.descriptor));
  TRY(finalize(made));
  operations_.push_back(made);
  return Done{};
}

Result<Done> CudnnGraph::reduce(cudnnReduceTensorOp_t mode, const GraphTensor& x,
                                const GraphTensor& to) {
  const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
  const cudnnBackendDescriptor_t kind = TRY(descriptor(CUDNN_BACKEND_REDUCTION_DESCRIPTOR));
  TRY(set(kind, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums));
  TRY(set(kind, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &mode));
  TRY(finalize(kind));
  const cudnnBackendDescriptor_t made =
      TRY(descriptor(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR));
  constexpr auto kDescriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  TRY(set(made, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, kDescriptor, 1, &x.descriptor));
  TRY(set(made, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, kDescriptor, 1, &to.descriptor));
  TRY(set(made, CUDNN_ATTR_OPERATION_REDUCTION_DESC, kDescriptor, 1, &kind));
  TRY(finalize(made));
  operations_.push_back(made);
  return Done{};
}

Result<Done> CudnnGraph::reshape(const GraphTensor& x, const GraphTensor& to) {
  const cudnnBackendDescriptor_t made = TRY(descriptor(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR));
  constexpr auto kDescriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  TRY(set(made, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, kDescriptor, 1, &x.descriptor));
  TRY(set(made, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, kDescriptor, 1, &to.descriptor));
  TRY(finalize(made));
  operations_.push_back(made);
  return Done{};
}

Result<std::vector<CudnnGraph::Plan>> CudnnGraph::plans(size_t most) {
  const cudnnBackendDescriptor_t graph = TRY(descriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
  TRY(set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle_));
  TRY(set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
          static_cast<int64_t>(operations_.size()), operations_.data()));
  TRY(finalize(graph));
  const cudnnBackendDescriptor_t opinion = TRY(descriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
  const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
  TRY(set(opinion, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
          &graph));
  TRY(set(opinion, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode));
  TRY(finalize(opinion));
  std::vector<cudnnBackendDescriptor_t> configs(most);
  for (cudnnBackendDescriptor_t& config : configs)
    config = TRY(descriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  int64_t found = 0;
  TRY(library_->check(
      library_->get(opinion, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                    static_cast<int64_t>(most), &found, configs.data()),
      "cudnnBackendGetAttribute"));
  std::vector<Plan> built;
  std::string refusal = "the heuristics offer nothing";
  for (int64_t i = 0; i < found; ++i) {
    Plan plan;
    plan.descriptor = TRY(descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
    TRY(set(plan.descriptor, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle_));
    TRY(set(plan.descriptor, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            1, &configs[static_cast<size_t>(i)]));
    const Result<Done> finished = finalize(plan.descriptor);
    if (!finished.ok()) {
      refusal = finished.error().message();
      continue;
    }
    int64_t count = 0;
    TRY(library_->check(library_->get(plan.descriptor, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                      CUDNN_TYPE_INT64, 1, &count, &plan.workspace_bytes),
                        "cudnnBackendGetAttribute"));
    cudnnBackendDescriptor_t engine = TRY(descriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR));
    if (library_->get(configs[static_cast<size_t>(i)], CUDNN_ATTR_ENGINECFG_ENGINE,
                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine) == CUDNN_STATUS_SUCCESS)
      library_->get(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count,
                    &plan.engine);
    built.push_back(plan);
  }
  if (built.empty()) return Error("cuDNN has no plan for this graph: " + refusal);
  return built;
}

Result<cudnnBackendDescriptor_t> CudnnGraph::pack(const std::map<int64_t, void*>& pointers,
                                                  void* workspace) {
  std::vector<int64_t> ids;
  std::vector<void*> addresses;
  for (const auto& [id, address] : pointers) {
    ids.push_back(id);
    addresses.push_back(address);
  }
  for (auto& [id, value] : numbers_) {
    ids.push_back(id);
    addresses.push_back(&value);
  }
  const cudnnBackendDescriptor_t made = TRY(descriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  const auto count = static_cast<int64_t>(ids.size());
  TRY(set(made, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids.data()));
  TRY(set(made, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count,
          addresses.data()));
  TRY(set(made, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace));
  TRY(finalize(made));
  return made;
}

Result<Done> CudnnGraph::run(const Plan& plan, cudnnBackendDescriptor_t pack) const {
  return library_->check(library_->execute(handle_, plan.descriptor, pack), "cudnnBackendExecute");
}

}  // namespace weft::baselines
