// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/rounded_tensor.h"

#include <cstring>

#include "base/floats.h"
#include "base/invariant.h"

namespace weft::problems {

bool is_floating(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16 ||
         dtype == DType::Float8E4M3;
}

Tensor from_float(std::string name, DType dtype, std::vector<int64_t> shape,
                  const std::vector<float>& values) {
  INVARIANT(is_floating(dtype));
  Tensor tensor(std::move(name), dtype, std::move(shape));
  INVARIANT(tensor.count() == static_cast<int64_t>(values.size()));
  std::byte* bytes = tensor.bytes.data();
  const auto store = [&](auto convert) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto stored = convert(values[i]);
      std::memcpy(bytes + i * sizeof stored, &stored, sizeof stored);
    }
  };
  if (dtype == DType::Float32) store([](float value) { return value; });
  if (dtype == DType::BFloat16) store(float_to_bf16);
  if (dtype == DType::Float16) store(float_to_f16);
  if (dtype == DType::Float8E4M3) store(float_to_e4m3);
  return tensor;
}

}  // namespace weft::problems
