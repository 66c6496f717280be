// SPDX-License-Identifier: Apache-2.0

// DuckDB sorts (by user, time and id, a whole key); here the order is only walked.
#include "lattice/ingest/history.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/table/sql_text.h"

namespace weft::lattice {

Result<History> History::read(table::Database& database, const std::string& base,
                              const SequenceTable& table, const DataConfiguration& data,
                              Encode encode, const void* vocabularies) {
  const auto instant = [&](const std::string& name) {
    return Field{
        .name = name, .type = FieldType::Time, .unit = data.unit, .assume_utc = data.assume_utc};
  };
  std::vector<Field> fields = {{.name = table.user},
                               instant(table.event_time),
                               instant(table.arrival_time),
                               {.name = table.event_id, .type = FieldType::Id}};
  for (const auto& [name, vocabulary] : table.columns)
    fields.push_back({.name = name, .presence = Presence::Optional});
  const Source source = TRY(Source::open(database, "events", base, table.files, fields));
  History history;
  history.columns_ = table.columns.size();
  Result<table::Rows> rows = database.query(fmt::format(
      "SELECT * FROM ({}) ORDER BY {}, {}, {}", source.select(), table::quoted_name(table.user),
      table::quoted_name(table.event_time), table::quoted_name(table.event_id)));
  if (!rows.ok()) return source.locate(rows.error());
  table::Chunk chunk;
  Range* range = nullptr;
  std::string user;
  for (;;) {
    const Result<bool> more = rows->next(chunk);
    if (!more.ok()) return source.locate(more.error());
    if (!*more) break;
    const auto times = chunk.integers(1), arrivals = chunk.integers(2);
    for (size_t r = 0; r < chunk.size(); ++r) {
      if (chunk.is_null(0, r) || chunk.is_null(1, r) || chunk.is_null(2, r) ||
          chunk.is_null(3, r) || times[r] < Source::kEarliest || arrivals[r] < Source::kEarliest)
        return source.locate(Error("an event without user, id or times"));
      const uint64_t number = history.times_.size();
      if (range == nullptr || user != chunk.text(0, r)) {
        user = chunk.text(0, r);
        range = &history.users_.emplace(user, Range{number, number}).first->second;
      }
      range->end = number + 1;
      history.times_.push_back(times[r]);
      history.arrivals_.push_back(arrivals[r]);
      for (size_t c = 0; c < history.columns_; ++c) {
        const bool null = chunk.is_null(4 + c, r);
        history.codes_.push_back(
            encode(vocabularies, c, null ? std::string_view() : chunk.text(4 + c, r), null));
      }
    }
  }
  return history;
}

void History::before(std::string_view user, int64_t time, size_t length,
                     std::vector<uint64_t>& events) const {
  events.clear();
  const auto found = users_.find(user);
  if (found == users_.end()) return;
  const auto [begin, end] = found->second;
  uint64_t at = static_cast<uint64_t>(
      std::lower_bound(times_.begin() + static_cast<std::ptrdiff_t>(begin),
                       times_.begin() + static_cast<std::ptrdiff_t>(end), time) -
      times_.begin());
  while (at > begin && events.size() < length)
    if (arrivals_[--at] <= time) events.push_back(at);
  std::reverse(events.begin(), events.end());
}

}  // namespace weft::lattice
