// SPDX-License-Identifier: Apache-2.0

// CSV is read as text throughout: DuckDB's guesses at types differ with the rows it happens to look
// at. Only the declared type decides.
#include "lattice/ingest/source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <glob.h>

#include "base/near_match.h"
#include "base/table/sql_text.h"

namespace weft::lattice {
namespace {

using table::Chunk;
using table::Database;
using table::quoted_list;
using table::quoted_name;
using table::quoted_text;
using table::Rows;

Result<std::vector<std::string>> find_files(const std::string& what, const std::string& base,
                                            const std::vector<std::string>& patterns) {
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns) {
    const std::string whole =
        pattern.starts_with('/') || base.empty() ? pattern : base + "/" + pattern;
    glob_t found{};
    const int failed = glob(whole.c_str(), 0, nullptr, &found);
    for (size_t i = 0; failed == 0 && i < found.gl_pathc; ++i)
      paths.emplace_back(found.gl_pathv[i]);
    globfree(&found);
    if (failed != 0)
      return Error(Diagnostic{.message = fmt::format("no file of the table {} is here", what),
                              .file = whole});
  }
  if (paths.empty()) return Error(fmt::format("the table {} names no files", what));
  return paths;
}

// By its name or its first bytes; whatever is no Parquet is text.
bool is_csv(const std::string& path) {
  if (path.ends_with(".parquet")) return false;
  char start[4] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return std::string_view(start, sizeof start) != "PAR1";
}

bool is_integer(const std::string& type) {
  return type.ends_with("INT") || type.ends_with("INTEGER");
}

// A header that names a column twice: DuckDB would rename the second without a word.
Result<Done> refuse_doubled(Database& database, const std::string& path, const SourceFiles& files) {
  Rows rows = TRY(database.query(fmt::format(
      "SELECT * FROM read_csv({}, header = false, all_varchar = true, delim = {}, skip = {}, "
      "auto_detect = false, columns = {{'line': 'VARCHAR'}}, null_padding = true, "
      "ignore_errors = true, quote = '') LIMIT 1",
      quoted_text(path), quoted_text("\x01"), files.skip)));
  Chunk chunk;
  if (!TRY(rows.next(chunk)))
    return Error(Diagnostic{.message = "the file is empty", .file = path});
  std::set<std::string> seen;
  std::string line(chunk.is_null(0, 0) ? "" : chunk.text(0, 0));
  for (size_t start = 0; start <= line.size();) {
    const size_t end = std::min(line.find(files.delimiter, start), line.size());
    std::string name = line.substr(start, end - start);
    std::erase(name, '"');
    if (!seen.insert(name).second)
      return Error(Diagnostic{.message = fmt::format("the column \"{}\" is there twice", name),
                              .file = path});
    start = end + files.delimiter.size();
  }
  return Done{};
}

Result<Done> check_type(const Field& field, const std::string& stored, const std::string& path) {
  const auto refuse = [&](const char* wanted, const char* hint) {
    return Error(Diagnostic{.message = fmt::format("the column \"{}\" holds {}, which is no {}",
                                                   field.name, stored, wanted),
                            .hint = hint,
                            .file = path});
  };
  const bool text = stored == "VARCHAR";
  if (field.type == FieldType::Id && !text && !is_integer(stored))
    return refuse("id", "ids are whole numbers from 0 to 2^64 - 1");
  if ((field.type == FieldType::Real || field.type == FieldType::Share) && !text &&
      !is_integer(stored) && stored != "FLOAT" && stored != "DOUBLE" && stored != "DECIMAL" &&
      stored != "BOOLEAN")
    return refuse("number", "declare another role for it");
  if (field.type != FieldType::Time) return Done{};
  if (is_integer(stored) && field.unit == TimeUnit::None)
    return refuse("instant by itself", "declare its unit: s, ms or us since 1970-01-01 UTC");
  if (!text && !is_integer(stored) && !stored.starts_with("TIMESTAMP") && stored != "DATE")
    return refuse("instant", "");
  return Done{};
}

}  // namespace

