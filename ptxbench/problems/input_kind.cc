// SPDX-License-Identifier: Apache-2.0

// Tensors are filled in pieces by all workers; the pieces do not change the values.
#include "ptxbench/problems/input_kind.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/floats.h"
#include "base/parallel.h"
#include "ptxbench/problems/rounded_tensor.h"
#include "ptxbench/problems/words.h"

namespace weft::problems {
namespace {

constexpr int64_t kPiece = int64_t{1} << 16;
constexpr float kLargestE4M3 = 448;
using Words = std::vector<std::string_view>;

Error bad_tag(const InputRequest& request) {
  return Error(fmt::format("cannot make input {} of {}: \"{}\"", request.spec.name,
                           request.task.definition.name,
                           request.task.definition.tag("input." + request.spec.name)),
               "the kinds are described in ptxbench/problems/input_kind.h");
}

std::optional<Distribution> distribution_named(std::string_view word) {
  if (word == "normal") return Distribution::Normal;
  if (word == "uniform") return Distribution::Uniform;
  if (word == "spiky") return Distribution::Spiky;
  return std::nullopt;
}

Result<double> number(const InputRequest& request, std::string_view word) {
  double value = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc() || end != word.data() + word.size()) return bad_tag(request);
  return value;
}

Result<int64_t> axis(const InputRequest& request, std::string_view name) {
  if (request.task.definition.find_axis(name) == nullptr) return bad_tag(request);
  return request.task.axis(name);
}

Result<const Tensor*> find(const InputRequest& request, const std::vector<Tensor>& earlier,
                           std::string_view name) {
  for (const Tensor& tensor : earlier) {
    if (tensor.name == name) return &tensor;
  }
  return bad_tag(request);
}

std::vector<float> random_values(const InputRequest& request, Distribution distribution,
                                 uint32_t stream, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  each_in_parallel((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t first = piece * kPiece;
    const std::span<float> part(values.data() + first,
                                static_cast<size_t>(std::min(kPiece, count - first)));
    fill(part, distribution, request.seed, stream, static_cast<uint64_t>(first));
  });
  return values;
}

Result<Tensor> floating(const InputRequest& request, const std::vector<float>& values) {
  if (!is_floating(request.spec.dtype)) {
    return Error(fmt::format("random inputs of this type are not supported: {} ({})",
                             name(request.spec.dtype), request.spec.name),
                 "say how it is made in a tag input.<name>: (ptxbench/problems/input_kind.h)");
  }
  return from_float(request.spec.name, request.spec.dtype, request.task.shape(request.spec),
                    values);
}

Result<Tensor> integers(const InputRequest& request, const std::vector<int64_t>& values) {
  Tensor tensor(request.spec.name, request.spec.dtype, request.task.shape(request.spec));
  if (tensor.count() != static_cast<int64_t>(values.size()) ||
      (tensor.dtype != DType::Int32 && tensor.dtype != DType::Int64))
    return bad_tag(request);
  const size_t size = byte_size(tensor.dtype);
  // Little-endian, so the low bytes come first.
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(tensor.bytes.data() + i * size, &values[i], size);
  return tensor;
}

std::vector<int64_t> stored(const Tensor& tensor) {
  std::vector<int64_t> values;
  for (const double value : elements<double>(tensor, 0, tensor.count()))
    values.push_back(static_cast<int64_t>(value));
  return values;
}

// Whole numbers below `limit`, for choices of which nothing depends on the last bit of evenness.
class Choices {
 public:
  Choices(uint64_t seed, uint32_t stream)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, stream_(stream) {}
  int64_t below(int64_t limit) {
    const Quad bits = philox({next_++, 0, stream_, 0x6b696e64}, key_);
    const uint64_t wide = uint64_t{bits[0]} << 32 | bits[1];
    return static_cast<int64_t>(wide % static_cast<uint64_t>(limit));
  }

