// SPDX-License-Identifier: Apache-2.0

// Three passes. Rows are dealt to buckets by their key; each bucket is zipped in memory and leaves
// a run of rows in order of emission; the runs are merged into parts. The number of buckets follows
// from the number of rows, not from the machine.
#include "lattice/consolidation/zip.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <queue>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "base/mix.h"
#include "base/parallel.h"
#include "base/table/frame.h"
#include "lattice/consolidation/spill.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

using table::Chunk;
using table::ColumnType;
using table::Database;
using table::Frame;
using table::FrameType;
using table::Nulls;
using table::Rows;

constexpr uint64_t kBucketRows = 500'000, kMostBuckets = 512;
constexpr uint64_t kZipMemory = 700'000'000;

std::vector<Field> shown_fields(const ZipConfiguration& zip) {
  std::vector<Field> fields = {{.name = zip.impression_id, .type = FieldType::Id},
                               {.name = zip.impression_time,
                                .type = FieldType::Time,
                                .unit = zip.unit,
                                .assume_utc = zip.assume_utc}};
  for (const std::string& name : zip.key) fields.push_back({.name = name, .type = FieldType::Text});
  return fields;
}

std::vector<Field> report_fields(const ZipConfiguration& zip) {
  const auto time = [&](const std::string& name) {
    return Field{
        .name = name, .type = FieldType::Time, .unit = zip.unit, .assume_utc = zip.assume_utc};
  };
  std::vector<Field> fields = {{.name = zip.event_id, .type = FieldType::Id},
                               time(zip.event_time),
                               time(zip.arrival_time),
                               {.name = zip.objective, .type = FieldType::Text}};
  if (!zip.refund_of.empty())
    fields.push_back(
        {.name = zip.refund_of, .type = FieldType::Id, .presence = Presence::Optional});
  for (const std::string& name : zip.key) fields.push_back({.name = name, .type = FieldType::Text});
  return fields;
}

// The key's columns, from `first` on, as 64 bits. Whole numbers and texts are not told apart by how
// they are stored, only by their digits, because both tables may store them differently.
struct KeyReader {
  size_t first, count;

  static uint64_t text_hash(std::string_view text) {
    uint64_t hash = text.size();
    while (!text.empty()) {
      uint64_t piece = 0;
      const size_t length = std::min<size_t>(8, text.size());
      std::memcpy(&piece, text.data(), length);
      hash = mix(hash, piece);
      text.remove_prefix(length);
    }
    return hash;
  }
  uint64_t operator()(const Chunk& chunk, const std::vector<table::ColumnInfo>& columns,
                      size_t row) const {
    uint64_t hash = 0;
    for (size_t c = first; c < first + count; ++c) {
      const uint64_t value = columns[c].type == ColumnType::Unsigned
                                 ? mix(chunk.unsigneds(c)[row])
                                 : text_hash(chunk.text(c, row));
      hash = mix(hash, value);
    }
    return hash;
  }
};

// Whether all of a chunk's columns but one (npos: none) are there.
bool any_null(const Chunk& chunk, size_t columns, size_t row, size_t may_be_null) {
  for (size_t c = 0; c < columns; ++c)
    if (c != may_be_null && chunk.is_null(c, row)) return true;
  return false;
}

bool believable(int64_t time) {
  return time >= Source::kEarliest && time < Source::kLatest;
}

// A key column that both tables hold as whole numbers is read as an id: half the work of a text.
void read_keys_as_ids(const Source& shown, const Source& reports, std::vector<Field>& shown_columns,
                      std::vector<Field>& report_columns, size_t keys) {
  for (size_t k = 0; k < keys; ++k) {
    const size_t a = shown_columns.size() - keys + k, b = report_columns.size() - keys + k;
    const auto whole = [](const std::string& type) {
      return type.ends_with("INT") || type.ends_with("INTEGER");
    };
    if (!whole(shown.stored_type(a)) || !whole(reports.stored_type(b))) continue;
    shown_columns[a].type = FieldType::Id;
    report_columns[b].type = FieldType::Id;
  }
}

