// SPDX-License-Identifier: Apache-2.0

// What a second start may trust, and what it may not.
#include "lattice/schema/run_folder.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::lattice {
namespace {

RunIdentity identity(int value, std::vector<std::string> inputs = {}) {
  return {
      .verb = "test", .configuration = {{"value", value}}, .inputs = std::move(inputs), .seed = 3};
}

class RunFolderTest : public testing::Test {
 protected:
  TemporaryDirectory base_ = TemporaryDirectory::create("run").value();
  std::string path_ = base_.file("run");

  void write_part(RunFolder& run, const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(run.file(name), text).ok());
    ASSERT_TRUE(run.record(name).ok());
  }
};

TEST_F(RunFolderTest, GivesTheSummaryOfTheStepThatWasMeant) {
  const auto refusal = [&] {
    const Result<Json> read = finished_summary(path_, "test");
    return read.ok() ? "" : read.error().message();
  };
  EXPECT_NE(refusal().find("no finished run"), std::string::npos);
  {
    RunFolder run = RunFolder::open(path_, identity(1)).value();
    ASSERT_TRUE(run.finish({{"rows", 5}}).ok());
  }
  EXPECT_EQ(finished_summary(path_, "test").value()["rows"], 5);
  EXPECT_NE(finished_summary(path_, "train").error().message().find("another step: \"test\""),
            std::string::npos);
  for (const char* damaged : {"[]", "{\"verb\": \"test\", \"summary\": 3}"}) {
    ASSERT_TRUE(write_file(path_ + "/manifest.json", damaged).ok());
    EXPECT_NE(refusal().find("damaged"), std::string::npos) << damaged;
  }
}

TEST_F(RunFolderTest, WhatIsNoManifestIsNoFinishedRun) {
  for (const char* damaged : {"[]", "{}", "{\"outputs\": [], \"sum\": 1}"}) {
    { RunFolder::open(path_, identity(1)).value(); }
    ASSERT_TRUE(write_file(path_ + "/manifest.json", damaged).ok());
    EXPECT_FALSE(RunFolder::open(path_, identity(1)).value().complete()) << damaged;
  }
  ASSERT_TRUE(write_file(path_ + "/run.json", "[]").ok());
  EXPECT_FALSE(RunFolder::open(path_, identity(1)).ok());
}

TEST_F(RunFolderTest, GoesOnWhereItStopped) {
  {
    RunFolder run = RunFolder::open(path_, identity(1)).value();
    write_part(run, "a", "first");
    ASSERT_TRUE(write_file(run.file("b"), "written but not recorded").ok());
    ASSERT_TRUE(write_file(run.file("c.draft"), "half").ok());
    // What a step leaves that spills to disk: with files, and emptied.
    ASSERT_TRUE(write_file(run.file("scratch.draft/x/spilled"), "half").ok());
    std::filesystem::create_directories(run.file("other.draft"));
  }
  RunFolder run = RunFolder::open(path_, identity(1)).value();
  EXPECT_TRUE(run.has("a"));
  EXPECT_FALSE(run.has("b"));
  EXPECT_FALSE(run.complete());
  for (const char* draft : {"c.draft", "scratch.draft", "other.draft"})
    EXPECT_FALSE(std::filesystem::exists(run.file(draft))) << draft;
  ASSERT_TRUE(run.finish({{"rows", 5}}).ok());
}

TEST_F(RunFolderTest, AStartThatWasStoppedAtOnceIsNoHindrance) {
  std::filesystem::create_directories(path_);
  for (const char* name : {"run.lock", "configuration.yaml", "run.json.a1B2c3"})
    ASSERT_TRUE(write_file(path_ + "/" + name, "").ok());
  EXPECT_TRUE(RunFolder::open(path_, identity(1)).ok());
}

TEST_F(RunFolderTest, AFinishedRunIsKept) {
  {
    RunFolder run = RunFolder::open(path_, identity(1)).value();
    write_part(run, "a", "first");
    ASSERT_TRUE(run.finish({{"rows", 5}}).ok());
  }
  {
    RunFolder run = RunFolder::open(path_, identity(1)).value();
    EXPECT_TRUE(run.complete());
    EXPECT_EQ(run.summary()["rows"], 5);
  }
  // An output that was cut after the end: no longer complete, and only that part is gone.
  ASSERT_TRUE(write_file(path_ + "/a", "fir").ok());
  const RunFolder run = RunFolder::open(path_, identity(1)).value();
  EXPECT_FALSE(run.complete());
  EXPECT_FALSE(run.has("a"));
}

TEST_F(RunFolderTest, AnotherRunIsNotOverwritten) {
  const std::string input = base_.file("input");
  ASSERT_TRUE(write_file(input, "one").ok());
  { ASSERT_TRUE(RunFolder::open(path_, identity(1, {input})).ok()); }
  const auto other = RunFolder::open(path_, identity(2, {input}));
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message().find("another configuration"), std::string::npos);
  ASSERT_TRUE(write_file(input, "two").ok());
  EXPECT_FALSE(RunFolder::open(path_, identity(1, {input})).ok()) << "the input changed";
  ASSERT_TRUE(write_file(base_.file("photos/cat"), "meow").ok());
  EXPECT_FALSE(RunFolder::open(base_.file("photos"), identity(1)).ok());
}

TEST_F(RunFolderTest, TwoProcessesDoNotShareAFolder) {
  const RunFolder run = RunFolder::open(path_, identity(1)).value();
  const auto second = RunFolder::open(path_, identity(1));
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message().find("another process"), std::string::npos);
}

TEST_F(RunFolderTest, ALineCutByACrashIsLeftOut) {
  {
    RunFolder run = RunFolder::open(path_, identity(1)).value();
    write_part(run, "a", "first");
    write_part(run, "b", "second");
  }
  const std::string lines = read_file(path_ + "/outputs.jsonl").value();
  ASSERT_TRUE(write_file(path_ + "/outputs.jsonl", lines.substr(0, lines.size() - 5)).ok());
  const RunFolder run = RunFolder::open(path_, identity(1)).value();
  EXPECT_TRUE(run.has("a"));
  EXPECT_FALSE(run.has("b"));
}

}  // namespace
}  // namespace weft::lattice
