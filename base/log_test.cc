// SPDX-License-Identifier: Apache-2.0

#include "base/log.h"

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

TEST(Log, GoesWhereTheProgramSays) {
  static std::string seen;
  seen.clear();
  log(LogLevel::Error, "before there is a sink");
  set_log_sink([](LogLevel level, std::string_view message) {
    seen += std::to_string(static_cast<int>(level)) + std::string(message) + ";";
  });
  log(LogLevel::Warning, "low memory");
  log(LogLevel::Info, "started");
  set_log_sink(nullptr);
  log(LogLevel::Info, "after");
  EXPECT_EQ(seen, "2low memory;1started;");
}

TEST(Log, WritesFromTheChosenLevelUpwards) {
  testing::internal::CaptureStderr();
  log_to_standard_error(LogLevel::Warning);
  log(LogLevel::Info, "quiet");
  log(LogLevel::Warning, "loud");
  set_log_sink(nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: loud\n");
}

}  // namespace
}  // namespace weft
