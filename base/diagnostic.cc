// SPDX-License-Identifier: Apache-2.0

#include "base/diagnostic.h"

namespace weft {

std::string format(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.file.empty()) text += diagnostic.file + ":";
  if (diagnostic.position.line != 0) {
    text += std::to_string(diagnostic.position.line) + ":";
    if (diagnostic.position.column != 0) text += std::to_string(diagnostic.position.column) + ":";
  }
  if (!text.empty()) text += " ";
  text += "error: " + diagnostic.message;
  if (!diagnostic.source_line.empty()) {
    text += "\n  " + diagnostic.source_line;
    if (diagnostic.position.column != 0) {
      // Tabs stay tabs under the line, so that the caret lands where the terminal puts the text.
      text += "\n  ";
      for (uint32_t i = 0; i + 1 < diagnostic.position.column && i < diagnostic.source_line.size();
           ++i)
        text += diagnostic.source_line[i] == '\t' ? '\t' : ' ';
      text += "^";
    }
  }
  if (!diagnostic.hint.empty()) text += "\n  hint: " + diagnostic.hint;
  return text;
}

}  // namespace weft
