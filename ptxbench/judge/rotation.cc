// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/rotation.h"

#include <algorithm>
#include <cstring>

namespace weft::judge {
namespace {

std::vector<std::string> names_of(std::string_view family) {
  if (family == "gemm") return {"M", "N"};
  if (family == "mha_with_lse" || family == "mha_bwd" || family == "fp8_mha_with_lse")
    return {"B", "H"};
  if (family == "fp8_gemm") return {"m"};
  if (family == "gdn_decode") return {"batch_size"};
  return {};
}

}  // namespace

std::vector<RotationAxis> rotation_axes(const problems::Task& task) {
  std::vector<RotationAxis> axes;
  for (const std::string& name : names_of(task.definition.tag("family"))) {
    RotationAxis axis{name, task.axis(name), {}};
    for (const auto* specs : {&task.definition.inputs, &task.definition.outputs}) {
      for (const problems::TensorSpec& spec : *specs) {
        const auto found = std::find(spec.shape.begin(), spec.shape.end(), name);
        axis.positions.push_back(
            found == spec.shape.end() ? -1 : static_cast<int>(found - spec.shape.begin()));
      }
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::string rotated(const std::string& bytes, const std::vector<int64_t>& shape, int position,
                    int64_t amount) {
  const auto axis = static_cast<size_t>(position);
  size_t rows = 1;
  for (size_t i = 0; i < axis; ++i) rows *= static_cast<size_t>(shape[i]);
  const auto extent = static_cast<size_t>(shape[axis]);
  const size_t pitch = bytes.size() / rows;
  const size_t shift = pitch / extent * (static_cast<size_t>(amount) % extent);
  std::string turned(bytes.size(), '\0');
  for (size_t row = 0; row < rows; ++row) {
    const char* from = bytes.data() + row * pitch;
    char* to = turned.data() + row * pitch;
    std::memcpy(to + shift, from, pitch - shift);
    std::memcpy(to, from + (pitch - shift), shift);
  }
  return turned;
}

}  // namespace weft::judge
