// SPDX-License-Identifier: Apache-2.0

#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace weft {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kLineInterval{10};
constexpr size_t kBarWidth = 24;

// Columns of the terminal; a longer line would wrap and leave its head behind.
size_t width_of(std::FILE* output) {
  winsize size{};
  if (ioctl(fileno(output), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool is_terminal(std::FILE* output) {
  const char* kind = std::getenv("TERM");
  return isatty(fileno(output)) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace

Progress::Progress(std::string title, uint64_t total, std::FILE* output)
    : title_(std::move(title)),
      total_(total),
      output_(output),
      terminal_(is_terminal(output)),
      start_(Clock::now()),
      last_drawn_(start_) {
  if (terminal_) draw({});
}

Progress::~Progress() {
  finish();
}

void Progress::advance(uint64_t steps, const std::string& note) {
  done_ += steps;
  const Clock::duration since = Clock::now() - last_drawn_;
  if (terminal_ ? since >= kRedraw : since >= Clock::duration(kLineInterval)) draw(note);
}

void Progress::finish() {
  if (std::exchange(finished_, true)) return;
  draw({});
  if (terminal_) std::fputc('\n', output_);
  std::fflush(output_);
}

std::string Progress::state(const std::string& note) const {
  std::string text = title_ + ": ";
  if (total_ != 0 && terminal_) {
    const size_t filled = static_cast<size_t>(std::min(done_, total_) * kBarWidth / total_);
    text += "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] ";
  }
  text += std::to_string(done_);
  if (total_ != 0) text += "/" + std::to_string(total_);
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  char clock[32];
  std::snprintf(clock, sizeof clock, ", %.0f s", seconds);
  text += clock;
  if (!note.empty()) text += ", " + note;
  return text;
}

void Progress::draw(const std::string& note) {
  last_drawn_ = Clock::now();
  std::string text = state(note);
  if (terminal_) {
    text.resize(std::min(text.size(), width_of(output_) - 1));
    // Back to the start of the line, the new text, and nothing of the old one behind it.
    text = "\r" + text + "\x1b[K";
  } else {
    text += "\n";
  }
  std::fwrite(text.data(), 1, text.size(), output_);
  std::fflush(output_);
}

}  // namespace weft
