// SPDX-License-Identifier: Apache-2.0

// A graph of operations for cuDNN's backend, built node by node: tensors, products, pointwise
// operations and reductions, then the fastest plan that the library's heuristics offer. The library
// recognises whole patterns (attention is one) and runs each as one or a few kernels.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <cudnn.h>

#include "base/result.h"

namespace weft::baselines {

struct Cudnn {
  decltype(&cudnnCreate) create = nullptr;
  decltype(&cudnnSetStream) set_stream = nullptr;
  decltype(&cudnnGetVersion) version = nullptr;
  decltype(&cudnnGetErrorString) status_text = nullptr;
  decltype(&cudnnGetLastErrorString) last_text = nullptr;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor = nullptr;
  decltype(&cudnnBackendSetAttribute) set = nullptr;
  decltype(&cudnnBackendGetAttribute) get = nullptr;
  decltype(&cudnnBackendFinalize) finalize = nullptr;
  decltype(&cudnnBackendExecute) execute = nullptr;

  static Result<Cudnn> open();
  Result<Done> check(cudnnStatus_t code, const char* call) const;
};

using Extents = std::array<int64_t, 4>;  // batch, heads, rows, columns

struct GraphTensor {
  int64_t id = 0;
  cudnnBackendDescriptor_t descriptor = nullptr;
  Extents extents{}, strides{};
};

class CudnnGraph {
 public:
  static Result<CudnnGraph> create(const Cudnn& library, cudnnHandle_t handle);

  // Memory that the caller passes at execution.
  Result<GraphTensor> real(cudnnDataType_t type, Extents extents, Extents strides);
  // Lives inside a kernel only; row-major unless strides are given.
  Result<GraphTensor> inner(cudnnDataType_t type, Extents extents);
  Result<GraphTensor> inner(cudnnDataType_t type, Extents extents, Extents strides);
  // A number that is passed by value.
  Result<GraphTensor> number(float value);

  Result<Done> product(const GraphTensor& a, const GraphTensor& b, const GraphTensor& to);
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    const GraphTensor* x;
    const GraphTensor* b = nullptr;
    const GraphTensor* t = nullptr;
    int64_t axis = -1;
    cudnnDataType_t math = CUDNN_DATA_FLOAT;
  };
  Result<Done> pointwise(const Pointwise& operation, const GraphTensor& to);
  Result<Done> reduce(cudnnReduceTensorOp_t mode, const GraphTensor& x, const GraphTensor& to);
  Result<Done> reshape(const GraphTensor& x, const GraphTensor& to);

  struct Plan {
    cudnnBackendDescriptor_t descriptor = nullptr;
    int64_t engine = -1, workspace_bytes = 0;
  };
  // Every plan that the heuristics offer and that can be built, best first by their opinion.
  Result<std::vector<Plan>> plans(size_t most);

  // Addresses by tensor id; the numbers are added. This object must outlive the pack.
  Result<cudnnBackendDescriptor_t> pack(const std::map<int64_t, void*>& pointers, void* workspace);
  Result<Done> run(const Plan& plan, cudnnBackendDescriptor_t pack) const;

 private:
  Result<cudnnBackendDescriptor_t> descriptor(cudnnBackendDescriptorType_t type);
  Result<Done> set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                   cudnnBackendAttributeType_t type, int64_t count, const void* values);
  Result<Done> finalize(cudnnBackendDescriptor_t descriptor);
  Result<GraphTensor> tensor(cudnnDataType_t type, Extents extents, Extents strides, bool inner,
                             bool by_value);

  const Cudnn* library_ = nullptr;
  cudnnHandle_t handle_ = nullptr;
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::map<int64_t, float> numbers_;
  int64_t next_id_ = 1;
};

}  // namespace weft::baselines
