// SPDX-License-Identifier: Apache-2.0

// Tensors are filled in pieces by all workers; the pieces do not change the values.
#include "ptxbench/problems/inputs.h"

#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/floats.h"
#include "base/parallel.h"
#include "ptxbench/problems/random.h"
#include "ptxbench/problems/reference.h"
#include "ptxbench/problems/rounded_tensor.h"

namespace weft::problems {
namespace {

constexpr int64_t kPiece = int64_t{1} << 16;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    words.push_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return words;
}

Result<Distribution> distribution_of(const Definition& definition, unsigned trial) {
  const std::vector<std::string_view> names = split(definition.tag("inputs"));
  if (names.empty()) return Distribution::Normal;
  const std::string_view word = names[trial % names.size()];
  if (word == "normal") return Distribution::Normal;
  if (word == "uniform") return Distribution::Uniform;
  if (word == "spiky") return Distribution::Spiky;
  return Error(fmt::format("unknown input distribution: \"{}\" in {}", word, definition.file),
               "the tag inputs: takes normal, uniform, spiky");
}

Result<Tensor> random_tensor(const TensorSpec& spec, std::vector<int64_t> shape,
                             Distribution distribution, uint64_t seed, uint32_t stream) {
  if (spec.dtype != DType::BFloat16 && spec.dtype != DType::Float32) {
    return Error(fmt::format("random inputs of this type are not supported: {} ({})",
                             name(spec.dtype), spec.name),
                 "random inputs are bfloat16 or float32");
  }
  Tensor tensor(spec.name, spec.dtype, std::move(shape));
  const int64_t count = tensor.count();
  each_in_parallel((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t first = piece * kPiece;
    std::vector<float> values(static_cast<size_t>(std::min(kPiece, count - first)));
    fill(values, distribution, seed, stream, static_cast<uint64_t>(first));
    if (spec.dtype == DType::Float32) {
      std::memcpy(tensor.bytes.data() + first * 4, values.data(), values.size() * 4);
      return;
    }
    auto* target = reinterpret_cast<uint16_t*>(tensor.bytes.data()) + first;
    for (size_t i = 0; i < values.size(); ++i) target[i] = float_to_bf16(values[i]);
  });
  return tensor;
}

// The tag "input.<name>:constant VALUE" gives every element the same value.
Result<Tensor> constant_tensor(const TensorSpec& spec, std::vector<int64_t> shape,
                               std::string_view words, const Definition& definition) {
  constexpr std::string_view kKind = "constant ";
  const std::string_view digits =
      words.starts_with(kKind) ? words.substr(kKind.size()) : std::string_view();
  float value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || code != std::errc() || end != digits.data() + digits.size() ||
      !is_floating(spec.dtype)) {
    return Error(
        fmt::format("cannot make input {} of {}: \"{}\"", spec.name, definition.name, words),
        "the tag input.<name>: takes constant VALUE, for a floating type");
  }
  const std::vector<float> values(static_cast<size_t>(element_count(shape)), value);
  return from_float(spec.name, spec.dtype, std::move(shape), values);
}

}  // namespace

Result<std::vector<Tensor>> make_inputs(const Task& task, uint64_t seed, unsigned trial) {
  const Definition& definition = task.definition;
  const Distribution distribution = TRY(distribution_of(definition, trial));
  const std::vector<std::string_view> derived = split(definition.tag("derived"));
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : definition.inputs) {
    if (std::find(derived.begin(), derived.end(), spec.name) != derived.end()) {
      inputs.emplace_back(spec.name, spec.dtype, task.shape(spec));
      continue;
    }
    if (const std::string_view kind = definition.tag("input." + spec.name); !kind.empty()) {
      inputs.push_back(TRY(constant_tensor(spec, task.shape(spec), kind, definition)));
      continue;
    }
    // Trials differ in the stream, tensors too: equal inputs would hide swapped operands.
    const uint32_t stream = trial * 64 + static_cast<uint32_t>(inputs.size());
    inputs.push_back(TRY(random_tensor(spec, task.shape(spec), distribution, seed, stream)));
  }
  if (!derived.empty()) TRY(derive_inputs(task, inputs));
  return inputs;
}

}  // namespace weft::problems
