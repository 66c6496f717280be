// SPDX-License-Identifier: Apache-2.0

// One table of element types; conversions are those of base/floats.h.
#include "ptxbench/problems/tensor.h"

#include <fmt/format.h>

#include "base/floats.h"
#include "base/invariant.h"

namespace weft::problems {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  size_t bytes;
};
constexpr Row kTypes[] = {
    {DType::Float32, "float32", 4},   {DType::Float16, "float16", 2},
    {DType::BFloat16, "bfloat16", 2}, {DType::Float8E4M3, "float8_e4m3fn", 1},
    {DType::Int64, "int64", 8},       {DType::Int32, "int32", 4},
    {DType::Int16, "int16", 2},       {DType::Int8, "int8", 1},
    {DType::Bool, "bool", 1},
};

// values = convert(each of source)
template <typename T, typename Real, typename Convert>
void widen(const Tensor& tensor, int64_t first, std::vector<Real>& values, Convert convert) {
  const auto* source = reinterpret_cast<const T*>(tensor.bytes.data()) + first;
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Real>(convert(source[i]));
}

}  // namespace

std::string_view name(DType dtype) {
  return kTypes[static_cast<size_t>(dtype)].name;
}

std::optional<DType> dtype_named(std::string_view name) {
  for (const Row& row : kTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

size_t byte_size(DType dtype) {
  return kTypes[static_cast<size_t>(dtype)].bytes;
}

Tensor::Tensor(std::string tensor_name, DType element, std::vector<int64_t> extents)
    : name(std::move(tensor_name)), dtype(element), shape(std::move(extents)) {
  bytes.resize(static_cast<size_t>(count()) * byte_size(dtype));
}

int64_t Tensor::count() const {
  return element_count(shape);
}

int64_t element_count(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

std::vector<int64_t> unflatten(int64_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return index;
}

std::string describe(DType dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", name(dtype), fmt::join(shape, ", "));
}

template <typename Real>
std::vector<Real> elements(const Tensor& tensor, int64_t first, int64_t count) {
  INVARIANT(first >= 0 && count >= 0 && first + count <= tensor.count());
  std::vector<Real> values(static_cast<size_t>(count));
  const auto same = [](auto value) { return value; };
  switch (tensor.dtype) {
    case DType::Float32:
      widen<float>(tensor, first, values, same);
      break;
    case DType::BFloat16:
      widen<uint16_t>(tensor, first, values, bf16_to_float);
      break;
    case DType::Float16:
      widen<uint16_t>(tensor, first, values, f16_to_float);
      break;
    case DType::Float8E4M3:
      widen<uint8_t>(tensor, first, values, e4m3_to_float);
      break;
    case DType::Int64:
      widen<int64_t>(tensor, first, values, same);
      break;
    case DType::Int32:
      widen<int32_t>(tensor, first, values, same);
      break;
    case DType::Int16:
      widen<int16_t>(tensor, first, values, same);
      break;
    case DType::Int8:
      widen<int8_t>(tensor, first, values, same);
      break;
    case DType::Bool:
      widen<uint8_t>(tensor, first, values, same);
      break;
  }
  return values;
}

template std::vector<float> elements(const Tensor&, int64_t, int64_t);
template std::vector<double> elements(const Tensor&, int64_t, int64_t);

std::vector<float> to_float(const Tensor& tensor) {
  return elements<float>(tensor, 0, tensor.count());
}

}  // namespace weft::problems
