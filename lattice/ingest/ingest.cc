// SPDX-License-Identifier: Apache-2.0

// The training split is read twice (statistics, then rows), the others once.
#include "lattice/ingest/ingest.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.h"
#include "base/near_match.h"
#include "base/sha256.h"
#include "lattice/data/shard_index.h"
#include "lattice/ingest/history.h"
#include "lattice/ingest/row_layout.h"
#include "lattice/ingest/shard_file.h"
#include "lattice/ingest/splits.h"
#include "lattice/ingest/training_facts.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

using table::Chunk;
using table::Database;
using table::Rows;

constexpr uint64_t kQueryMemory = 1'500'000'000;

class Ingester {
 public:
  Ingester(const DataConfiguration& configuration, RunFolder& run, const IngestOptions& options)
      : c_(configuration), run_(run), options_(options), layout_(row_layout(configuration)) {}

  Result<Json> work();

 private:
  Result<Done> write_vocabularies();
  Result<Done> make_history();
  Result<Done> write_split(const Split& split);
  Result<Done> add_row(const Split& split, const Chunk& chunk, size_t row, ShardRows& shard);
  Result<Done> add_label(const Split& split, const Chunk& chunk, size_t row, ShardRows& shard);
  Result<Done> close_shard(const Split& split, ShardRows& shard);
  ShardRows new_shard() const;
  Json index() const;

  const DataConfiguration& c_;
  RunFolder& run_;
  const IngestOptions& options_;
  RowLayout layout_;
  std::optional<Database> database_;
  std::vector<Split> splits_;
  std::vector<CountedVocabulary> vocabularies_;
  std::vector<size_t> sequence_vocabularies_;  // a vocabulary for each column of events
  std::vector<std::string> domains_;
  std::vector<DenseStatistics> statistics_;
  std::vector<Json> categorical_json_;
  std::optional<History> history_;
  std::vector<uint64_t> events_;  // scratch
  size_t shard_number_ = 0;
  uint64_t split_rows_ = 0;
  std::vector<uint64_t> positives_, domain_rows_;
  ZipFacts zip_;
  Json shards_ = Json::object(), split_json_ = Json::object();
};

Result<Done> Ingester::write_vocabularies() {
  for (size_t i = 0; i < vocabularies_.size(); ++i) {
    const CategoricalColumn& column = c_.categorical[i];
    const auto& [vocabulary, distinct, unknown_share] = vocabularies_[i];
    const std::string file = "vocabulary/" + column.name + ".jsonl";
    TRY(vocabulary.write(run_.file(file)));
    TRY(run_.record(file));
    const std::string print = TRY(fingerprint(run_.file(file)));
    categorical_json_.push_back({{"name", column.name},
                                 {"table_rows", vocabulary.table_rows()},
                                 {"values", vocabulary.values().size()},
                                 {"distinct", distinct},
                                 {"unknown_share", unknown_share},
                                 {"unknown_buckets", column.unknown_buckets},
                                 {"vocabulary", file},
                                 {"fingerprint", print}});
  }
  return Done{};
}

Result<Done> Ingester::make_history() {
  if (c_.sequences.empty()) return Done{};
  const SequenceTable& table = c_.sequences.front();
  if (std::none_of(c_.categorical.begin(), c_.categorical.end(),
                   [&](const CategoricalColumn& column) { return column.name == table.user; }))
    return Error(fmt::format("the sequence's user is no categorical column: {}", table.user));
  for (const auto& [name, vocabulary] : table.columns)
    for (size_t v = 0; v < c_.categorical.size(); ++v)
      if (c_.categorical[v].name == vocabulary) sequence_vocabularies_.push_back(v);
  const auto encode = [](const void* self, size_t column, std::string_view value,
                         bool null) -> int32_t {
    const auto& ingester = *static_cast<const Ingester*>(self);
    return null ? kNull
                : ingester.vocabularies_[ingester.sequence_vocabularies_[column]].vocabulary.row(
                      value);
  };
  history_ = TRY(History::read(*database_, c_.base, table, c_, encode, this));
  return Done{};
}

