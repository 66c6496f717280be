// SPDX-License-Identifier: Apache-2.0

// The terminal is a pseudo-terminal, so that both ways of drawing are seen.
#include "base/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/descriptor.h"

namespace weft {
namespace {

TEST(Progress, WritesPlainLinesToAFile) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    Progress progress("judging", 3, file);
    for (int i = 0; i < 3; ++i) progress.advance();
  }
  std::rewind(file);
  char text[200] = {};
  const size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  // Fast work shows one line, at its end.
  EXPECT_EQ(std::string(text, length), "judging: 3/3, 0 s\n");
}

TEST(Progress, DrawsABarThatFitsTheTerminal) {
  const Descriptor screen(posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_TRUE(screen.open());
  ASSERT_EQ(grantpt(screen.get()), 0);
  ASSERT_EQ(unlockpt(screen.get()), 0);
  std::FILE* terminal = std::fopen(ptsname(screen.get()), "r+");
  ASSERT_NE(terminal, nullptr);
  const winsize size{.ws_row = 25, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
  ioctl(screen.get(), TIOCSWINSZ, &size);
  setenv("TERM", "xterm", 1);
  {
    Progress progress("judging", 2, terminal);
    progress.advance(2);
  }
  // A terminal hands over what has arrived so far: read on until the line has ended.
  std::string text;
  char part[500];
  while (!text.ends_with('\n')) {
    const ssize_t length = read(screen.get(), part, sizeof part);
    ASSERT_GT(length, 0);
    text.append(part, static_cast<size_t>(length));
  }
  std::fclose(terminal);
  // 39 columns: the title, the bar of 24 and the start of the count.
  EXPECT_EQ(text,
            "\rjudging: [........................] 0/2\x1b[K"
            "\rjudging: [########################] 2/2\x1b[K\r\n");
}

}  // namespace
}  // namespace weft
