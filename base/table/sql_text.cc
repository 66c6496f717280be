// SPDX-License-Identifier: Apache-2.0

// SQL doubles the quote character inside a quoted word.
#include "base/table/sql_text.h"

namespace weft::table {
namespace {

std::string quoted(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char letter : text) result.append(letter == quote ? 2 : 1, letter);
  return result + quote;
}

}  // namespace

std::string quoted_name(std::string_view name) {
  return quoted(name, '"');
}

std::string quoted_text(std::string_view text) {
  return quoted(text, '\'');
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts) list += (list.size() > 1 ? ", " : "") + quoted_text(text);
  return list + "]";
}

}  // namespace weft::table