ShardRows Ingester::new_shard() const {
  ShardRows shard;
  shard.categorical.resize(c_.categorical.size());
  if (history_) shard.sequence.resize(sequence_vocabularies_.size());
  return shard;
}

Result<Done> Ingester::add_label(const Split& split, const Chunk& chunk, size_t row,
                                 ShardRows& shard) {
  const auto put = [&](size_t label, float value, bool known) {
    shard.label.push_back(value);
    shard.label_known.push_back(known);
    positives_[label] += known && value > 0;
  };
  for (size_t l = 0; l < c_.labels.size(); ++l) {
    const size_t at = layout_.labels + l;
    if (chunk.is_null(at, row)) {
      put(l, 0, false);
    } else if (!c_.labels[l].positive.empty()) {
      const auto& words = c_.labels[l].positive;
      put(l, std::find(words.begin(), words.end(), chunk.text(at, row)) != words.end(), true);
    } else {
      const double value = chunk.reals(at)[row];
      if (!(value >= 0 && value <= 1)) return split.source.locate(Error("a label outside 0 to 1"));
      put(l, static_cast<float>(value), true);
    }
  }
  if (layout_.window == SIZE_MAX) return Done{};
  shard.window.push_back(static_cast<uint8_t>(chunk.unsigneds(layout_.window)[row]));
  for (size_t l = 0; l < c_.zip_labels.size(); ++l) {
    const size_t at = layout_.zip_labels + l;
    const bool known = !chunk.is_null(at, row);
    put(c_.labels.size() + l, known ? static_cast<float>(chunk.unsigneds(at)[row]) : 0, known);
  }
  return Done{};
}

Result<Done> Ingester::add_row(const Split& split, const Chunk& chunk, size_t row,
                               ShardRows& shard) {
  const auto missing = [&](size_t column) {
    return column != SIZE_MAX && chunk.is_null(column, row);
  };
  if (missing(layout_.id) || missing(layout_.time) || missing(layout_.domain))
    return split.source.locate(Error("a row without id, time or domain"));
  if (layout_.id != SIZE_MAX) shard.id.push_back(chunk.unsigneds(layout_.id)[row]);
  if (layout_.time != SIZE_MAX) {
    shard.time.push_back(chunk.integers(layout_.time)[row]);
    if (shard.time.back() < Source::kEarliest || shard.time.back() >= Source::kLatest)
      return split.source.locate(Error("a time outside 2000 to 2100"));
  }
  if (layout_.domain != SIZE_MAX) {
    const std::string_view name = chunk.text(layout_.domain, row);
    const auto found = std::lower_bound(domains_.begin(), domains_.end(), name);
    if (found == domains_.end() || *found != name)
      return Error(Diagnostic{
          .message =
              fmt::format("column \"{}\": the split {} has a domain that training has not: {}",
                          c_.domain, split.name, name),
          .hint = suggestion(name, domains_, "domains of the training split"),
          .file = split.source.paths().front()});
    shard.domain.push_back(static_cast<int32_t>(found - domains_.begin()));
    ++domain_rows_[static_cast<size_t>(shard.domain.back())];
  }
  for (size_t i = 0; i < c_.categorical.size(); ++i) {
    const size_t at = layout_.categorical + i;
    shard.categorical[i].push_back(
        chunk.is_null(at, row) ? kNull : vocabularies_[i].vocabulary.row(chunk.text(at, row)));
  }
  for (size_t i = 0; i < c_.dense.size(); ++i) {
    const DenseColumn& column = c_.dense[i];
    const bool present = !chunk.is_null(layout_.dense + i, row);
    float value = 0;
    if (present) {
      const double raw = chunk.reals(layout_.dense + i)[row];
      if (!std::isfinite(raw)) return split.source.locate(Error("a value that is not finite"));
      if (column.outside == Outside::Refuse && (raw < column.from || raw > column.to))
        return split.source.locate_value(
            layout_.dense + i,
            fmt::format("v < {}::DOUBLE OR v > {}::DOUBLE", column.from, column.to),
            fmt::format("outside {} to {}", column.from, column.to),
            "widen from and to, or let outside be clip");
      const double bounded = std::clamp(raw, column.from, column.to);
      value = (static_cast<float>(column.transform == Transform::Log1p ? std::log1p(bounded)
                                                                       : bounded) -
               statistics_[i].mean) *
              statistics_[i].scale;
    }
    shard.dense.push_back(value);
    shard.dense_present.push_back(present);
  }
  TRY(add_label(split, chunk, row, shard));
  if (history_) {
    const SequenceTable& table = c_.sequences.front();
    size_t user = layout_.categorical;
    while (layout_.fields[user].name != table.user) ++user;
    events_.clear();
    if (!chunk.is_null(user, row))
      history_->before(chunk.text(user, row), shard.time.back(), table.length, events_);
    for (const uint64_t event : events_) {
      for (size_t column = 0; column < shard.sequence.size(); ++column)
        shard.sequence[column].push_back(history_->code(event, column));
      shard.sequence_age.push_back(static_cast<float>(
          static_cast<double>(shard.time.back() - history_->time(event)) / kMicroseconds));
    }
    shard.sequence_offsets.push_back(static_cast<int64_t>(shard.sequence_age.size()));
  }
  ++shard.rows;
  return Done{};
}

