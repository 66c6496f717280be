// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/agent/code_block.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/printable.h"

namespace weft::agent {
namespace {

// Fences of other tools: kept as a last resort only.
constexpr std::array<std::string_view, 10> kOther = {
    "text", "txt", "bash", "sh", "shell", "console", "json", "python", "diff", "markdown"};

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// How many fence characters the line begins with; 0: it is no fence.
size_t fence_length(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("```") && !line.starts_with("~~~")) return 0;
  return std::min(line.find_first_not_of(line[0]), line.size());
}

// A replacement character stands where a model's bytes were none.
bool is_text(std::string_view text) {
  if (text.find("\uFFFD") != text.npos) return false;
  for (size_t length; !text.empty(); text.remove_prefix(length))
    if ((length = character_length(text)) == 0) return false;
  return true;
}

}  // namespace

CodeBlock last_code_block(std::string_view answer) {
  std::string_view kernel, other, language;
  bool open = false, found = false;
  size_t opened = 0, begin = 0;
  char mark = '`';
  for (size_t start = 0; start < answer.size();) {
    const size_t end = std::min(answer.find('\n', start), answer.size());
    const std::string_view line = answer.substr(start, end - start);
    const size_t length = fence_length(line);
    const std::string_view rest = length == 0 ? std::string_view() : trimmed(line).substr(length);
    if (!open && length > 0) {
      open = true;
      opened = length;
      mark = trimmed(line)[0];
      language = trimmed(rest);
      begin = std::min(end + 1, answer.size());
    } else if (open && length >= opened && trimmed(line)[0] == mark && trimmed(rest).empty()) {
      open = false;
      found = true;
      const bool is_other = std::find(kOther.begin(), kOther.end(), language) != kOther.end();
      (is_other ? other : kernel) = answer.substr(begin, start - begin);
    }
    start = end + 1;
  }
  if (open) return {.problem = "the last block of code is not closed: the answer was cut"};
  const std::string_view code = kernel.empty() ? other : kernel;
  if (!found) return {.problem = "the answer has no block of code between ``` fences"};
  if (code.find_first_not_of(" \t\r\n") == code.npos)
    return {.problem = "the last block of code is empty"};
  if (code.size() > kLargestKernel)
    return {.problem = fmt::format("the block of code is too long: {} bytes, {} at most",
                                   code.size(), kLargestKernel)};
  if (!is_text(code)) return {.problem = "the block of code is not UTF-8"};
  return {.code = std::string(code)};
}

std::string fenced_code(const std::string& code) {
  return "```cuda\n" + code + (code.ends_with('\n') ? "" : "\n") + "```";
}

}  // namespace weft::agent
