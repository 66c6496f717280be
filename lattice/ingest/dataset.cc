// SPDX-License-Identifier: Apache-2.0

// A name with two roles, or a logarithm whose declared domain it cannot take, is refused here,
// before a row is read.
#include "lattice/ingest/dataset.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/near_match.h"
#include "lattice/ingest/source_fields.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

const std::vector<std::string> kTransforms = {"none", "log1p"};
const std::vector<std::string> kOutside = {"clip", "refuse"};

Result<DenseColumn> read_dense(const YamlDocument& document, const std::string& name,
                               const YamlNode& node) {
  DenseColumn column{.name = name};
  Fields fields = TRY(Fields::open(document, node, "column " + name));
  TRY(fields.read_word("transform", column.transform, kTransforms));
  if (column.transform == Transform::Log1p) column.from = 0;
  TRY(fields.read("from", column.from, -1e30, 1e30));
  TRY(fields.read("to", column.to, -1e30, 1e30));
  TRY(fields.read_word("outside", column.outside, kOutside));
  TRY(fields.read("standardize", column.standardize));
  TRY(fields.finish());
  if (column.to <= column.from) return fields.error("to", "is not above from");
  if (column.transform == Transform::Log1p && column.from <= -1)
    return fields.error("from", fmt::format("is {}, and log1p takes values above -1", column.from),
                        "raise from: smaller values are then bounded to it, and counted");
  return column;
}

Result<SequenceTable> read_sequence(Fields& fields, const YamlNode& node) {
  SequenceTable table;
  Fields inner = TRY(Fields::open(fields.document(), node, "sequence"));
  TRY(read_source(inner, "table", table.files));
  TRY(inner.read("user", table.user));
  TRY(inner.read("event_id", table.event_id));
  TRY(inner.read("event_time", table.event_time));
  TRY(inner.read("arrival_time", table.arrival_time));
  TRY(inner.read("length", table.length, 1));
  const auto one = [&](const std::string& name, const YamlNode& value) -> Result<Done> {
    table.columns.emplace_back(name, value.scalar.empty() ? name : value.scalar);
    return Done{};
  };
  TRY(inner.each("columns", one));
  TRY(inner.finish());
  if (table.columns.empty()) return inner.error("columns", "has no entry");
  return table;
}

Result<Done> check(const Fields& fields, const DataConfiguration& data) {
  std::set<std::string> names;
  std::vector<std::string> categorical;
  const auto take = [&](const std::string& key, const std::string& name) -> Result<Done> {
    if (!name.empty() && !names.insert(name).second)
      return fields.error(key, fmt::format("gives the column \"{}\" a second role", name));
    return Done{};
  };
  TRY(take("id", data.id));
  TRY(take("time", data.time));
  for (const CategoricalColumn& column : data.categorical) {
    TRY(take("categorical", column.name));
    categorical.push_back(column.name);
  }
  for (const DenseColumn& column : data.dense) TRY(take("dense", column.name));
  for (const LabelColumn& column : data.labels) TRY(take("labels", column.name));
  for (const std::string& name : data.zip_labels) TRY(take("zip_labels", name));
  if (data.labels.empty() && data.zip_labels.empty()) return fields.error("labels", "has no entry");
  if (!data.zip_labels.empty() && data.id.empty())
    return fields.error("zip_labels", "needs id, by which the labels are joined");
  std::string last;
  for (const auto& [key, instant] :
       {std::pair("valid_from", data.valid_from), std::pair("test_from", data.test_from),
        std::pair("test_until", data.test_until)}) {
    if (instant.empty()) continue;
    if (!parse_instant(instant)) return fields.error(key, "is no instant in UTC: " + instant);
    if (!last.empty() && parse_instant(instant) <= parse_instant(last))
      return fields.error(key, "is not after " + last);
    last = instant;
  }
  if (!data.test_until.empty() && data.test_from.empty())
    return fields.error("test_until", "needs test_from");
  if ((!data.valid_from.empty() || !data.test_from.empty()) && data.time.empty())
    return fields.error("valid_from", "splits by time, and no column is named under time");
  for (const SequenceTable& table : data.sequences) {
    if (data.time.empty())
      return fields.error("sequence", "needs time: what happened later must not be seen");
    for (const auto& [name, vocabulary] : table.columns)
      if (std::find(categorical.begin(), categorical.end(), vocabulary) == categorical.end())
        return fields.error(
            "sequence",
            fmt::format("shares the vocabulary of no categorical column: {}", vocabulary),
            suggestion(vocabulary, categorical, "categorical columns"));
  }
  return Done{};
}

}  // namespace

