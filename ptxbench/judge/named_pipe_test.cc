// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/named_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>

#include "base/temporary_directory.h"

namespace weft::judge {
namespace {

class NamedPipeTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    ended_ = Descriptor(ends[0]);
    end_signal_ = Descriptor(ends[1]);
  }
  Waited wait() { return wait_for_more(pipe_, ended_, 0, buffer_).value(); }

  TemporaryDirectory folder_ = TemporaryDirectory::create("pipe").value();
  Descriptor pipe_ = make_pipe(folder_.file("pipe")).value();
  Descriptor ended_, end_signal_;
  std::string buffer_;
};

TEST_F(NamedPipeTest, ReadsEverythingBeforeItTellsOfTheEnd) {
  EXPECT_EQ(wait(), Waited::Neither);
  ASSERT_EQ(write(pipe_.get(), "last words\n", 11), 11);
  end_signal_.reset();
  EXPECT_EQ(wait(), Waited::More);
  EXPECT_EQ(buffer_, "last words\n");
  EXPECT_EQ(wait(), Waited::Ended);
}

// The two descriptors are looked at one after the other; the writer acts in between now and then.
TEST_F(NamedPipeTest, LosesNothingThatIsWrittenJustBeforeTheEnd) {
  for (int round = 0; round < 1000; ++round) {
    SetUp();
    buffer_.clear();
    std::thread writer([this] {
      EXPECT_EQ(write(pipe_.get(), "x", 1), 1);
      end_signal_.reset();
    });
    while (wait_for_more(pipe_, ended_, 1000, buffer_).value() != Waited::Ended) {
    }
    writer.join();
    ASSERT_EQ(buffer_, "x") << round;
  }
}

TEST_F(NamedPipeTest, TakesAWriterThatLeavesForNoEnd) {
  Descriptor(open(folder_.file("pipe").c_str(), O_WRONLY | O_CLOEXEC)).reset();
  EXPECT_EQ(wait(), Waited::Neither);
}

TEST_F(NamedPipeTest, NamesAPathThatIsTaken) {
  const Result<Descriptor> second = make_pipe(folder_.file("pipe"));
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message().find(folder_.file("pipe")), std::string::npos);
}

}  // namespace
}  // namespace weft::judge
