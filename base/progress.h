// SPDX-License-Identifier: Apache-2.0

// Shows how far a long piece of work is: a bar that is redrawn on a terminal, a line at times when
// the output goes to a file or a pipe. Belongs to a program, not to a library: libraries report
// progress through what they are given.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace weft {

class Progress {
 public:
  // `total` steps of work; 0 when nobody knows how many.
  Progress(std::string title, uint64_t total, std::FILE* output = stderr);
  // Ends the bar's line if finish() did not.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `note` says what is being done now.
  void advance(uint64_t steps = 1, const std::string& note = {});
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  std::string state(const std::string& note) const;
  void draw(const std::string& note);

  std::string title_;
  uint64_t total_;
  uint64_t done_ = 0;
  std::FILE* output_;
  bool terminal_;
  bool finished_ = false;
  Clock::time_point start_, last_drawn_;
};

}  // namespace weft