 private:
  std::array<uint32_t, 2> key_;
  uint32_t stream_, next_ = 0;
};

// `count` lengths, each at least as long as `least`, that add up to `total`.
Result<std::vector<int64_t>> lengths(const InputRequest& request, std::vector<int64_t> least,
                                     int64_t total) {
  const int64_t spare = total - std::accumulate(least.begin(), least.end(), int64_t{0});
  if (spare < 0) {
    return Error(fmt::format("input {} of {}: {} sequences do not fit in a total of {}",
                             request.spec.name, request.task.definition.name, least.size(), total),
                 "ask for a larger total with --set");
  }
  // Random cuts of what is left over.
  Choices choices(request.seed, request.stream);
  std::vector<int64_t> cuts{0, spare};
  for (size_t i = 1; i < least.size(); ++i) cuts.push_back(choices.below(spare + 1));
  std::sort(cuts.begin(), cuts.end());
  for (size_t i = 0; i < least.size(); ++i) least[i] += cuts[i + 1] - cuts[i];
  return least;
}

Result<Tensor> offsets(const InputRequest& request, std::vector<int64_t> least, int64_t total) {
  std::vector<int64_t> sums{0};
  for (const int64_t length : TRY(lengths(request, std::move(least), total)))
    sums.push_back(sums.back() + length);
  return integers(request, sums);
}

// Some sequences, but never the last: what lies at the end of a tensor has to matter (lint.cc).
std::vector<bool> choose_empty(const InputRequest& request, size_t sequences) {
  std::vector<bool> empty(sequences);
  if (sequences < 2) return empty;
  // A key of its own: the stream itself gives the lengths.
  Choices choices(request.seed ^ 0x656d7074, request.stream);
  for (size_t i = 0; i < sequences; ++i) empty[i] = choices.below(4) == 0;
  empty[static_cast<size_t>(choices.below(static_cast<int64_t>(sequences) - 1))] = true;
  empty.back() = false;
  return empty;
}

Result<Tensor> offsets_some_empty(const InputRequest& request, const std::vector<int64_t>& least,
                                  int64_t total) {
  const std::vector<bool> empty = choose_empty(request, least.size());
  std::vector<int64_t> kept, sums{0};
  for (size_t i = 0; i < least.size(); ++i)
    if (!empty[i]) kept.push_back(least[i]);
  const std::vector<int64_t> filled = TRY(lengths(request, std::move(kept), total));
  for (size_t i = 0, next = 0; i < least.size(); ++i)
    sums.push_back(sums.back() + (empty[i] ? 0 : filled[next++]));
  return integers(request, sums);
}

Result<Tensor> last_page(const InputRequest& request, const std::vector<int64_t>& pages,
                         int64_t page) {
  Choices choices(request.seed, request.stream);
  std::vector<int64_t> tokens;
  for (size_t i = 1; i < pages.size(); ++i)
    tokens.push_back(pages[i] == pages[i - 1] ? 0 : 1 + choices.below(page));
  return integers(request, tokens);
}

Result<Tensor> distinct(const InputRequest& request, int64_t limit) {
  std::vector<int64_t> numbers(static_cast<size_t>(limit));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  const int64_t count = element_count(request.task.shape(request.spec));
  if (count > limit) {
    return Error(fmt::format("input {} of {} needs {} different numbers below {}",
                             request.spec.name, request.task.definition.name, count, limit),
                 "ask for more pages with --set");
  }
  Choices choices(request.seed, request.stream);
  for (int64_t i = 0; i < count; ++i) std::swap(numbers[i], numbers[i + choices.below(limit - i)]);
  numbers.resize(static_cast<size_t>(count));
  return integers(request, numbers);
}

Result<Tensor> unit_rows(const InputRequest& request) {
  const std::vector<int64_t> shape = request.task.shape(request.spec);
  std::vector<float> values =
      random_values(request, Distribution::Normal, request.stream, element_count(shape));
  const auto width = static_cast<size_t>(shape.back());
  for (size_t row = 0; row < values.size(); row += width) {
    double square = 0;
    for (size_t i = row; i < row + width; ++i) square += double{values[i]} * values[i];
    const auto factor = static_cast<float>(1 / std::sqrt(square));
    for (size_t i = row; i < row + width; ++i) values[i] *= factor;
  }
  return floating(request, values);
}

// The blocks of a tensor seen as a matrix of its last axis; an extent of 0 takes all.
struct Blocks {
  int64_t rows, columns;              // of the matrix
  int64_t block_rows, block_columns;  // of a block
  int64_t across() const { return (columns + block_columns - 1) / block_columns; }
  int64_t count() const { return (rows + block_rows - 1) / block_rows * across(); }
  int64_t block(int64_t row, int64_t column) const {
    return row / block_rows * across() + column / block_columns;
  }
};

struct Quantized {
  std::vector<float> values;  // scaled, not yet rounded
  std::vector<float> scales;  // one a block
};

// Input `spec`, whose tag is "quantized KIND ROWS COLUMNS [MOST]"; its stream gives the values, so
// that the tensor of scales can be made from them too.
Result<Quantized> quantized(const InputRequest& request) {
  const Words words = split(request.task.definition.tag("input." + request.spec.name), ' ');
  if (words.size() < 4 || words.size() > 5 || words[0] != "quantized" ||
      !distribution_named(words[1]))
    return bad_tag(request);
  const std::vector<int64_t> shape = request.task.shape(request.spec);
  const int64_t total = element_count(shape);
  Blocks blocks{total / shape.back(), shape.back(), 0, 0};
  blocks.block_rows = static_cast<int64_t>(TRY(number(request, words[2])));
  blocks.block_columns = static_cast<int64_t>(TRY(number(request, words[3])));
  if (blocks.block_rows == 0) blocks.block_rows = blocks.rows;
  if (blocks.block_columns == 0) blocks.block_columns = blocks.columns;
  Quantized out{random_values(request, *distribution_named(words[1]), request.stream, total),
                std::vector<float>(static_cast<size_t>(blocks.count()))};
  if (words.size() == 5) {
    const double most = TRY(number(request, words[4]));
    if (!(most >= 1)) return bad_tag(request);
    const double exponent = static_cast<double>(Choices(request.seed, request.stream).below(1024));
    const auto factor = static_cast<float>(std::pow(most, exponent / 1024));
    for (float& value : out.values) value *= factor;
  }
  const auto block_of = [&](int64_t i) {
    return blocks.block(i / blocks.columns, i % blocks.columns);
  };
  for (int64_t i = 0; i < total; ++i) {
    float& scale = out.scales[block_of(i)];
    scale = std::max(scale, std::abs(out.values[i]));
  }
  for (float& scale : out.scales) scale = std::max(scale, 1e-4f) / kLargestE4M3;
  for (int64_t i = 0; i < total; ++i) out.values[i] /= out.scales[block_of(i)];
  return out;
}

Result<Tensor> scales_of(const InputRequest& request, std::string_view source) {
  const std::vector<TensorSpec>& inputs = request.task.definition.inputs;
  const auto at = [&](std::string_view name) {
    return std::find_if(inputs.begin(), inputs.end(),
                        [&](const TensorSpec& spec) { return spec.name == name; });
  };
  const auto found = at(source);
  if (found == inputs.end()) return bad_tag(request);
  // Streams of a trial follow the order of the inputs.
  const auto distance = found - at(request.spec.name);
  const InputRequest other{request.task, *found, request.distribution, request.seed,
                           static_cast<uint32_t>(request.stream + distance)};
  const Quantized made = TRY(quantized(other));
  if (static_cast<int64_t>(made.scales.size()) != element_count(request.task.shape(request.spec)))
    return bad_tag(request);
  return floating(request, made.scales);
}

Result<Tensor> random_input(const InputRequest& request, Distribution distribution, double factor) {
  std::vector<float> values = random_values(request, distribution, request.stream,
                                            element_count(request.task.shape(request.spec)));
  if (factor != 1) {
    for (float& value : values) value *= static_cast<float>(factor);
  }
  return floating(request, values);
}

}  // namespace