Result<Done> Ingester::close_shard(const Split& split, ShardRows& shard) {
  const std::string name = fmt::format("{}/shard-{:05}.safetensors", split.name, shard_number_++);
  if (!run_.has(name)) {
    TRY(write_shard(run_.file(name), shard));
    TRY(run_.record(name));
  }
  const std::string print = TRY(fingerprint(run_.file(name)));
  shards_[split.name].push_back({{"file", name}, {"rows", shard.rows}, {"fingerprint", print}});
  split_rows_ += shard.rows;
  options_.progress(split.name, shard.rows);
  shard = new_shard();
  return Done{};
}

Result<Done> Ingester::write_split(const Split& split) {
  std::error_code ignored;
  std::filesystem::create_directories(run_.file(split.name), ignored);
  std::vector<std::string> names;
  for (const LabelColumn& label : c_.labels) names.push_back(label.name);
  names.insert(names.end(), c_.zip_labels.begin(), c_.zip_labels.end());
  positives_.assign(names.size(), 0);
  domain_rows_.assign(domains_.size(), 0);
  shard_number_ = 0;
  split_rows_ = 0;
  Result<Rows> rows = database_->query(split.query + split.order);
  if (!rows.ok()) return split.source.locate(rows.error());
  ShardRows shard = new_shard();
  Chunk chunk;
  for (;;) {
    const Result<bool> more = rows->next(chunk);
    if (!more.ok()) return split.source.locate(more.error());
    if (!*more) break;
    for (size_t r = 0; r < chunk.size(); ++r) {
      TRY(add_row(split, chunk, r, shard));
      if (shard.rows == c_.shard_rows) TRY(close_shard(split, shard));
    }
  }
  if (shard.rows != 0) TRY(close_shard(split, shard));
  const std::string& file = split.source.paths().front();
  if (split_rows_ == 0)
    return Error(Diagnostic{.message = fmt::format("the split {} has no rows", split.name),
                            .hint = "do valid_from and test_from lie inside the log?",
                            .file = file});
  Json positives = Json::object(), domain_rows = Json::object();
  for (size_t d = 0; d < domains_.size(); ++d) {
    domain_rows[domains_[d]] = domain_rows_[d];
    if (domain_rows_[d] == 0)
      return Error(Diagnostic{
          .message = fmt::format("column \"{}\": the split {} has no row of the domain {}",
                                 c_.domain, split.name, domains_[d]),
          .hint = "its metrics would be undefined; widen the split or leave the domain out",
          .file = file});
  }
  for (size_t l = 0; l < names.size(); ++l) {
    positives[names[l]] = positives_[l];
    if (positives_[l] == 0)
      return Error(Diagnostic{
          .message = fmt::format("column \"{}\": the split {} has no positive label in {} rows",
                                 names[l], split.name, split_rows_),
          .hint = "its metrics would be undefined; widen the split",
          .file = file});
  }
  split_json_[split.name] = {{"rows", split_rows_},
                             {"positives", positives},
                             {"domain_rows", domain_rows},
                             {"shards", shards_[split.name]}};
  return Done{};
}

