// SPDX-License-Identifier: Apache-2.0

// Builds are files that the test writes itself: the cache does not care who made them. Processes
// that build at once are real ones.
#include "ptxbench/judge/build_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

class BuildCacheTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(write_file(path, text).ok());
  }
  CachedBuild build(const std::string& inputs, const std::string& result) {
    const BuildCache::Lock lock = cache_.lock(inputs).value();
    write(lock.scratch() + "/object", result);
    return cache_.commit(lock, {"object"}, {header_}).value();
  }
  std::optional<CachedBuild> find(const std::string& inputs) {
    return cache_.find(cache_.lock(inputs).value());
  }

  TemporaryDirectory folder_ = TemporaryDirectory::create("cache").value();
  BuildCache cache_ = BuildCache::open(folder_.file("builds")).value();
  std::string header_ = folder_.file("header.h");

  void SetUp() override { write(header_, "int x;\n"); }
};

TEST_F(BuildCacheTest, FindsWhatWasCommitted) {
  EXPECT_FALSE(find("source").has_value());
  build("source", "machine code");
  const auto found = find("source");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(read_file(found->folder + "/object").value(), "machine code");
  EXPECT_FALSE(find("source ").has_value());
}

TEST_F(BuildCacheTest, MissesWhenAHeaderChanges) {
  build("source", "machine code");
  write(header_, "int x, y;\n");
  EXPECT_FALSE(find("source").has_value());
  build("source", "other machine code");
  EXPECT_EQ(read_file(find("source")->folder + "/object").value(), "other machine code");
  // The first entry is right again when the header is.
  write(header_, "int x;\n");
  EXPECT_EQ(read_file(find("source")->folder + "/object").value(), "machine code");
  fs::remove(header_);
  EXPECT_FALSE(find("source").has_value());
}

TEST_F(BuildCacheTest, DoesNotTrustADamagedEntry) {
  const CachedBuild built = build("source", "machine code");
  write(built.folder + "/object", "machine cod3");
  EXPECT_FALSE(find("source").has_value());
  // The same build takes its place.
  build("source", "machine code");
  EXPECT_TRUE(find("source").has_value());
  std::ofstream(built.folder + "/manifest", std::ios::app) << "file 00 more\n";
  EXPECT_FALSE(find("source").has_value());
  fs::remove(built.folder + "/manifest");
  EXPECT_FALSE(find("source").has_value());
}

TEST_F(BuildCacheTest, LeavesNothingOfAKilledBuild) {
  const pid_t child = fork();
  if (child == 0) {
    const BuildCache::Lock lock = cache_.lock("source").value();
    std::ofstream(folder_.file("half")) << "x";
    (void)write_file(lock.scratch() + "/object", "half a build");
    (void)write_file(lock.scratch() + "/entry/manifest", "");
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(fs::exists(folder_.file("half")));
  // The lock went with the process, and what it left is not an entry.
  const BuildCache::Lock lock = cache_.lock("source").value();
  EXPECT_FALSE(cache_.find(lock).has_value());
  EXPECT_FALSE(fs::exists(lock.scratch()));
}

TEST_F(BuildCacheTest, BuildsOnceForManyProcesses) {
  constexpr int kProcesses = 6;
  const std::string log = folder_.file("built");
  for (int i = 0; i < kProcesses; ++i) {
    if (fork() != 0) continue;
    const BuildCache::Lock lock = cache_.lock("source").value();
    if (!cache_.find(lock)) {
      std::ofstream(log, std::ios::app) << "x";
      usleep(50000);
      (void)write_file(lock.scratch() + "/object", "machine code");
      (void)cache_.commit(lock, {"object"}, {header_});
    }
    _exit(cache_.find(lock).has_value() ? 0 : 1);
  }
  for (int i = 0; i < kProcesses; ++i) {
    int status = 1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_file(log).value(), "x");
}

TEST(Dependencies, AreReadAsCompilersWriteThem) {
  EXPECT_EQ(read_dependencies("a.o: a.cu \\\n /usr/include/b.h \\\n  with\\ blank.h\n"),
            (std::vector<std::string>{"a.cu", "/usr/include/b.h", "with blank.h"}));
  EXPECT_TRUE(read_dependencies("").empty());
}

}  // namespace
}  // namespace weft::judge
