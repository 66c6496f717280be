// SPDX-License-Identifier: Apache-2.0

// The subject is this test program itself: it is an ELF file that needs libc and exports nothing
// known.
#include "ptxbench/judge/shared_object.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/text_file.h"

namespace weft::judge {
namespace {

TEST(SharedObject, ListsWhatAProgramNeedsAndImports) {
  const std::string self = *read_file("/proc/self/exe");
  const Result<SharedObject> object = read_shared_object(self);
  ASSERT_TRUE(object.ok()) << format(object.error());
  const auto starts = [](const char* prefix) {
    return [prefix](const std::string& name) { return name.starts_with(prefix); };
  };
  EXPECT_TRUE(std::any_of(object->needed.begin(), object->needed.end(), starts("libc.so")));
  EXPECT_FALSE(object->imports.empty());
}

TEST(SharedObject, SurvivesTruncationAnywhere) {
  const std::string self = *read_file("/proc/self/exe");
  for (size_t size : {size_t{0}, size_t{3}, size_t{16}, size_t{63}, size_t{64}, size_t{1000},
                      self.size() / 2, self.size() - 1}) {
    EXPECT_FALSE(read_shared_object(std::string_view(self).substr(0, size)).ok()) << size;
  }
}

TEST(SharedObject, SurvivesDamagedOffsets) {
  std::string self = (*read_file("/proc/self/exe"));
  for (size_t at = 0; at < 64; ++at) {
    std::string damaged = self;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
    const Result<SharedObject> ignored =
        read_shared_object(damaged);  // must return, whatever it says
    (void)ignored;
  }
}

}  // namespace
}  // namespace weft::judge
