// SPDX-License-Identifier: Apache-2.0

// One query a column: a wide table is read as often as it has columns, but never held in memory.
#include "lattice/ingest/inspection.h"

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/table/sql_text.h"

namespace weft::lattice {
namespace {

using table::Database;
using table::quoted_name;
using table::quoted_text;

struct Role {
  std::string word;
  Field field;
};

std::vector<Role> roles_of(const DataConfiguration& c) {
  std::vector<Role> roles;
  if (!c.id.empty()) roles.push_back({"id", {.name = c.id, .type = FieldType::Id}});
  if (!c.time.empty())
    roles.push_back(
        {"time",
         {.name = c.time, .type = FieldType::Time, .unit = c.unit, .assume_utc = c.assume_utc}});
  if (!c.domain.empty()) roles.push_back({"domain", {.name = c.domain}});
  const auto optional = [](const std::string& name, FieldType type) {
    return Field{.name = name, .type = type, .presence = Presence::Optional};
  };
  for (const CategoricalColumn& column : c.categorical)
    roles.push_back({"categorical", optional(column.name, FieldType::Text)});
  for (const DenseColumn& column : c.dense)
    roles.push_back({"dense", optional(column.name, FieldType::Real)});
  for (const LabelColumn& column : c.labels)
    roles.push_back({"label", optional(column.name, column.positive.empty() ? FieldType::Share
                                                                            : FieldType::Text)});
  return roles;
}

// The label as 0 to 1.
std::string label_value(const LabelColumn& label) {
  const std::string name = quoted_name(label.name);
  if (label.positive.empty()) return name;
  return fmt::format("list_contains({}, {})::INT", table::quoted_list(label.positive), name);
}

// The rows with labels as numbers: files may spell one label in two ways.
std::string comparable(const DataConfiguration& c, const Source& source) {
  std::string replaced;
  for (const LabelColumn& label : c.labels)
    replaced += fmt::format("{}{} AS {}", replaced.empty() ? "" : ", ", label_value(label),
                            quoted_name(label.name));
  return fmt::format("SELECT *{} FROM ({})", replaced.empty() ? "" : " REPLACE (" + replaced + ")",
                     source.select());
}

Result<Json> inspect_labels(Database& database, const DataConfiguration& c, const Source& source) {
  Json labels = Json::array();
  const std::string domain = c.domain.empty() ? "'all'" : quoted_name(c.domain);
  for (const LabelColumn& label : c.labels) {
    table::Rows rows = TRY(database.query(
        fmt::format("SELECT {0}::VARCHAR, count({1})::UBIGINT, avg({2})::DOUBLE FROM ({3}) GROUP "
                    "BY 1 ORDER BY 1",
                    domain, quoted_name(label.name), label_value(label), source.select())));
    table::Chunk chunk;
    while (TRY(rows.next(chunk)))
      for (size_t r = 0; r < chunk.size(); ++r)
        labels.push_back({{"label", label.name},
                          {"domain", chunk.is_null(0, r) ? "" : std::string(chunk.text(0, r))},
                          {"known", chunk.unsigneds(1)[r]},
                          {"rate", chunk.is_null(2, r) ? Json(nullptr) : Json(chunk.reals(2)[r])}});
  }
  return labels;
}

// How much domains share of a column's values, exactly: for each pair of domains, of the values of
// both the part that both have, and of the smaller's values the part that the larger has.
Result<Json> inspect_overlaps(Database& database, const DataConfiguration& c,
                              const Source& source) {
  Json overlaps = Json::array();
  if (c.domain.empty()) return overlaps;
  for (const CategoricalColumn& column : c.categorical) {
    if (column.name == c.domain) continue;
    table::Rows rows = TRY(database.query(fmt::format(
        "WITH v AS (SELECT DISTINCT {0} AS d, {1} AS x FROM ({2}) WHERE {1} IS NOT NULL AND {0} IS "
        "NOT NULL), n AS (SELECT d, count(*) AS n FROM v GROUP BY d), "
        "b AS (SELECT a.d AS d1, c.d AS d2, count(*) AS shared FROM v a JOIN v c USING (x) WHERE "
        "a.d < c.d GROUP BY ALL) "
        "SELECT p.d::VARCHAR, q.d::VARCHAR, coalesce(b.shared, 0) / (p.n + q.n - "
        "coalesce(b.shared, "
        "0)), coalesce(b.shared, 0) / least(p.n, q.n) FROM n p JOIN n q ON p.d < q.d LEFT JOIN b "
        "ON "
        "b.d1 = p.d AND b.d2 = q.d ORDER BY 1, 2",
        quoted_name(c.domain), quoted_name(column.name), source.select())));
    table::Chunk chunk;
    while (TRY(rows.next(chunk)))
      for (size_t r = 0; r < chunk.size(); ++r)
        overlaps.push_back(
            {{"column", column.name},
             {"domains", {std::string(chunk.text(0, r)), std::string(chunk.text(1, r))}},
             {"jaccard", chunk.reals(2)[r]},
             {"containment", chunk.reals(3)[r]}});
  }
  return overlaps;
}

Result<Json> inspect_table(Database& database, const DataConfiguration& c, const std::string& name,
                           const Source& source, const std::vector<Role>& roles) {
  Json columns = Json::array();
  int64_t rows = 0;
  for (size_t i = 0; i < roles.size(); ++i) {
    const std::string column = quoted_name(roles[i].field.name);
    const bool real =
        roles[i].field.type == FieldType::Real || roles[i].field.type == FieldType::Share;
    const Result<std::vector<std::string>> found = database.row(
        fmt::format("SELECT count(*), count({0}), approx_count_distinct({0}), min({0}), max({0}), "
                    "{1} FROM ({2})",
                    column, real ? fmt::format("count(*) FILTER (NOT isfinite({}))", column) : "0",
                    source.select()));
    if (!found.ok()) return source.locate(found.error());
    const std::vector<std::string>& values = *found;
    if (values[5] != "0") return source.locate(Error("a value that is not finite"));
    rows = std::strtoll(values[0].c_str(), nullptr, 10);
    const int64_t present = std::strtoll(values[1].c_str(), nullptr, 10);
    if (present != rows && roles[i].field.presence == Presence::Required)
      return source.locate(Error("a value is missing"));
    columns.push_back({{"name", roles[i].field.name},
                       {"role", roles[i].word},
                       {"stored_type", source.stored_type(i)},
                       {"missing", rows - present},
                       {"distinct_about", std::strtoll(values[2].c_str(), nullptr, 10)},
                       {"least", values[3]},
                       {"most", values[4]}});
  }
  const Json labels = TRY(inspect_labels(database, c, source));
  const Json overlaps = TRY(inspect_overlaps(database, c, source));
  return Json{{"name", name},
              {"rows", rows},
              {"columns", columns},
              {"labels", labels},
              {"overlaps", overlaps}};
}

class Audit {
 public:
  explicit Audit(Database& database) : database_(database) {}

