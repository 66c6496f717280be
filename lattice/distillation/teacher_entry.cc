// SPDX-License-Identifier: Apache-2.0

// Conversions run eight lanes at a time: a look-up costs little more than the engine's own.
#include "lattice/distillation/teacher_entry.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/floats.h"
#include "base/mix.h"

namespace weft::lattice {
namespace {

constexpr size_t kLogits = sizeof(int64_t) + sizeof(uint32_t);
constexpr float kLargestFp16 = 65504;
constexpr float kLargestInt8 = 127;

uint32_t tag_of(const TeacherDescription& description) {
  uint64_t tag = description.width;
  for (const char c : description.version) tag = mix(tag, static_cast<unsigned char>(c));
  return static_cast<uint32_t>(tag);
}

float largest(std::span<const float> values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace

EntryLayout::EntryLayout(const TeacherDescription& description)
    : width_(description.width),
      tasks_(static_cast<uint32_t>(description.tasks.size())),
      tag_(tag_of(description)),
      format_(description.format),
      bytes_(kLogits + tasks_ * sizeof(float) +
             (format_ == EmbeddingFormat::Fp16 ? width_ * 2 : sizeof(float) + width_)) {}

Result<Done> EntryLayout::check(const TeacherEntries& entries) const {
  const size_t rows = entries.pairs.size();
  if (entries.computed_at.size() != rows || entries.embeddings.size() != rows * width_ ||
      entries.logits.size() != rows * tasks_)
    return Error(fmt::format("entries of a teacher do not have the store's shapes: {} pairs, {} "
                             "times, {} embedding values, {} logits",
                             rows, entries.computed_at.size(), entries.embeddings.size(),
                             entries.logits.size()),
                 fmt::format("{} values and {} logits a pair belong here", width_, tasks_));
  const float most = format_ == EmbeddingFormat::Fp16 ? kLargestFp16 : 1e30f;
  const auto refuse = [&](size_t row, const char* what, size_t index, float value) {
    return Error(fmt::format("{} cannot be stored: user {}, item {}, index {}, value {}", what,
                             entries.pairs[row].user, entries.pairs[row].item, index, value),
                 fmt::format("values are finite and at most {} here", most));
  };
  // A comparison with a NaN is false.
  for (size_t i = 0; i < entries.embeddings.size(); ++i)
    if (!(std::abs(entries.embeddings[i]) <= most))
      return refuse(i / width_, "an embedding value", i % width_, entries.embeddings[i]);
  for (size_t i = 0; i < entries.logits.size(); ++i)
    if (!(std::abs(entries.logits[i]) <= 1e30f))
      return refuse(i / tasks_, "a logit", i % tasks_, entries.logits[i]);
  for (size_t row = 0; row < rows; ++row)
    if (entries.computed_at[row] < 0)
      return Error(fmt::format("an entry was computed before 1970: user {}, item {}",
                               entries.pairs[row].user, entries.pairs[row].item),
                   "times are microseconds since 1970-01-01 UTC");
  return Done{};
}

void EntryLayout::pack(const TeacherEntries& entries, size_t row, std::string& to) const {
  const size_t start = to.size();
  to.resize(start + bytes_);
  char* out = to.data() + start;
  std::memcpy(out, &entries.computed_at[row], sizeof(int64_t));
  std::memcpy(out + sizeof(int64_t), &tag_, sizeof tag_);
  out += kLogits;
  if (tasks_ != 0) std::memcpy(out, &entries.logits[row * tasks_], tasks_ * sizeof(float));
  out += tasks_ * sizeof(float);
  const std::span<const float> values = entries.embeddings.subspan(row * width_, width_);
  size_t i = 0;
  if (format_ == EmbeddingFormat::Fp16) {
    for (; i + 8 <= width_; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(&values[i]), _MM_FROUND_TO_NEAREST_INT));
    for (; i < width_; ++i) {
      const uint16_t half = float_to_f16(values[i]);
      std::memcpy(out + 2 * i, &half, sizeof half);
    }
    return;
  }
  const float scale = largest(values) / kLargestInt8;
  std::memcpy(out, &scale, sizeof scale);
  out += sizeof scale;
  for (; i < width_; ++i)
    out[i] = static_cast<char>(scale == 0 ? 0 : std::lrint(values[i] / scale));
}

bool EntryLayout::owns(const char* entry, size_t size) const {
  return size == bytes_ && std::memcmp(entry + sizeof(int64_t), &tag_, sizeof tag_) == 0;
}

int64_t EntryLayout::computed_at(const char* entry) {
  int64_t time = 0;
  std::memcpy(&time, entry, sizeof time);
  return time;
}

void EntryLayout::unpack(const char* entry, float* embedding, float* logits) const {
  entry += kLogits;
  if (tasks_ != 0) std::memcpy(logits, entry, tasks_ * sizeof(float));
  entry += tasks_ * sizeof(float);
  size_t i = 0;
  if (format_ == EmbeddingFormat::Fp16) {
    for (; i + 8 <= width_; i += 8)
      _mm256_storeu_ps(
          embedding + i,
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(entry + 2 * i))));
    for (; i < width_; ++i) {
      uint16_t half = 0;
      std::memcpy(&half, entry + 2 * i, sizeof half);
      embedding[i] = f16_to_float(half);
    }
    return;
  }
  float scale = 0;
  std::memcpy(&scale, entry, sizeof scale);
  entry += sizeof scale;
  for (; i < width_; ++i) embedding[i] = scale * static_cast<float>(static_cast<int8_t>(entry[i]));
}

void pack_key(const Pair& pair, char* to) {
  const uint64_t user = __builtin_bswap64(pair.user), item = __builtin_bswap64(pair.item);
  std::memcpy(to, &user, sizeof user);
  std::memcpy(to + sizeof user, &item, sizeof item);
}

Result<TeacherAnswers> unanswered(const TeacherDescription& description,
                                  std::span<const Pair> pairs, std::span<const int64_t> as_of) {
  if (pairs.size() != as_of.size())
    return Error(fmt::format("a look-up needs one moment a pair: {} pairs, {} moments",
                             pairs.size(), as_of.size()));
  const size_t width = description.width, tasks = description.tasks.size();
  return TeacherAnswers{.results = std::vector<LookUp>(pairs.size(), LookUp::Absent),
                        .computed_at = std::vector<int64_t>(pairs.size()),
                        .embeddings = std::vector<float>(pairs.size() * width),
                        .logits = std::vector<float>(pairs.size() * tasks)};
}

}  // namespace weft::lattice