Json Ingester::index() const {
  Json dense = Json::array(), labels = Json::array(), sequence = Json::array();
  Json row_columns = Json::array();
  for (size_t i = 0; i < c_.dense.size(); ++i)
    dense.push_back({{"name", c_.dense[i].name},
                     {"mean", statistics_[i].mean},
                     {"scale", statistics_[i].scale},
                     {"values", statistics_[i].values},
                     {"outside", statistics_[i].outside}});
  for (const LabelColumn& label : c_.labels)
    labels.push_back({{"name", label.name}, {"windowed", false}});
  for (size_t l = 0; l < c_.zip_labels.size(); ++l)
    labels.push_back({{"name", c_.zip_labels[l]}, {"windowed", bool(zip_.windowed[l])}});
  for (const SequenceTable& table : c_.sequences)
    for (const auto& [name, vocabulary] : table.columns)
      sequence.push_back({{"name", name}, {"vocabulary_of", vocabulary}});
  if (!c_.id.empty()) row_columns.push_back("id");
  if (!c_.time.empty()) row_columns.push_back("time");
  Json index = {{"categorical", categorical_json_},
                {"dense", dense},
                {"labels", labels},
                {"domains", domains_},
                {"windows", zip_.windows},
                {"sequence", sequence},
                {"sequence_length", c_.sequences.empty() ? 0 : c_.sequences.front().length},
                {"row_columns", row_columns}};
  const std::string schema = sha256(to_line(index));
  index["format"] = 1;
  index["schema"] = schema;
  index["splits"] = split_json_;
  return index;
}

Result<Json> Ingester::work() {
  const std::string scratch = run_.file("scratch.draft");
  std::error_code ignored;
  std::filesystem::remove_all(scratch, ignored);
  database_ = TRY(Database::open(
      {.threads = options_.workers, .memory_bytes = kQueryMemory, .spill_directory = scratch}));
  zip_ = TRY(read_zip_facts(c_));
  splits_ = TRY(open_splits(*database_, c_, layout_));
  const Split& train = splits_.front();
  vocabularies_ = TRY(count_vocabularies(*database_, c_, train));
  TRY(write_vocabularies());
  domains_ = TRY(find_domains(*database_, c_, train));
  statistics_ = TRY(measure_dense(*database_, c_, train, options_.workers));
  TRY(make_history());
  for (const Split& split : splits_) TRY(write_split(split));
  database_.reset();
  std::filesystem::remove_all(scratch, ignored);
  const Json result = index();
  TRY(write_json(run_.file("index.json"), result));
  TRY(run_.record("index.json"));
  TRY(run_.finish(result));
  return result;
}

}  // namespace

Result<Json> ingest(const DataConfiguration& configuration, RunFolder& run,
                    const IngestOptions& options) {
  return Ingester(configuration, run, options).work();
}

Result<std::vector<std::string>> ingest_inputs(const DataConfiguration& c) {
  Database database = TRY(Database::open({.threads = 1}));
  std::vector<std::string> paths;
  const auto add = [&](const std::string& what, const SourceFiles& files,
                       const std::string& base) -> Result<Done> {
    if (files.files.empty()) return Done{};
    const Source source = TRY(Source::open(database, what, base, files, {}));
    paths.insert(paths.end(), source.paths().begin(), source.paths().end());
    return Done{};
  };
  TRY(add("train", c.table, c.base));
  TRY(add("valid", c.valid, c.base));
  TRY(add("test", c.test, c.base));
  for (const SequenceTable& table : c.sequences) TRY(add("events", table.files, c.base));
  if (!c.zip_labels.empty() && c.zipped.empty())
    return Error("data.zip_labels are a zip's labels, and data.zipped names no folder of one",
                 "run lattice zip first, and name its folder with --set data.zipped=FOLDER");
  if (!c.zip_labels.empty()) TRY(add("zipped", {.files = {c.zipped + "/zipped/*.parquet"}}, ""));
  return paths;
}

}  // namespace weft::lattice
