// SPDX-License-Identifier: Apache-2.0

// Edit distance with case folded and a bonus for a shared beginning, which suits task names such as
// gemm_n7168_k5120.
#include "base/near_match.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace weft {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) ==
                        std::tolower(static_cast<unsigned char>(b[j - 1]));
      const size_t replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::vector<std::string> near_matches(std::string_view word, const std::vector<std::string>& known,
                                      size_t limit) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    const bool begins = !word.empty() && candidate.starts_with(word);
    if (begins || distance <= std::max(word.size(), candidate.size()) / 2) {
      ranked.emplace_back(begins ? distance / 4 : distance, candidate);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> words;
  for (const auto& [distance, candidate] : ranked) {
    if (words.size() < limit) words.push_back(candidate);
  }
  return words;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known,
                       std::string_view what) {
  const std::vector<std::string> near = near_matches(word, known);
  if (!near.empty()) return "did you mean " + joined(near) + "?";
  if (known.empty()) return "there are no " + std::string(what);
  return std::string(what) + ": " + joined(known);
}

}  // namespace weft
