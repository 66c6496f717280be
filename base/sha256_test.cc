// SPDX-License-Identifier: Apache-2.0

// The first digests are the examples that NIST publishes with FIPS 180-4; the lengths round a
// block's end are compared with coreutils' sha256sum.
#include "base/sha256.h"

#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace weft {
namespace {

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PadsEveryLengthLikeCoreutils) {
  for (size_t length : {54u, 55u, 56u, 57u, 63u, 64u, 65u, 119u, 120u, 128u}) {
    const std::string bytes(length, 'z');
    const Result<ProcessOutcome> outcome = run({.arguments = {"sha256sum"}, .input = bytes});
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(sha256(bytes), outcome.value().output.substr(0, 64)) << length;
  }
}

TEST(Sha256, DoesNotCareHowTheBytesArrive) {
  const std::string bytes(300, 'q');
  Sha256 hash;
  for (size_t start = 0; start < bytes.size(); start += 7)
    hash.update(std::string_view(bytes).substr(start, 7));
  EXPECT_EQ(hash.finish(), sha256(bytes));
}

}  // namespace
}  // namespace weft
