// SPDX-License-Identifier: Apache-2.0

// Containers are put together by hand from the layout that nvcc 13.0's output shows; expected
// values are what was put in. The mutation test wants no answer but "no crash".
#include "ptxbench/fatbin/fat_binary.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <random>

#include <gtest/gtest.h>

namespace weft::fatbin {
namespace {

constexpr uint64_t kPlain = 0x11, kLz4 = 0x2011, kZstd = 0x8011, kExact = 0x100000,
                   kFamily = 0x200000;

struct Piece {
  uint16_t kind;
  uint32_t architecture;
  uint64_t flags;
  std::string payload;
  uint64_t unpacked = 0;
};

template <typename T>
void put(std::string& out, size_t at, T value) {
  std::memcpy(out.data() + at, &value, sizeof value);
}

std::vector<std::byte> container(const std::vector<Piece>& pieces) {
  std::string body;
  for (const Piece& piece : pieces) {
    std::string header(64, '\0');
    const uint64_t padded = (piece.payload.size() + 7) / 8 * 8;
    put<uint16_t>(header, 0, piece.kind);
    put<uint16_t>(header, 2, 0x101);
    put<uint32_t>(header, 4, 64);
    put<uint64_t>(header, 8, padded);
    if (piece.unpacked != 0) put<uint32_t>(header, 16, static_cast<uint32_t>(piece.payload.size()));
    put<uint32_t>(header, 28, piece.architecture);
    put<uint64_t>(header, 40, piece.flags);
    put<uint64_t>(header, 56, piece.unpacked);
    body += header + piece.payload + std::string(padded - piece.payload.size(), '\0');
  }
  std::string out(16, '\0');
  put<uint32_t>(out, 0, kFatBinaryMagic);
  put<uint16_t>(out, 4, 1);
  put<uint16_t>(out, 6, 16);
  put<uint64_t>(out, 8, body.size());
  out += body;
  std::vector<std::byte> bytes(out.size());
  std::memcpy(bytes.data(), out.data(), out.size());
  return bytes;
}

std::string sample() {
  std::string text = "\n\n.version 9.0\n.target sm_90a\n.address_size 64\n";
  for (int i = 0; i < 50; ++i) text += "// the same line again and again\n";
  return text;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string lz4(const std::string& text) {
  std::string out(static_cast<size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  out.resize(static_cast<size_t>(LZ4_compress_default(
      text.data(), out.data(), static_cast<int>(text.size()), static_cast<int>(out.size()))));
  return out;
}

TEST(FatBinary, ReadsEveryPacking) {
  const std::string text = sample();
  const std::string ended = text + '\0';
  const auto bytes = container({{1, 90, kPlain, ended},
                                {1, 90, kZstd, zstd(ended), ended.size()},
                                {1, 90, kLz4, lz4(ended), ended.size()}});
  const auto entries = read_fat_binary(bytes);
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 3u);
  for (const FatEntry& entry : *entries) {
    const auto ptx = read_ptx(entry);
    ASSERT_TRUE(ptx.ok());
    EXPECT_EQ(*ptx, text);
  }
}

TEST(FatBinary, ReadsAnEmptyContainer) {
  const auto entries = read_fat_binary(container({}));
  ASSERT_TRUE(entries.ok());
  EXPECT_TRUE(entries->empty());
}

TEST(FatBinary, ChoosesTheMostSpecificPtxTheDeviceRuns) {
  const auto bytes = container({{1, 80, kPlain, "a"},
                                {1, 90, kPlain, "b"},
                                {1, 90, kPlain | kExact, "c"},
                                {1, 100, kPlain | kExact, "d"},
                                {1, 100, kPlain | kFamily, "e"},
                                {2, 90, kPlain | kExact, "f"}});
  const auto entries = read_fat_binary(bytes);
  ASSERT_TRUE(entries.ok());
  const auto chosen = [&](int major, int minor) {
    return choose_ptx(*entries, major, minor).value()->target();
  };
  EXPECT_EQ(chosen(9, 0), "compute_90a");
  EXPECT_EQ(chosen(10, 0), "compute_100a");
  EXPECT_EQ(chosen(10, 3), "compute_100f");  // family 10.x, but not exactly 10.0
  EXPECT_EQ(chosen(12, 0), "compute_90");
  EXPECT_EQ(chosen(8, 6), "compute_80");
  EXPECT_FALSE(choose_ptx(*entries, 7, 5).ok());
}

TEST(FatBinary, SaysWhatToDoWhenOnlyMachineCodeIsEmbedded) {
  const auto bytes = container({{2, 90, kPlain | kExact,
                                 "\x7f"
                                 "ELF"}});
  const auto entries = read_fat_binary(bytes);
  ASSERT_TRUE(entries.ok());
  const auto choice = choose_ptx(*entries, 9, 0);
  ASSERT_FALSE(choice.ok());
  EXPECT_NE(choice.error().message().find("machine code for sm_90a"), std::string::npos);
  EXPECT_NE(choice.error().diagnostics.front().hint.find("arch=compute_90a,code=compute_90a"),
            std::string::npos);
}

TEST(FatBinary, RefusesWhatIsTooShortOrNoFatBinary) {
  const std::string ended = sample() + '\0';
  const auto whole = container({{1, 90, kZstd, zstd(ended), ended.size()}});
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read_fat_binary(std::span(whole).first(size)).ok()) << size;
  auto wrong = whole;
  wrong[0] = std::byte{0};
  EXPECT_FALSE(read_fat_binary(wrong).ok());
}

TEST(FatBinary, RefusesAClaimOfHugeText) {
  const auto bytes = container({{1, 90, kZstd, zstd("x"), uint64_t{1} << 40}});
  const auto entries = read_fat_binary(bytes);
  ASSERT_TRUE(entries.ok());
  EXPECT_FALSE(read_ptx(entries->front()).ok());
}

TEST(FatBinary, SurvivesDamage) {
  const std::string ended = sample() + '\0';
  const auto whole = container({{1, 90, kPlain, ended},
                                {1, 90, kZstd, zstd(ended), ended.size()},
                                {1, 90, kLz4, lz4(ended), ended.size()},
                                {2, 90, kPlain,
                                 "\x7f"
                                 "ELF"}});
  std::mt19937 random(20261130);
  for (int round = 0; round < 20000; ++round) {
    auto bytes = whole;
    for (int change = 1 + static_cast<int>(random() % 4); change > 0; --change) {
      // Headers lie at known places; most damage goes there, where it matters.
      const size_t at = random() % 2 ? random() % bytes.size() : random() % 80;
      bytes[at] = static_cast<std::byte>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const auto entries = read_fat_binary(bytes);
    if (!entries.ok()) continue;
    for (const FatEntry& entry : *entries)
      if (entry.kind == FatEntry::Kind::Ptx) (void)read_ptx(entry).ok();
    (void)choose_ptx(*entries, 9, 0).ok();
  }
}

}  // namespace
}  // namespace weft::fatbin