Result<Tensor> make_input(const InputRequest& request, const std::vector<Tensor>& earlier) {
  const auto& scalars = request.task.workload.scalars;
  if (const auto value = scalars.find(request.spec.name); value != scalars.end())
    return floating(request, {static_cast<float>(value->second)});
  const Words words = split(request.task.definition.tag("input." + request.spec.name), ' ');
  if (words.empty()) return random_input(request, request.distribution, 1);
  const std::string_view kind = words[0];
  const int64_t count = element_count(request.task.shape(request.spec));
  if (const auto distribution = distribution_named(kind); distribution && words.size() <= 2)
    return random_input(request, *distribution,
                        words.size() == 2 ? TRY(number(request, words[1])) : 1);
  if (kind == "unit" && words.size() == 1) return unit_rows(request);
  if (kind == "quantized") return floating(request, TRY(quantized(request)).values);
  if (words.size() == 2 && kind == "scales_of") return scales_of(request, words[1]);
  if (words.size() == 2 && kind == "constant") {
    const auto value = static_cast<float>(TRY(number(request, words[1])));
    return floating(request, std::vector<float>(static_cast<size_t>(count), value));
  }
  if (words.size() == 2 && kind == "distinct")
    return distinct(request, TRY(axis(request, words[1])));
  if (words.size() == 2 && kind == "offsets")
    return offsets(request, std::vector<int64_t>(static_cast<size_t>(count - 1), 1),
                   TRY(axis(request, words[1])));
  if (words.size() == 3 && kind == "offsets_above") {
    const std::vector<int64_t> other = stored(*TRY(find(request, earlier, words[1])));
    std::vector<int64_t> least;
    for (size_t i = 1; i < other.size(); ++i) least.push_back(other[i] - other[i - 1]);
    return offsets(request, std::move(least), TRY(axis(request, words[2])));
  }
  if (words.size() == 2 && kind == "offsets_some_empty")
    return offsets_some_empty(request, std::vector<int64_t>(static_cast<size_t>(count - 1), 1),
                              TRY(axis(request, words[1])));
  if (words.size() == 4 && kind == "offsets_some_empty") {
    const std::vector<int64_t> other = stored(*TRY(find(request, earlier, words[2])));
    const int64_t page = words[3] == "1" ? 1 : TRY(axis(request, words[3]));
    std::vector<int64_t> least;
    // All pages but the last are full, and the last has a token at least.
    for (size_t i = 1; i < other.size(); ++i)
      least.push_back((other[i] - other[i - 1] + page - 2) / page + 1);
    return offsets_some_empty(request, least, TRY(axis(request, words[1])));
  }
  if (words.size() == 3 && kind == "last_page")
    return last_page(request, stored(*TRY(find(request, earlier, words[1]))),
                     TRY(axis(request, words[2])));
  return bad_tag(request);
}

}  // namespace weft::problems
