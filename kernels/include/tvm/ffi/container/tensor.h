// SPDX-License-Identifier: Apache-2.0

// TensorView: what a candidate's host function receives for each tensor. It owns nothing; the
// memory and the shape belong to the host for the length of the call.
#pragma once

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/error.h>

#include <cstddef>
#include <vector>

namespace tvm {
namespace ffi {

// A read-only run of dimensions or strides.
class ShapeView {
 public:
  ShapeView() = default;
  ShapeView(const int64_t* data, size_t size) : data_(data), size_(size) {}
  const int64_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  int64_t operator[](size_t i) const { return data_[i]; }
  int64_t at(size_t i) const {
    TVM_FFI_CHECK(i < size_, IndexError) << "index " << i << " of a shape of " << size_;
    return data_[i];
  }
  int64_t front() const { return at(0); }
  int64_t back() const { return at(size_ - 1); }
  int64_t Product() const {
    int64_t product = 1;
    for (int64_t dimension : *this) product *= dimension;
    return product;
  }

 private:
  const int64_t* data_ = nullptr;
  size_t size_ = 0;
};

class TensorView {
 public:
  explicit TensorView(const DLTensor* tensor) : tensor_(*tensor) {
    if (tensor_.strides != nullptr || tensor_.ndim == 0) return;
    // DLPack allows null strides for a compact tensor. Candidates always see real ones.
    compact_strides_.resize(static_cast<size_t>(tensor_.ndim));
    int64_t stride = 1;
    for (int i = tensor_.ndim - 1; i >= 0; --i) {
      compact_strides_[static_cast<size_t>(i)] = stride;
      stride *= tensor_.shape[i];
    }
  }

  // The base of the allocation; the first element lies byte_offset() behind it.
  void* data_ptr() const { return tensor_.data; }
  DLDevice device() const { return tensor_.device; }
  DLDataType dtype() const { return tensor_.dtype; }
  int32_t ndim() const { return tensor_.ndim; }
  uint64_t byte_offset() const { return tensor_.byte_offset; }
  int64_t numel() const { return shape().Product(); }

  // Negative indices count from the last dimension.
  int64_t size(int64_t i) const { return tensor_.shape[checked(i)]; }
  int64_t stride(int64_t i) const { return strides()[static_cast<size_t>(checked(i))]; }

  ShapeView shape() const { return {tensor_.shape, static_cast<size_t>(tensor_.ndim)}; }
  ShapeView sizes() const { return shape(); }
  ShapeView strides() const {
    const int64_t* data = tensor_.strides ? tensor_.strides : compact_strides_.data();
    return {data, static_cast<size_t>(tensor_.ndim)};
  }

  // Row-major without gaps. The stride of a dimension of one element does not matter.
  bool is_contiguous() const { return IsContiguous(); }
  bool IsContiguous() const {
    int64_t expected = 1;
    const ShapeView steps = strides();
    for (int i = tensor_.ndim - 1; i >= 0; --i) {
      const int64_t extent = tensor_.shape[i];
      if (extent != 1 && steps[static_cast<size_t>(i)] != expected) return false;
      expected *= extent;
    }
    return true;
  }

 private:
  int64_t checked(int64_t i) const {
    const int64_t index = i < 0 ? i + tensor_.ndim : i;
    TVM_FFI_CHECK(index >= 0 && index < tensor_.ndim, IndexError)
        << "dimension " << i << " of a tensor of " << tensor_.ndim;
    return index;
  }

  DLTensor tensor_;
  std::vector<int64_t> compact_strides_;
};

// Public kernels also name the owning type. Over this ABI the host owns all tensors, so it is a
// view.
using Tensor = TensorView;

}  // namespace ffi
}  // namespace tvm