Result<DataConfiguration> read_data(const YamlDocument& document, const YamlNode& node,
                                    std::string base) {
  DataConfiguration data;
  data.base = std::move(base);
  Fields fields = TRY(Fields::open(document, node, "data"));
  TRY(read_source(fields, "table", data.table));
  TRY(read_source(fields, "valid", data.valid));
  TRY(read_source(fields, "test", data.test));
  TRY(fields.read("id", data.id));
  TRY(fields.read("time", data.time));
  TRY(fields.read("domain", data.domain));
  TRY(fields.read_word("unit", data.unit, kTimeUnitWords));
  TRY(fields.read("assume_utc", data.assume_utc));
  const auto one_categorical = [&](const std::string& name, const YamlNode& value) -> Result<Done> {
    CategoricalColumn column{.name = name};
    Fields inner = TRY(Fields::open(document, value, "column " + name));
    TRY(inner.read("unknown_buckets", column.unknown_buckets, 1));
    TRY(inner.read("least_count", column.least_count, 1));
    TRY(inner.read("most", column.most, 1));
    TRY(inner.read("most_unknown", column.most_unknown, 0, 1));
    data.categorical.push_back(column);
    return inner.finish();
  };
  const auto one_dense = [&](const std::string& name, const YamlNode& value) -> Result<Done> {
    data.dense.push_back(TRY(read_dense(document, name, value)));
    return Done{};
  };
  const auto one_label = [&](const std::string& name, const YamlNode& value) -> Result<Done> {
    LabelColumn column{.name = name};
    Fields inner = TRY(Fields::open(document, value, "label " + name));
    TRY(inner.read("positive", column.positive));
    data.labels.push_back(column);
    return inner.finish();
  };
  TRY(fields.each("categorical", one_categorical));
  TRY(fields.each("dense", one_dense));
  TRY(fields.each("labels", one_label));
  TRY(fields.read("zipped", data.zipped));
  TRY(fields.read("zip_labels", data.zip_labels));
  if (const YamlNode* sequence = fields.node("sequence"))
    data.sequences.push_back(TRY(read_sequence(fields, *sequence)));
  TRY(fields.read("valid_from", data.valid_from));
  TRY(fields.read("test_from", data.test_from));
  TRY(fields.read("test_until", data.test_until));
  TRY(fields.read("shard_rows", data.shard_rows, 1));
  TRY(fields.finish());
  TRY(check(fields, data));
  return data;
}

Json to_json(const DataConfiguration& data) {
  Json categorical = Json::object(), dense = Json::object(), labels = Json::object();
  for (const CategoricalColumn& one : data.categorical)
    categorical[one.name] = {{"unknown_buckets", one.unknown_buckets},
                             {"least_count", one.least_count},
                             {"most", one.most},
                             {"most_unknown", one.most_unknown}};
  for (const DenseColumn& one : data.dense)
    dense[one.name] = {{"transform", kTransforms[static_cast<size_t>(one.transform)]},
                       {"from", one.from},
                       {"to", one.to},
                       {"outside", kOutside[static_cast<size_t>(one.outside)]},
                       {"standardize", one.standardize}};
  for (const LabelColumn& one : data.labels) labels[one.name] = {{"positive", one.positive}};
  Json result = {{"table", to_json(data.table)},
                 {"valid", to_json(data.valid)},
                 {"test", to_json(data.test)},
                 {"id", data.id},
                 {"time", data.time},
                 {"domain", data.domain},
                 {"unit", kTimeUnitWords[static_cast<size_t>(data.unit)]},
                 {"assume_utc", data.assume_utc},
                 {"categorical", categorical},
                 {"dense", dense},
                 {"labels", labels},
                 {"zipped", data.zipped},
                 {"zip_labels", data.zip_labels},
                 {"valid_from", data.valid_from},
                 {"test_from", data.test_from},
                 {"test_until", data.test_until},
                 {"shard_rows", data.shard_rows}};
  for (const SequenceTable& one : data.sequences) {
    Json columns = Json::object();
    for (const auto& [name, vocabulary] : one.columns) columns[name] = vocabulary;
    result["sequence"] = {{"table", to_json(one.files)},
                          {"user", one.user},
                          {"event_id", one.event_id},
                          {"event_time", one.event_time},
                          {"arrival_time", one.arrival_time},
                          {"columns", columns},
                          {"length", one.length}};
  }
  return result;
}

}  // namespace weft::lattice
