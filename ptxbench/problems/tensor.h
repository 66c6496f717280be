// SPDX-License-Identifier: Apache-2.0

// Element types and tensors in host memory: contiguous, row-major bytes with a shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::problems {

enum class DType : uint8_t {
  Float32,
  Float16,
  BFloat16,
  Float8E4M3,
  Int64,
  Int32,
  Int16,
  Int8,
  Bool
};

std::string_view name(DType dtype);  // "bfloat16", as the trace schema spells it
std::optional<DType> dtype_named(std::string_view name);
size_t byte_size(DType dtype);

struct Tensor {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  Tensor() = default;
  // Zero-filled.
  Tensor(std::string tensor_name, DType element, std::vector<int64_t> extents);

  int64_t count() const;
};

int64_t element_count(const std::vector<int64_t>& shape);
// The index of an element in row-major order.
std::vector<int64_t> unflatten(int64_t flat, const std::vector<int64_t>& shape);

// "bfloat16[256, 7168]"
std::string describe(DType dtype, const std::vector<int64_t>& shape);

// All elements as float32: exact for the floating types of 32 bits or less.
std::vector<float> to_float(const Tensor& tensor);

// Elements first ... first + count - 1 in row-major order, as float or double.
template <typename Real>
std::vector<Real> elements(const Tensor& tensor, int64_t first, int64_t count);

}  // namespace weft::problems