std::string Source::relation(const std::vector<std::string>& paths) const {
  if (!csv_) return fmt::format("read_parquet({}, union_by_name = false)", quoted_list(paths));
  std::string text = fmt::format(
      "read_csv({}, all_varchar = true, delim = {}, skip = {}, quote = '\"', "
      "nullstr = {}, auto_detect = {}",
      quoted_list(paths), quoted_text(files_.delimiter), files_.skip,
      quoted_list({"", files_.null_text}), files_.names.empty());
  if (files_.names.empty()) return text + ", header = true)";
  text += ", header = false, columns = {";
  for (size_t i = 0; i < files_.names.size(); ++i)
    text += fmt::format("{}{}: 'VARCHAR'", i == 0 ? "" : ", ", quoted_text(files_.names[i]));
  return text + "})";
}

Result<Source> Source::open(Database& database, const std::string& what, const std::string& base,
                            const SourceFiles& files, const std::vector<Field>& fields) {
  Source source;
  source.what_ = what;
  source.files_ = files;
  source.fields_ = fields;
  source.paths_ = TRY(find_files(what, base, files.files));
  source.csv_ = is_csv(source.paths_.front());
  for (const std::string& path : source.paths_) {
    if (is_csv(path) != source.csv_)
      return Error(Diagnostic{.message = "CSV and Parquet in one table", .file = path});
    if (source.csv_ && files.names.empty()) TRY(refuse_doubled(database, path, files));
    // Each file must have the columns; a union would fill in nulls for a missing one.
    Result<Rows> rows = database.query("SELECT * FROM " + source.relation({path}) + " LIMIT 0");
    if (!rows.ok())
      return Error(
          Diagnostic{.message = "cannot read the file: " + rows.error().message(), .file = path});
    std::vector<std::string> names;
    for (const table::ColumnInfo& column : rows->columns()) names.push_back(column.name);
    std::vector<std::string> types;
    for (const Field& field : fields) {
      const auto found = std::find(names.begin(), names.end(), field.name);
      if (found == names.end())
        return Error(
            Diagnostic{.message = fmt::format("no column \"{}\" in the table {}", field.name, what),
                       .hint = suggestion(field.name, names, "columns here"),
                       .file = path});
      types.push_back(rows->columns()[static_cast<size_t>(found - names.begin())].sql_type);
      TRY(check_type(field, types.back(), path));
    }
    if (!source.stored_types_.empty() && source.stored_types_ != types)
      return Error(Diagnostic{.message = "columns of other types than in " + source.paths_.front(),
                              .file = path});
    source.stored_types_ = types;
  }
  return source;
}

std::string Source::cast(size_t index) const {
  const Field& field = fields_[index];
  const std::string& stored = stored_types_[index];
  const std::string name = quoted_name(field.name);
  switch (field.type) {
    case FieldType::Id:
      return stored == "UBIGINT" ? name : name + "::UBIGINT";
    case FieldType::Real:
    case FieldType::Share:
      return name + "::DOUBLE";
    case FieldType::Text:
      return name + "::VARCHAR";
    case FieldType::Time:
      break;
  }
  if (stored == "TIMESTAMP WITH TIME ZONE") return fmt::format("({} AT TIME ZONE 'UTC')", name);
  if (is_integer(stored)) {
    const char* factor = field.unit == TimeUnit::Seconds        ? "1000000"
                         : field.unit == TimeUnit::Milliseconds ? "1000"
                                                                : "1";
    return fmt::format("make_timestamp({}::BIGINT * {})", name, factor);
  }
  if (stored == "VARCHAR" && field.unit != TimeUnit::None)
    return fmt::format("make_timestamp(({}::DOUBLE * {})::BIGINT)", name,
                       field.unit == TimeUnit::Seconds        ? 1'000'000
                       : field.unit == TimeUnit::Milliseconds ? 1'000
                                                              : 1);
  if (stored == "VARCHAR" && field.assume_utc) return name + "::TIMESTAMP";
  // A text without a zone becomes one that no cast accepts, so that it is found and refused.
  if (stored == "VARCHAR")
    return fmt::format(
        "((CASE WHEN regexp_matches({0}, '(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)$') THEN {0} "
        "WHEN {0} IS NULL THEN NULL ELSE 'without a zone: ' || {0} END)::TIMESTAMPTZ "
        "AT TIME ZONE 'UTC')",
        name);
  return name + "::TIMESTAMP";
}

std::string Source::value(size_t index) const {
  return "TRY(" + cast(index) + ")";
}

