// SPDX-License-Identifier: Apache-2.0

// Is the code that ran the code that was built? What nvcc puts into an object is the PTX that it
// keeps, without its comments and with other blanks, so neither counts.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace weft::judge {

inline std::string module_digest(std::string_view ptx) {
  std::string bare;
  bare.reserve(ptx.size());
  for (size_t i = 0; i < ptx.size(); ++i) {
    const std::string_view rest = ptx.substr(i);
    if (rest.starts_with("//")) {
      i = std::min(ptx.find('\n', i), ptx.size());
    } else if (rest.starts_with("/*")) {
      const size_t end = ptx.find("*/", i + 2);
      i = end == ptx.npos ? ptx.size() : end + 1;
    } else if (ptx[i] != '\0' && std::isspace(static_cast<unsigned char>(ptx[i])) == 0) {
      bare += ptx[i];
    }
  }
  return sha256(bare);
}

}  // namespace weft::judge
