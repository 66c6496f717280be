// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/mask.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ptxbench/problems/tensor.h"
#include "ptxbench/problems/words.h"

namespace weft::problems {

Result<Mask> mask_of(const Task& task, const TensorSpec& output) {
  const std::string_view rule = task.definition.tag("masked." + output.name);
  if (rule.empty()) return Mask();
  const std::vector<int64_t> shape = task.shape(output);
  Mask mask(static_cast<size_t>(element_count(shape)));
  Axes values = task.axes;
  for (size_t flat = 0; flat < mask.size(); ++flat) {
    const std::vector<int64_t> index = unflatten(static_cast<int64_t>(flat), shape);
    for (size_t i = 0; i < index.size(); ++i) values[fmt::format("i{}", i)] = index[i];
    mask[flat] = TRY(evaluate(rule, values)) != 0;
  }
  return mask;
}

Result<Done> check_finite(const Task& task, const TensorSpec& output,
                          const std::vector<float>& expected, const Mask& mask) {
  // The log-sum-exp of no keys.
  const std::vector<std::string_view> empty = split(task.definition.tag("empty_rows"), ' ');
  const bool infinite_rows =
      std::find(empty.begin(), empty.end(), output.name + "=-inf") != empty.end();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (infinite_rows && expected[i] == -INFINITY) continue;
    if (std::isfinite(expected[i]) || (!mask.empty() && mask[i] != 0)) continue;
    const std::vector<int64_t> index = unflatten(static_cast<int64_t>(i), task.shape(output));
    return Error(fmt::format("the reference of {} is not finite at {}[{}]", task.definition.name,
                             output.name, fmt::join(index, ", ")),
                 fmt::format("a definition whose reference overflows cannot be judged; state what "
                             "is not compared in a tag masked.{}:",
                             output.name));
  }
  return Done{};
}

}  // namespace weft::problems
