// SPDX-License-Identifier: Apache-2.0

// Joining is written once; taking rows out repeats its layout for one part.
#include "lattice/training/batch_rows.h"

#include "base/invariant.h"

namespace weft::lattice {
namespace {

// Row i has the values [i * width, (i + 1) * width) of `from`.
template <typename T>
void take(const std::vector<T>& from, uint64_t from_rows, std::span<const uint32_t> rows,
          std::vector<T>& to) {
  const size_t width = from_rows == 0 ? 0 : from.size() / from_rows;
  to.reserve(rows.size() * width);
  for (const uint32_t row : rows)
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(row * width),
              from.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Columns that lie one after the other, each as long as its part.
template <typename T>
std::vector<T> join_columns(std::span<const Batch> parts, std::vector<T> Batch::*member,
                            const auto& length) {
  size_t columns = 0;
  for (const Batch& part : parts)
    if (length(part) != 0) columns = (part.*member).size() / length(part);
  std::vector<T> to;
  for (size_t c = 0; c < columns; ++c)
    for (const Batch& part : parts) {
      const auto from = (part.*member).begin() + static_cast<std::ptrdiff_t>(c * length(part));
      to.insert(to.end(), from, from + static_cast<std::ptrdiff_t>(length(part)));
    }
  return to;
}

}  // namespace

Batch take_rows(const Batch& from, std::span<const uint32_t> rows) {
  Batch to;
  to.rows = rows.size();
  take(from.dense, from.rows, rows, to.dense);
  take(from.dense_present, from.rows, rows, to.dense_present);
  take(from.label, from.rows, rows, to.label);
  take(from.label_known, from.rows, rows, to.label_known);
  take(from.domain, from.rows, rows, to.domain);
  take(from.window, from.rows, rows, to.window);
  take(from.id, from.rows, rows, to.id);
  take(from.time, from.rows, rows, to.time);
  take(from.teacher, from.rows, rows, to.teacher);
  take(from.teacher_logit, from.rows, rows, to.teacher_logit);
  take(from.teacher_hit, from.rows, rows, to.teacher_hit);
  const size_t tables = from.rows == 0 ? 0 : from.categorical.size() / from.rows;
  to.categorical.reserve(tables * rows.size());
  for (size_t t = 0; t < tables; ++t)
    for (const uint32_t row : rows) to.categorical.push_back(from.categorical[t * from.rows + row]);
  if (from.sequence_offsets.empty()) return to;
  std::vector<uint32_t> events;
  to.sequence_offsets.assign(1, 0);
  for (const uint32_t row : rows) {
    for (int64_t e = from.sequence_offsets[row]; e < from.sequence_offsets[row + 1]; ++e)
      events.push_back(static_cast<uint32_t>(e));
    to.sequence_offsets.push_back(static_cast<int64_t>(events.size()));
  }
  const size_t all = from.sequence_age.size();
  const size_t columns = all == 0 ? 0 : from.sequence.size() / all;
  for (const uint32_t e : events) to.sequence_age.push_back(from.sequence_age[e]);
  for (size_t c = 0; c < columns; ++c)
    for (const uint32_t e : events) to.sequence.push_back(from.sequence[c * all + e]);
  return to;
}

Batch join(std::span<const Batch> parts) {
  Batch to;
  for (const Batch& part : parts) {
    append(to.dense, part.dense);
    append(to.dense_present, part.dense_present);
    append(to.label, part.label);
    append(to.label_known, part.label_known);
    append(to.domain, part.domain);
    append(to.window, part.window);
    append(to.id, part.id);
    append(to.time, part.time);
    append(to.teacher, part.teacher);
    append(to.teacher_logit, part.teacher_logit);
    append(to.teacher_hit, part.teacher_hit);
    append(to.sequence_age, part.sequence_age);
    to.rows += part.rows;
    if (part.sequence_offsets.empty()) continue;
    const int64_t before = to.sequence_offsets.empty() ? 0 : to.sequence_offsets.back();
    if (to.sequence_offsets.empty()) to.sequence_offsets.push_back(0);
    for (size_t i = 1; i < part.sequence_offsets.size(); ++i)
      to.sequence_offsets.push_back(before + part.sequence_offsets[i]);
  }
  to.categorical =
      join_columns(parts, &Batch::categorical, [](const Batch& part) { return part.rows; });
  to.sequence = join_columns(parts, &Batch::sequence,
                             [](const Batch& part) { return part.sequence_age.size(); });
  return to;
}

}  // namespace weft::lattice
