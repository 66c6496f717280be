// SPDX-License-Identifier: Apache-2.0

// The index is written last, so that its absence means an ingest that did not finish.
#include "lattice/data/shard_index.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace weft::lattice {
namespace {

constexpr int kFormat = 1;

// Throws what nlohmann throws on a value of another type.
ShardIndex take(const Json& json) {
  ShardIndex index;
  for (const Json& column : json.at("categorical"))
    index.tables.push_back({column.at("name"), column.at("table_rows"),
                            kFirstUnknown + column.value("unknown_buckets", uint64_t{0})});
  for (const Json& column : json.at("dense")) index.dense.push_back(column.at("name"));
  for (const Json& label : json.at("labels"))
    index.labels.push_back({label.at("name"), label.at("windowed")});
  index.domains = json.at("domains").get<std::vector<std::string>>();
  index.windows = json.at("windows").get<std::vector<double>>();
  for (const Json& column : json.at("sequence")) {
    const auto table =
        std::find_if(index.tables.begin(), index.tables.end(), [&](const ShardIndex::Table& one) {
          return one.name == column.at("vocabulary_of").get<std::string>();
        });
    index.sequences.push_back(
        {column.at("name"), static_cast<size_t>(table - index.tables.begin())});
  }
  index.sequence_length = json.at("sequence_length");
  index.row_columns = json.at("row_columns").get<std::vector<std::string>>();
  index.schema = json.at("schema");
  for (const auto& [name, split] : json.at("splits").items()) {
    ShardIndex::Split one{.name = name, .rows = split.at("rows"), .shards = {}};
    for (const Json& shard : split.at("shards"))
      one.shards.push_back({shard.at("file"), shard.at("fingerprint"), shard.at("rows")});
    index.splits.push_back(std::move(one));
  }
  return index;
}

}  // namespace

Result<ShardIndex> ShardIndex::read(const std::string& folder) {
  const std::string path = folder + "/index.json";
  const auto wrong = [&](std::string message) {
    return Error(Diagnostic{
        .message = std::move(message), .hint = "run lattice ingest again", .file = path});
  };
  if (!std::filesystem::exists(path))
    return wrong("the folder has no index: no ingest, or one that did not finish");
  const Json json = TRY(read_json(path));
  if (!json.is_object() || json.value("format", 0) != kFormat)
    return wrong("the index is of another format");
  try {
    ShardIndex index = take(json);
    for (const Sequence& sequence : index.sequences)
      if (sequence.table == index.tables.size())
        return wrong("a sequence shares the table of no column: " + sequence.name);
    return index;
  } catch (const Json::exception& error) {
    return wrong(std::string("the index is damaged: ") + error.what());
  }
}

Result<const ShardIndex::Split*> ShardIndex::split(const std::string& name) const {
  std::string names;
  for (const Split& one : splits) {
    if (one.name == name) return &one;
    names += (names.empty() ? "" : ", ") + one.name;
  }
  return Error("no split named " + name, "there are: " + names);
}

}  // namespace weft::lattice