class Zipper {
 public:
  Zipper(const ZipConfiguration& configuration, RunFolder& run, const ZipOptions& options)
      : c_(configuration), run_(run), options_(options), scratch_(run.file("scratch.draft")) {}

  Result<Json> work();

 private:
  Result<Done> open_sources();
  Result<Done> deal();
  Result<Done> deal_reports();
  Result<Done> zip_buckets();
  Result<Done> merge();
  Result<Done> write_part(const std::string& folder, size_t part,
                          const std::vector<ZippedRow>& rows) const;
  Json summary() const;

  const ZipConfiguration& c_;
  RunFolder& run_;
  const ZipOptions& options_;
  std::string scratch_;
  ZipRules rules_;
  ZipCounts counts_;
  std::optional<Source> shown_source_, report_source_;
  std::optional<Database> database_;
  std::optional<Spill<ShownRow>> shown_;
  std::optional<Spill<ReportRow>> reports_;
  std::optional<Spill<uint64_t>> ids_;
  uint64_t shown_rows_ = 0, report_rows_ = 0, other_objectives_ = 0;
  uint64_t mature_rows_ = 0, pending_rows_ = 0;
  int64_t last_arrival_ = INT64_MIN;
  std::vector<std::array<uint64_t, kMostObjectives>> positives_;  // window x objective
  std::vector<uint64_t> window_rows_;
};

Result<Done> Zipper::open_sources() {
  std::filesystem::create_directories(scratch_);
  database_ = TRY(Database::open(
      {.threads = options_.workers, .memory_bytes = kZipMemory, .spill_directory = scratch_}));
  // The order of rows does not matter to buckets, and not keeping it saves memory.
  TRY(database_->execute("SET preserve_insertion_order = false"));
  std::vector<Field> shown = shown_fields(c_), reports = report_fields(c_);
  shown_source_ = TRY(Source::open(*database_, "impressions", c_.base, c_.impressions, shown));
  report_source_ = TRY(Source::open(*database_, "feedback", c_.base, c_.feedback, reports));
  read_keys_as_ids(*shown_source_, *report_source_, shown, reports, c_.key.size());
  shown_source_ = TRY(Source::open(*database_, "impressions", c_.base, c_.impressions, shown));
  report_source_ = TRY(Source::open(*database_, "feedback", c_.base, c_.feedback, reports));

  for (const double window : c_.windows) rules_.windows.push_back(to_microseconds(window));
  rules_.thresholds = window_thresholds(c_.shares);
  for (const auto& [name, window] : c_.objectives)
    rules_.objectives.push_back({.name = name, .fixed_window = to_microseconds(window)});
  rules_.touch = c_.touch;
  rules_.window_end = c_.window_end;
  rules_.refunds = c_.refunds;
  rules_.allowance = to_microseconds(c_.allowance_seconds);
  rules_.seed = c_.seed;

  const auto rows = TRY(database_->counts("SELECT count(*) FROM " + shown_source_->relation()));
  const size_t buckets =
      std::clamp<uint64_t>(static_cast<uint64_t>(rows[0]) / kBucketRows + 1, 1, kMostBuckets);
  shown_.emplace(scratch_ + "/shown-", buckets);
  reports_.emplace(scratch_ + "/reports-", buckets);
  ids_.emplace(scratch_ + "/ids-", buckets);
  return Done{};
}

