// SPDX-License-Identifier: Apache-2.0

#include "base/text_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/temporary_directory.h"

namespace weft {
namespace {

TEST(TextFile, ReadsBackWhatWasWritten) {
  const TemporaryDirectory folder = TemporaryDirectory::create("test").value();
  const std::string content("a\0b\r\n\xff", 6);
  ASSERT_TRUE(write_file(folder.file("new/deep/file"), content).ok());
  EXPECT_EQ(read_file(folder.file("new/deep/file")).value(), content);
}

TEST(TextFile, ReplacesAndLeavesNoDraft) {
  const TemporaryDirectory folder = TemporaryDirectory::create("test").value();
  ASSERT_TRUE(write_file(folder.file("file"), "long first content").ok());
  ASSERT_TRUE(write_file(folder.file("file"), "second").ok());
  EXPECT_EQ(read_file(folder.file("file")).value(), "second");
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
    ++entries;
  EXPECT_EQ(entries, 1);
}

TEST(TextFile, ReadsFilesThatTellNoSize) {
  EXPECT_TRUE(read_file("/proc/self/cmdline").value().find("base_test") != std::string::npos);
}

TEST(TextFile, NamesTheMissingFile) {
  const Result<std::string> content = read_file("/no/such/file");
  ASSERT_FALSE(content.ok());
  EXPECT_EQ(format(content.error()),
            "/no/such/file: error: cannot open the file: No such file or directory");
}

TEST(TextFile, RefusesAFolder) {
  EXPECT_FALSE(read_file("/usr").ok());
}

}  // namespace
}  // namespace weft
