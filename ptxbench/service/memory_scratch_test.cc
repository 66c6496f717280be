// SPDX-License-Identifier: Apache-2.0

// The folder that a killed server leaves is imitated: its name, and nobody who holds its lock.
#include "ptxbench/service/memory_scratch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

namespace weft::service {
namespace {
namespace fs = std::filesystem;

TEST(MemoryScratch, IsOursAloneAndGoesWithItsOwner) {
  std::string path;
  {
    const MemoryScratch scratch = MemoryScratch::create();
    if (scratch.path().empty()) GTEST_SKIP() << "this machine has no file system in memory";
    path = scratch.path();
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(MemoryScratch, RemovesWhatAKilledServerLeftAndNothingElse) {
  const MemoryScratch living = MemoryScratch::create();
  if (living.path().empty()) GTEST_SKIP() << "this machine has no file system in memory";
  const std::string orphan = "/dev/shm/ptxbench-" + std::to_string(getuid()) + "-orphan";
  const std::string other = "/dev/shm/ptxbench-other-" + std::to_string(getpid());
  fs::create_directories(orphan + "/worker");
  fs::create_directories(other);
  const MemoryScratch next = MemoryScratch::create();
  EXPECT_FALSE(fs::exists(orphan));
  EXPECT_TRUE(fs::exists(living.path()));
  EXPECT_TRUE(fs::exists(other));
  fs::remove_all(other);
}

TEST(MemoryScratch, IsEmptyWhereThereIsNoMemoryFileSystem) {
  EXPECT_EQ(MemoryScratch::create("/proc").path(), "");
  EXPECT_EQ(MemoryScratch::create("/no/such/folder").path(), "");
}

}  // namespace
}  // namespace weft::service
