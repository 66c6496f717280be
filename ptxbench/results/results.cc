// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/results/results.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/table/database.h"
#include "base/table/sql_text.h"
#include "base/table/writer.h"

namespace weft::results {

Result<Done> store(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure))
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  if (files.empty()) return Error("no CSV files in " + folder);
  std::sort(files.begin(), files.end());

  const std::string kept = folder + "/results.duckdb", draft = kept + ".draft";
  fs::remove(draft, failure);
  {
    table::Database database = TRY(table::Database::open());
    TRY(database.execute("ATTACH " + table::quoted_text(draft) + " AS kept"));
    for (const fs::path& file : files) {
      const std::string rows = "SELECT * FROM read_csv(" + table::quoted_text(file.string()) +
                               ", header = true, delim = ',', quote = '\"')";
      TRY(database.execute("CREATE TABLE kept." + table::quoted_name(file.stem().string()) +
                           " AS " + rows));
      TRY(table::copy_to_parquet(database, rows,
                                 fs::path(file).replace_extension(".parquet").string()));
    }
    TRY(database.execute("DETACH kept"));
  }
  fs::rename(draft, kept, failure);
  if (failure) return Error("cannot write " + kept + ": " + failure.message());
  return Done{};
}

}  // namespace weft::results