Result<Done> Zipper::deal() {
  Result<Rows> rows = database_->query(shown_source_->select());
  if (!rows.ok()) return shown_source_->locate(rows.error());
  const KeyReader key{2, c_.key.size()};
  const size_t columns = rows->columns().size(), buckets = shown_->buckets();
  Chunk chunk;
  for (;;) {
    const Result<bool> more = rows->next(chunk);
    if (!more.ok()) return shown_source_->locate(more.error());
    if (!*more) break;
    const auto ids = chunk.unsigneds(0);
    const auto times = chunk.integers(1);
    for (size_t r = 0; r < chunk.size(); ++r) {
      if (any_null(chunk, columns, r, std::string::npos) || !believable(times[r]))
        return shown_source_->locate(Error("an impression without id, time or key"));
      const ShownRow row{key(chunk, rows->columns(), r), ids[r], times[r]};
      TRY(shown_->add(mix(row.key) % buckets, row));
      TRY(ids_->add(mix(row.id) % buckets, row.id));
    }
    shown_rows_ += chunk.size();
    options_.progress("impressions read", chunk.size());
  }
  TRY(shown_->finish());
  return ids_->finish();
}

Result<Done> Zipper::deal_reports() {
  Result<Rows> rows = database_->query(report_source_->select());
  if (!rows.ok()) return report_source_->locate(rows.error());
  const bool refunds = !c_.refund_of.empty();
  const KeyReader key{refunds ? size_t{5} : size_t{4}, c_.key.size()};
  const size_t columns = rows->columns().size(), buckets = reports_->buckets();
  Chunk chunk;
  for (;;) {
    const Result<bool> more = rows->next(chunk);
    if (!more.ok()) return report_source_->locate(more.error());
    if (!*more) break;
    const auto ids = chunk.unsigneds(0);
    const auto times = chunk.integers(1), arrivals = chunk.integers(2);
    for (size_t r = 0; r < chunk.size(); ++r) {
      if (any_null(chunk, columns, r, refunds ? 4 : std::string::npos) || !believable(times[r]) ||
          !believable(arrivals[r]))
        return report_source_->locate(Error("a report without id, time, objective or key"));
      last_arrival_ = std::max(last_arrival_, arrivals[r]);
      const std::string_view name = chunk.text(3, r);
      const auto objective =
          std::find_if(rules_.objectives.begin(), rules_.objectives.end(),
                       [&](const ObjectiveRule& one) { return one.name == name; });
      if (objective == rules_.objectives.end()) {
        ++other_objectives_;
        continue;
      }
      const ReportRow row{
          .key = key(chunk, rows->columns(), r),
          .event_id = ids[r],
          .refund_of = refunds && !chunk.is_null(4, r) ? chunk.unsigneds(4)[r] : 0,
          .time = times[r],
          .arrival = arrivals[r],
          .objective = static_cast<uint64_t>(objective - rules_.objectives.begin())};
      TRY(reports_->add(mix(row.key) % buckets, row));
    }
    report_rows_ += chunk.size();
  }
  if (c_.as_of.empty() && report_rows_ == 0)
    return Error("the feedback is empty, so nobody knows how far the log reaches", "set zip.as_of");
  rules_.as_of = c_.as_of.empty() ? last_arrival_ : parse_instant(c_.as_of).value();
  return reports_->finish();
}

