// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/inputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "ptxbench/problems/input_kind.h"
#include "ptxbench/problems/random.h"
#include "ptxbench/problems/reference.h"
#include "ptxbench/problems/words.h"

namespace weft::problems {
namespace {

Result<Distribution> distribution_of(const Definition& definition, unsigned trial) {
  const std::vector<std::string_view> names = split(definition.tag("inputs"), ',');
  if (names.empty()) return Distribution::Normal;
  const std::string_view word = names[trial % names.size()];
  if (word == "normal") return Distribution::Normal;
  if (word == "uniform") return Distribution::Uniform;
  if (word == "spiky") return Distribution::Spiky;
  return Error(fmt::format("unknown input distribution: \"{}\" in {}", word, definition.file),
               "the tag inputs: takes normal, uniform, spiky");
}

}  // namespace

Result<std::vector<Tensor>> make_inputs(const Task& task, uint64_t seed, unsigned trial) {
  const Definition& definition = task.definition;
  const Distribution distribution = TRY(distribution_of(definition, trial));
  const std::vector<std::string_view> derived = split(definition.tag("derived"), ',');
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : definition.inputs) {
    if (std::find(derived.begin(), derived.end(), spec.name) != derived.end()) {
      inputs.emplace_back(spec.name, spec.dtype, task.shape(spec));
      continue;
    }
    // Trials differ in the stream, tensors too: equal inputs would hide swapped operands.
    const uint32_t stream = trial * 64 + static_cast<uint32_t>(inputs.size());
    const InputRequest request{task, spec, distribution, seed, stream};
    inputs.push_back(TRY(make_input(request, inputs)));
  }
  if (!derived.empty()) TRY(derive_inputs(task, inputs));
  return inputs;
}

}  // namespace weft::problems
