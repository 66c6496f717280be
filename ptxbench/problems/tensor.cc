// SPDX-License-Identifier: Apache-2.0

// One table of element types; conversions are those of base/floats.h.
#include "ptxbench/problems/tensor.h"

#include <cstring>

#include <fmt/format.h>

#include "base/floats.h"

namespace weft::problems {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  size_t bytes;
};
constexpr Row kTypes[] = {
    {DType::Float32, "float32", 4},   {DType::Float16, "float16", 2},
    {DType::BFloat16, "bfloat16", 2}, {DType::Int64, "int64", 8},
    {DType::Int32, "int32", 4},       {DType::Int16, "int16", 2},
    {DType::Int8, "int8", 1},         {DType::Bool, "bool", 1},
};

template <typename T>
void widen(const Tensor& tensor, std::vector<float>& values) {
  const auto* source = reinterpret_cast<const T*>(tensor.bytes.data());
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(source[i]);
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
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

std::string describe(DType dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", name(dtype), fmt::join(shape, ", "));
}

std::vector<float> to_float(const Tensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.count()));
  const auto* half = reinterpret_cast<const uint16_t*>(tensor.bytes.data());
  switch (tensor.dtype) {
    case DType::Float32:
      if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
      break;
    case DType::BFloat16:
      for (size_t i = 0; i < values.size(); ++i) values[i] = bf16_to_float(half[i]);
      break;
    case DType::Float16:
      for (size_t i = 0; i < values.size(); ++i) values[i] = f16_to_float(half[i]);
      break;
    case DType::Int64:
      widen<int64_t>(tensor, values);
      break;
    case DType::Int32:
      widen<int32_t>(tensor, values);
      break;
    case DType::Int16:
      widen<int16_t>(tensor, values);
      break;
    case DType::Int8:
      widen<int8_t>(tensor, values);
      break;
    case DType::Bool:
      widen<uint8_t>(tensor, values);
      break;
  }
  return values;
}

}  // namespace weft::problems
