// SPDX-License-Identifier: Apache-2.0

#include "base/temporary_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace weft {
namespace {

TEST(TemporaryDirectory, GoesAwayWithAllThatIsInIt) {
  std::string path;
  {
    const TemporaryDirectory folder = TemporaryDirectory::create("test").value();
    path = folder.path();
    std::filesystem::create_directories(folder.file("a/b"));
    std::ofstream(folder.file("a/b/c")) << "text";
    EXPECT_TRUE(std::filesystem::exists(folder.file("a/b/c")));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryDirectory, RemovesFoldersThatMayNotBeEntered) {
  std::string path;
  {
    const TemporaryDirectory folder = TemporaryDirectory::create("test").value();
    path = folder.path();
    std::filesystem::create_directories(folder.file("closed/inner"));
    std::filesystem::permissions(folder.file("closed"), std::filesystem::perms::none);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryDirectory, BelongsToOneOwner) {
  TemporaryDirectory first = TemporaryDirectory::create("test").value();
  const std::string path = first.path();
  {
    const TemporaryDirectory second = std::move(first);
    EXPECT_EQ(second.path(), path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace weft
