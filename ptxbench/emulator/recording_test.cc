// SPDX-License-Identifier: Apache-2.0

// What is written is what is read; what is cut off or altered is refused, not guessed.
#include "ptxbench/emulator/recording.h"

#include <gtest/gtest.h>

namespace weft::emulator {
namespace {

RecordedOperation launch() {
  RecordedOperation operation;
  operation.kind = RecordedOperation::Kind::Launch;
  operation.text = "kernel";
  operation.data = std::string("\0\x01\xff", 3);
  operation.grid = {7, 8, 9};
  operation.cluster = {2, 1, 1};
  operation.cooperative = 1;
  return operation;
}

TEST(Recording, SurvivesItsBytes) {
  RecordedOperation copy;
  copy.kind = RecordedOperation::Kind::Copy;
  copy.target = 0x3000'0000'0200;
  copy.source_slice = 5;
  const auto read = read_recording(to_bytes(launch()) + to_bytes(copy));
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].kind, RecordedOperation::Kind::Launch);
  EXPECT_EQ((*read)[0].text, "kernel");
  EXPECT_EQ((*read)[0].data, std::string("\0\x01\xff", 3));
  EXPECT_EQ((*read)[0].grid[2], 9u);
  EXPECT_EQ((*read)[0].cluster[0], 2u);
  EXPECT_EQ((*read)[0].cooperative, 1u);
  EXPECT_EQ((*read)[1].target, 0x3000'0000'0200u);
  EXPECT_EQ((*read)[1].source_slice, 5u);
}

TEST(Recording, RefusesEveryPrefix) {
  const std::string whole = to_bytes(launch());
  for (size_t length = 1; length < whole.size(); ++length)
    EXPECT_FALSE(read_recording(whole.substr(0, length)).ok()) << length;
}

TEST(Recording, RefusesUnknownKindsAndLengthsBeyondTheEnd) {
  std::string unknown = to_bytes(launch());
  unknown[0] = 77;
  EXPECT_FALSE(read_recording(unknown).ok());
  std::string longer = to_bytes(launch());
  longer[1 + 23 * 8 + 7] = '\x7f';  // the highest byte of the first text's length
  EXPECT_FALSE(read_recording(longer).ok());
}

}  // namespace
}  // namespace weft::emulator