  // `count` is SQL for the number of offending rows.
  Result<Done> check(const std::string& what, const std::string& count) {
    const auto found = TRY(database_.counts(count));
    lines_.push_back({{"check", what}, {"count", found[0]}, {"passed", found[0] == 0}});
    return Done{};
  }
  // The same for what may be innocent: it is counted and passes.
  Result<Done> note(const std::string& what, const std::string& count) {
    const auto found = TRY(database_.counts(count));
    lines_.push_back({{"check", what}, {"count", found[0]}, {"passed", true}});
    return Done{};
  }
  const Json& lines() const { return lines_; }

 private:
  Database& database_;
  Json lines_ = Json::array();
};

}  // namespace

Result<Json> inspect(const DataConfiguration& c) {
  Database database = TRY(Database::open());
  const std::vector<Role> roles = roles_of(c);
  std::vector<Field> fields;
  for (const Role& role : roles) fields.push_back(role.field);
  Json tables = Json::array();
  Audit audit(database);
  std::string train;
  struct Named {
    const char* name;
    const SourceFiles* files;
  };
  for (const auto [name, files] :
       {Named{"train", &c.table}, Named{"valid", &c.valid}, Named{"test", &c.test}}) {
    if (files->files.empty()) continue;
    const Source source = TRY(Source::open(database, name, c.base, *files, fields));
    tables.push_back(TRY(inspect_table(database, c, name, source, roles)));
    if (!c.id.empty())
      TRY(audit.check(fmt::format("ids that are in {} twice", name),
                      fmt::format("SELECT count(*) - count(DISTINCT {}) FROM ({})",
                                  quoted_name(c.id), source.select())));
    if (train.empty()) {
      train = comparable(c, source);
      continue;
    }
    const std::string both =
        fmt::format("SELECT count(*) FROM ({} INTERSECT ALL {})", comparable(c, source), train);
    // Without an id, rows that are equal may be two people.
    if (c.id.empty())
      TRY(audit.note(fmt::format("rows of {} that equal one of train (there is no id)", name),
                     both));
    else
      TRY(audit.check(fmt::format("rows of {} that are in train as they are", name), both));
  }
  for (const SequenceTable& table : c.sequences) {
    const auto instant = [&](const std::string& name) {
      return Field{
          .name = name, .type = FieldType::Time, .unit = c.unit, .assume_utc = c.assume_utc};
    };
    const Source source =
        TRY(Source::open(database, "events", c.base, table.files,
                         {instant(table.event_time), instant(table.arrival_time)}));
    const std::string event = quoted_name(table.event_time),
                      arrival = quoted_name(table.arrival_time);
    TRY(audit.check(
        "events that arrived before they happened",
        fmt::format("SELECT count(*) FROM ({}) WHERE {} < {}", source.select(), arrival, event)));
    // Not wrong by itself: whoever joins by event time alone would see these too early.
    const auto late =
        TRY(database.counts(fmt::format("SELECT count(*) FROM ({}) WHERE {} > {} + INTERVAL 1 HOUR",
                                        source.select(), arrival, event)));
    tables.push_back({{"name", "events"}, {"arrived_an_hour_late", late[0]}});
  }
  return Json{{"tables", tables}, {"audit", audit.lines()}};
}

}  // namespace weft::lattice
