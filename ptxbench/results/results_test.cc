// SPDX-License-Identifier: Apache-2.0

// What was written as CSV is asked for again, through the other two forms.
#include "ptxbench/results/results.h"

#include <gtest/gtest.h>

#include "base/table/database.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::results {
namespace {

TEST(Results, HoldTheRowsInDuckDbAndParquet) {
  const TemporaryDirectory folder = TemporaryDirectory::create("results").value();
  EXPECT_FALSE(store(folder.path()).ok());
  ASSERT_TRUE(write_file(folder.file("turns.csv"), "id,turn,tag\na,0,\"A, H\"\nb,3,\n").ok());
  for (int twice = 0; twice < 2; ++twice) {
    const Result<Done> stored = store(folder.path());
    ASSERT_TRUE(stored.ok()) << format(stored.error());
  }
  table::Database database = table::Database::open().value();
  ASSERT_TRUE(database.execute("ATTACH '" + folder.file("results.duckdb") + "' AS kept").ok());
  const std::vector<std::string> expected = {"2", "3", "A, H"};
  EXPECT_EQ(database.row("SELECT count(*), sum(turn), max(tag) FROM kept.turns").value(), expected);
  EXPECT_EQ(
      database
          .row("SELECT count(*), sum(turn), max(tag) FROM '" + folder.file("turns.parquet") + "'")
          .value(),
      expected);
}

}  // namespace
}  // namespace weft::results