Result<Done> Zipper::zip_buckets() {
  std::mutex guard;
  Result<Done> outcome = Done{};
  const size_t windows = rules_.windows.size();
  positives_.resize(windows);
  window_rows_.resize(windows);
  const auto one = [&](size_t bucket) -> Result<Done> {
    std::vector<uint64_t> ids = TRY(ids_->read(bucket));
    std::sort(ids.begin(), ids.end());
    const auto twice = std::adjacent_find(ids.begin(), ids.end());
    if (twice != ids.end())
      return Error(
          Diagnostic{.message = fmt::format("column \"{}\": an impression is there twice: {}",
                                            c_.impression_id, *twice),
                     .hint = "each impression must have an id of its own",
                     .file = shown_source_->paths().front()});
    std::vector<ShownRow> shown = TRY(shown_->read(bucket));
    std::vector<ReportRow> reports = TRY(reports_->read(bucket));
    ZipCounts counts;
    const std::vector<ZippedRow> rows = zip_bucket(rules_, shown, reports, counts);
    Spill<ZippedRow> run(scratch_ + "/run-", bucket + 1);
    for (const ZippedRow& row : rows) TRY(run.add(bucket, row));
    TRY(run.finish());
    std::filesystem::remove(ids_->path(bucket));
    std::filesystem::remove(shown_->path(bucket));
    std::filesystem::remove(reports_->path(bucket));
    const std::lock_guard lock(guard);
    counts_.add(counts);
    for (const ZippedRow& row : rows) {
      (row.mature != 0 ? mature_rows_ : pending_rows_) += 1;
      if (row.mature == 0) continue;
      ++window_rows_[row.window];
      for (size_t o = 0; o < rules_.objectives.size(); ++o)
        positives_[row.window][o] += row.conversions[o] != 0;
    }
    options_.progress("impressions labelled", rows.size());
    return Done{};
  };
  const auto guarded = [&](int64_t bucket) {
    {
      const std::lock_guard lock(guard);
      if (!outcome.ok()) return;
    }
    Result<Done> made = one(static_cast<size_t>(bucket));
    const std::lock_guard lock(guard);
    if (!made.ok() && outcome.ok()) outcome = std::move(made);
  };
  each_in_parallel(static_cast<int64_t>(shown_->buckets()), guarded, options_.workers);
  return outcome;
}

Result<Done> Zipper::write_part(const std::string& folder, size_t part,
                                const std::vector<ZippedRow>& rows) const {
  const Nulls labels = folder == "pending" ? Nulls::Possible : Nulls::Never;
  Frame frame(rows.size());
  frame.add("impression_id", FrameType::Unsigned);
  frame.add("event_time", FrameType::Timestamp);
  frame.add("emit_time", FrameType::Timestamp);
  frame.add("window", FrameType::Byte);
  for (const ObjectiveRule& objective : rules_.objectives) {
    frame.add(objective.name, FrameType::Byte, labels);
    frame.add(objective.name + "_count", FrameType::Byte, labels);
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    frame[0].unsigneds[r] = rows[r].id;
    frame[1].integers[r] = rows[r].time;
    frame[2].integers[r] = rows[r].emit_time;
    frame[3].bytes[r] = rows[r].window;
    for (size_t o = 0; o < rules_.objectives.size(); ++o) {
      frame[4 + 2 * o].bytes[r] = rows[r].conversions[o] != 0;
      frame[5 + 2 * o].bytes[r] = rows[r].conversions[o];
    }
  }
  return frame.write_parquet(run_.file(fmt::format("{}/part-{:05}.parquet", folder, part)));
}

