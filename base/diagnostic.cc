// SPDX-License-Identifier: Apache-2.0

#include "base/diagnostic.h"

#include <algorithm>

#include "base/printable.h"

namespace weft {
namespace {

// Bytes of a source line that are shown at most, and how many of them lie before the column.
constexpr size_t kShown = 120;
constexpr size_t kBefore = 60;

// Where a character starts at or before `i`.
size_t character_start(std::string_view text, size_t i) {
  while (i > 0 && i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) --i;
  return i;
}

// Columns that printed text takes: its characters.
size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// The part of the line round the column, and a caret under the column.
std::string excerpt(std::string_view line, uint32_t column) {
  const size_t at = column == 0 ? 0 : std::min<size_t>(column - 1, line.size());
  const size_t begin =
      line.size() <= kShown ? 0 : character_start(line, at - std::min(at, kBefore));
  const size_t end = character_start(line, std::min(line.size(), begin + kShown));
  const std::string before =
      (begin > 0 ? "..." : "") + printable(line.substr(begin, std::max(at, begin) - begin));
  std::string text = "\n  " + before;
  if (end > at) text += printable(line.substr(at, end - at));
  if (end < line.size()) text += "...";
  if (column == 0) return text;
  text += "\n  ";
  // Tabs stay tabs under the line, so that the caret lands where the terminal puts the text.
  size_t from = 0;
  for (size_t tab; (tab = before.find('\t', from)) != std::string::npos; from = tab + 1)
    text += std::string(columns(std::string_view(before).substr(from, tab - from)), ' ') + '\t';
  return text + std::string(columns(std::string_view(before).substr(from)), ' ') + '^';
}

}  // namespace

std::string format(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.file.empty()) text += printable(diagnostic.file) + ":";
  if (diagnostic.position.line != 0) {
    text += std::to_string(diagnostic.position.line) + ":";
    if (diagnostic.position.column != 0) text += std::to_string(diagnostic.position.column) + ":";
  }
  if (!text.empty()) text += " ";
  text += "error: " + printable(diagnostic.message, true);
  if (!diagnostic.source_line.empty())
    text += excerpt(diagnostic.source_line, diagnostic.position.column);
  if (!diagnostic.hint.empty()) text += "\n  hint: " + printable(diagnostic.hint, true);
  return text;
}

}  // namespace weft