std::string Source::select() const {
  std::string list;
  for (size_t i = 0; i < fields_.size(); ++i)
    list += fmt::format("{}{} AS {}", i == 0 ? "" : ", ", cast(i), quoted_name(fields_[i].name));
  return "SELECT " + list + " FROM " + relation();
}

Error Source::locate(const Error& otherwise) const {
  // One thread and no ordering of ours: row_number counts in the order of the file.
  Result<Database> database = Database::open({.threads = 1});
  if (!database.ok()) return std::move(database).error();
  for (const std::string& path : paths_) {
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Field& field = fields_[i];
      const std::string name = quoted_name(field.name);
      std::string bad = fmt::format("({} IS NOT NULL AND v IS NULL)", name);
      if (field.presence == Presence::Required) bad += fmt::format(" OR {} IS NULL", name);
      if (field.type == FieldType::Real) bad += " OR NOT isfinite(v)";
      if (field.type == FieldType::Share) bad += " OR isnan(v) OR v < 0 OR v > 1";
      if (field.type == FieldType::Time)
        bad += fmt::format(" OR v < make_timestamp({}) OR v >= make_timestamp({})", kEarliest,
                           kLatest);
      Result<Rows> rows =
          database->query(fmt::format("SELECT n, {0}::VARCHAR, (v IS NOT NULL) AS fits FROM "
                                      "(SELECT row_number() OVER () AS n, {0}, {1} AS v "
                                      "FROM {2}) WHERE {3} LIMIT 1",
                                      name, value(i), relation({path}), bad));
      Chunk chunk;
      if (!rows.ok()) continue;
      const Result<bool> more = rows->next(chunk);
      if (!more.ok() || !*more) continue;
      const std::string where =
          fmt::format("column \"{}\", row {}", field.name, chunk.integers(0)[0]);
      if (chunk.is_null(1, 0))
        return Error(Diagnostic{.message = where + ": a value is missing", .file = path});
      const std::string text(chunk.text(1, 0));
      const bool fits = chunk.integers(2)[0] != 0;
      Diagnostic diagnostic{.file = path};
      switch (field.type) {
        case FieldType::Id:
          diagnostic.message = fmt::format("{}: not an id: {}", where, text);
          diagnostic.hint = "ids are whole numbers from 0 to 2^64 - 1";
          break;
        case FieldType::Real:
          diagnostic.message = fmt::format("{}: not a finite number: {}", where, text);
          diagnostic.hint = "leave the field empty where there is no value";
          break;
        case FieldType::Share:
          diagnostic.message = fmt::format("{}: a label outside 0 to 1: {}", where, text);
          diagnostic.hint = "name the words that mean 1 with positive, or scale the column";
          break;
        case FieldType::Time:
          diagnostic.message = fits
                                   ? fmt::format("{}: a time outside 2000 to 2100: {}", where, text)
                                   : fmt::format("{}: not an instant: {}", where, text);
          diagnostic.hint = fits ? "is the declared unit right? s, ms or us since 1970-01-01 UTC"
                                 : "write a zone (Z, +02:00), or declare zone: UTC";
          break;
        case FieldType::Text:
          diagnostic.message = fmt::format("{}: not a text: {}", where, text);
          break;
      }
      return Error(diagnostic);
    }
  }
  return otherwise;
}

Error Source::locate_value(size_t field, const std::string& condition, const std::string& what,
                           const std::string& hint) const {
  Result<Database> database = Database::open({.threads = 1});
  if (!database.ok()) return std::move(database).error();
  const std::string name = quoted_name(fields_[field].name);
  for (const std::string& path : paths_) {
    Result<Rows> rows =
        database->query(fmt::format("SELECT n, t FROM (SELECT row_number() OVER () AS n, "
                                    "{}::VARCHAR AS t, {} AS v FROM {}) WHERE {} LIMIT 1",
                                    name, value(field), relation({path}), condition));
    Chunk chunk;
    if (!rows.ok()) continue;
    const Result<bool> more = rows->next(chunk);
    if (!more.ok() || !*more) continue;
    return Error(
        Diagnostic{.message = fmt::format("column \"{}\", row {}: {}: {}", fields_[field].name,
                                          chunk.integers(0)[0], what, chunk.text(1, 0)),
                   .hint = hint,
                   .file = path});
  }
  return Error(fmt::format("column \"{}\": {}", fields_[field].name, what), hint);
}

}  // namespace weft::lattice
