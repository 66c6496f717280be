// SPDX-License-Identifier: Apache-2.0

// Expected values by hand; 2025-01-01 is day 20,089 after 1970-01-01 (`date -u -d 2025-01-01 +%s`).
#include "lattice/schema/duration.h"

#include <gtest/gtest.h>

namespace weft::lattice {
namespace {

TEST(Duration, HasFourUnits) {
  EXPECT_EQ(parse_duration("90m"), 5400);
  EXPECT_EQ(parse_duration("2.5h"), 9000);
  EXPECT_EQ(parse_duration("7d"), 604800);
  EXPECT_EQ(parse_duration("0s"), 0);
  for (const char* bad : {"", "90", "m", "-1d", "1w", "1 d", "1dd", "inf d", "nand"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Duration, IsWrittenInTheLargestWholeUnit) {
  EXPECT_EQ(format_duration(5400), "90m");
  EXPECT_EQ(format_duration(86400), "1d");
  EXPECT_EQ(format_duration(1.5), "1.5s");
}

TEST(Instant, IsUtc) {
  EXPECT_EQ(parse_instant("2025-01-01"), 1735689600000000);
  EXPECT_EQ(parse_instant("2025-01-01T00:00:01Z"), 1735689601000000);
  for (const char* bad :
       {"2025-02-30", "2025-01-01T00:00:01", "2025-01-01T00:00:01+02:00", "25-01-01"})
    EXPECT_FALSE(parse_instant(bad)) << bad;
  EXPECT_EQ(format_instant(1735689601500000), "2025-01-01T00:00:01.500000Z");
  EXPECT_EQ(format_instant(-1000000), "1969-12-31T23:59:59Z");
}

}  // namespace
}  // namespace weft::lattice
