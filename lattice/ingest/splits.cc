// SPDX-License-Identifier: Apache-2.0

#include "lattice/ingest/splits.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/near_match.h"
#include "base/table/sql_text.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

using table::quoted_name;
using table::quoted_text;

Result<Split> open_split(table::Database& database, const DataConfiguration& c,
                         const RowLayout& layout, const std::string& name, const SourceFiles& files,
                         const std::string& condition) {
  Split split{.name = name,
              .source = TRY(Source::open(database, name, c.base, files, layout.fields))};
  std::string columns = "s.*", join, order;
  const std::string id = "s." + quoted_name(c.id);
  if (layout.window != SIZE_MAX) {
    columns += ", z.\"window\"::UBIGINT";
    for (const std::string& label : c.zip_labels)
      columns += ", z." + quoted_name(label) + "::UBIGINT";
    join = fmt::format(" JOIN read_parquet({}) z ON z.impression_id = {}",
                       quoted_text(c.zipped + "/zipped/*.parquet"), id);
    order = " ORDER BY z.emit_time, " + id;
  } else if (layout.time != SIZE_MAX) {
    order = " ORDER BY s." + quoted_name(c.time) + ", " + id;
    // Without an id the whole row breaks ties; the time is its first column then.
    if (c.id.empty()) order = " ORDER BY ALL";
  }
  split.query = fmt::format("SELECT {} FROM ({}) s{}{}", columns, split.source.select(), join,
                            condition.empty() ? "" : " WHERE " + condition);
  split.order = order;
  return split;
}

}  // namespace

Result<ZipFacts> read_zip_facts(const DataConfiguration& c) {
  ZipFacts facts;
  if (c.zip_labels.empty()) return facts;
  const auto wrong = [&](const std::string& message, const std::string& hint) {
    return Error(Diagnostic{.message = message, .hint = hint, .file = c.zipped});
  };
  if (!std::filesystem::exists(c.zipped + "/manifest.json"))
    return wrong("the folder under data.zipped has no manifest: no zip, or one that did not finish",
                 "run lattice zip first, and name its folder with --set data.zipped=FOLDER");
  const Json zip = TRY(read_json(c.zipped + "/configuration.yaml"));
  if (!zip.is_object() || !zip.value("objectives", Json()).is_object() ||
      !zip.value("windows", Json()).is_array())
    return wrong("the folder under data.zipped is no run folder of a zip", "");
  std::vector<std::string> there;
  for (const auto& [name, objective] : zip["objectives"].items()) there.push_back(name);
  for (const std::string& label : c.zip_labels) {
    if (!zip["objectives"].contains(label))
      return wrong("the zip has no objective named " + label,
                   suggestion(label, there, "objectives of the zip"));
    facts.windowed.push_back(!zip["objectives"][label].contains("window"));
  }
  for (const Json& window : zip["windows"])
    facts.windows.push_back(
        parse_duration(window.is_string() ? window.get<std::string>() : "").value_or(0));
  return facts;
}

Result<std::vector<Split>> open_splits(table::Database& database, const DataConfiguration& c,
                                       const RowLayout& layout) {
  std::vector<Split> splits;
  const auto add = [&](const std::string& name, const SourceFiles& files,
                       const std::string& condition) -> Result<Done> {
    splits.push_back(TRY(open_split(database, c, layout, name, files, condition)));
    return Done{};
  };
  const std::string time = "s." + quoted_name(c.time);
  // With a zip, training has what was known by the start of validation, not what was shown by then.
  const std::string known = layout.window == SIZE_MAX ? time : "z.emit_time";
  const auto before = [](const std::string& column, const std::string& instant) {
    return fmt::format("{} < make_timestamp({})", column, parse_instant(instant).value());
  };
  const auto from = [&](const std::string& column, const std::string& instant) {
    return "NOT (" + before(column, instant) + ")";
  };
  const bool valid = !c.valid_from.empty(), test = !c.test_from.empty();
  if (!valid && !test) {
    TRY(add("train", c.table, ""));
    if (!c.valid.files.empty()) TRY(add("valid", c.valid, ""));
    if (!c.test.files.empty()) TRY(add("test", c.test, ""));
    return splits;
  }
  TRY(add("train", c.table, before(known, valid ? c.valid_from : c.test_from)));
  if (valid)
    TRY(add("valid", c.table,
            from(time, c.valid_from) + (test ? " AND " + before(time, c.test_from) : "")));
  if (test)
    TRY(add("test", c.table,
            from(time, c.test_from) +
                (c.test_until.empty() ? "" : " AND " + before(time, c.test_until))));
  return splits;
}

}  // namespace weft::lattice
