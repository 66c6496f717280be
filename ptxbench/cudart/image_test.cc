// SPDX-License-Identifier: Apache-2.0

// Images of every kind that the API accepts, and memory that holds none. The page after the last
// test's text is unmapped: reading on would end the test.
#include "ptxbench/cudart/image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include <gtest/gtest.h>

namespace weft::cudart {
namespace {

TEST(Image, TakesPtxText) {
  const char text[] = ".version 9.0\n.target sm_90a\n";
  const ImageText image = read_image(text, 9, 0);
  ASSERT_EQ(image.status, Status::Success);
  ASSERT_EQ(image.units.size(), 1u);
  EXPECT_EQ(image.units.front(), text);
}

TEST(Image, SaysThatACubinHoldsNoPtx) {
  const char cubin[64] =
      "\x7f"
      "ELF";
  const ImageText image = read_image(cubin, 9, 0);
  EXPECT_EQ(image.status, Status::NoKernelImageForDevice);
  EXPECT_NE(format(image.why).find("-arch=compute_90a"), std::string::npos);
}

TEST(Image, RefusesAnEmptyWrapperAndAFatBinaryThatClaimsTooMuch) {
  struct {
    uint32_t magic = 0x466243B1, version = 1;
    const void* data = nullptr;
    const void* linked = nullptr;
  } wrapper;
  EXPECT_EQ(read_image(&wrapper, 9, 0).status, Status::InvalidKernelImage);
  const uint64_t huge[4] = {0x0010'0001'BA55'ED50, uint64_t{1} << 60, 0, 0};
  EXPECT_EQ(read_image(huge, 9, 0).status, Status::InvalidKernelImage);
  wrapper.data = huge;
  EXPECT_EQ(read_image(&wrapper, 9, 0).status, Status::InvalidKernelImage);
}

TEST(Image, SurvivesUnreadableMemory) {
  EXPECT_EQ(read_image(nullptr, 9, 0).status, Status::InvalidKernelImage);
  EXPECT_EQ(read_image(reinterpret_cast<void*>(8), 9, 0).status, Status::InvalidKernelImage);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  munmap(static_cast<char*>(pages) + page, page);
  std::memset(pages, 'x', page);  // text without an end
  EXPECT_EQ(read_image(pages, 9, 0).status, Status::InvalidKernelImage);
  munmap(pages, page);
}

}  // namespace
}  // namespace weft::cudart
