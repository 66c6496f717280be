// SPDX-License-Identifier: Apache-2.0

#include "base/result.h"

namespace weft {

std::string format(const Error& error) {
  std::string text;
  for (const Diagnostic& diagnostic : error.diagnostics) {
    if (!text.empty()) text += "\n";
    text += format(diagnostic);
  }
  return text;
}

}  // namespace weft
