// SPDX-License-Identifier: Apache-2.0

// A located message about bad input: what is wrong, where, and what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

// A position in a text. Lines and columns count from 1; 0 means "not known".
struct SourcePosition {
  uint32_t line = 0;
  uint32_t column = 0;
  bool operator==(const SourcePosition&) const = default;
};

struct Diagnostic {
  std::string message;      // fixed text first, values last
  std::string hint;         // what to do; may be empty
  std::string file;         // empty when the input is no file
  SourcePosition position;  // where in the file
  std::string source_line;  // the line itself, for the caret; may be empty
};

// "file:line:column: error: message", then the line with a caret, then the hint.
std::string format(const Diagnostic& diagnostic);

}  // namespace weft
