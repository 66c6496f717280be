// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/words.h"

#include <algorithm>

namespace weft::problems {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace weft::problems