// Runs are mapped, not read: their pages come and go.
Result<Done> Zipper::merge() {
  struct Run {
    MappedFile file;
    const ZippedRow *at, *end;
  };
  std::vector<Run> runs;
  for (size_t bucket = 0; bucket < shown_->buckets(); ++bucket) {
    const std::string path = scratch_ + "/run-" + std::to_string(bucket);
    if (!std::filesystem::exists(path)) continue;
    MappedFile file = TRY(MappedFile::open(path));
    const auto* begin = reinterpret_cast<const ZippedRow*>(file.bytes().data());
    const size_t rows = file.bytes().size() / sizeof(ZippedRow);
    runs.push_back({std::move(file), begin, begin + rows});
  }
  const auto later = [&](size_t a, size_t b) {
    return std::tie(runs[a].at->emit_time, runs[a].at->id) >
           std::tie(runs[b].at->emit_time, runs[b].at->id);
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> next(later);
  for (size_t i = 0; i < runs.size(); ++i) next.push(i);

  struct Part {
    std::string folder;
    size_t number;
    std::vector<ZippedRow> rows;
  };
  const unsigned workers = options_.workers == 0 ? host_workers() : options_.workers;
  std::vector<Part> waiting;
  const auto write_all = [&]() -> Result<Done> {
    std::vector<Result<Done>> outcomes(waiting.size(), Done{});
    each_in_parallel(
        static_cast<int64_t>(waiting.size()),
        [&](int64_t i) {
          outcomes[i] = write_part(waiting[i].folder, waiting[i].number, waiting[i].rows);
        },
        workers);
    for (size_t i = 0; i < waiting.size(); ++i) {
      TRY(std::move(outcomes[i]));
      TRY(run_.record(fmt::format("{}/part-{:05}.parquet", waiting[i].folder, waiting[i].number)));
      options_.progress("impressions written", waiting[i].rows.size());
    }
    waiting.clear();
    return Done{};
  };
  // Emission times ascend and maturity ends at one of them, so the mature rows come first.
  std::vector<ZippedRow> rows;
  size_t numbers[2] = {0, 0};
  bool mature = true;
  const auto close_part = [&]() -> Result<Done> {
    waiting.push_back({mature ? "zipped" : "pending", numbers[mature]++, std::move(rows)});
    rows = {};
    if (waiting.size() >= workers) TRY(write_all());
    return Done{};
  };
  while (!next.empty()) {
    const size_t index = next.top();
    next.pop();
    const ZippedRow& row = *runs[index].at;
    if (!rows.empty() && (rows.size() == c_.part_rows || (row.mature != 0) != mature))
      TRY(close_part());
    mature = row.mature != 0;
    rows.push_back(row);
    if (++runs[index].at != runs[index].end) next.push(index);
  }
  if (!rows.empty()) TRY(close_part());
  return write_all();
}

Json Zipper::summary() const {
  Json labels = Json::array();
  for (size_t w = 0; w < rules_.windows.size(); ++w) {
    Json line = {{"window", format_duration(c_.windows[w])}, {"rows", window_rows_[w]}};
    for (size_t o = 0; o < rules_.objectives.size(); ++o)
      line[rules_.objectives[o].name] = positives_[w][o];
    labels.push_back(line);
  }
  return {{"impressions", shown_rows_},
          {"mature", mature_rows_},
          {"pending", pending_rows_},
          {"as_of", format_instant(rules_.as_of)},
          {"labels", labels},
          {"reports", report_rows_},
          {"other_objectives", other_objectives_},
          {"conversions", counts_.conversions},
          {"duplicates", counts_.duplicates},
          {"conflicting_duplicates", counts_.conflicting},
          {"credited", counts_.credited},
          {"without_impression", counts_.without_impression},
          {"outside_window", counts_.outside_window},
          {"late", counts_.late},
          {"refunded", counts_.refunded},
          {"late_refunds", counts_.late_refunds},
          {"orphan_refunds", counts_.orphan_refunds}};
}

Result<Json> Zipper::work() {
  TRY(open_sources());
  TRY(deal());
  TRY(deal_reports());
  TRY(zip_buckets());
  TRY(merge());
  const Json result = summary();
  TRY(run_.finish(result));
  return result;
}

}  // namespace

Result<std::vector<std::string>> zip_inputs(const ZipConfiguration& zip) {
  Database database = TRY(Database::open({.threads = 1}));
  const Source shown =
      TRY(Source::open(database, "impressions", zip.base, zip.impressions, shown_fields(zip)));
  const Source reports =
      TRY(Source::open(database, "feedback", zip.base, zip.feedback, report_fields(zip)));
  std::vector<std::string> paths = shown.paths();
  paths.insert(paths.end(), reports.paths().begin(), reports.paths().end());
  return paths;
}

Result<Json> zip(const ZipConfiguration& configuration, RunFolder& run, const ZipOptions& options) {
  std::error_code ignored;
  // What an earlier start left is made again: rows have no order of their own until the last pass.
  const std::string scratch = run.file("scratch.draft");
  std::filesystem::remove_all(scratch, ignored);
  std::filesystem::create_directories(run.file("zipped"), ignored);
  std::filesystem::create_directories(run.file("pending"), ignored);
  Result<Json> result = Zipper(configuration, run, options).work();
  std::filesystem::remove_all(scratch, ignored);
  return result;
}

}  // namespace weft::lattice
