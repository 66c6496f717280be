// SPDX-License-Identifier: Apache-2.0

#include "apps/ptxbench/console.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace weft::ptxbench {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_json(const Json& value) {
  print(to_text(value));
}

int fail(const Error& error, int exit_code) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", format(error).c_str());
  return exit_code;
}

std::string table(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += '\n';
  }
  return text;
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace weft::ptxbench
