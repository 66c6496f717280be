// SPDX-License-Identifier: Apache-2.0

// JSON through nlohmann's library, without its exceptions: reading gives a Result whose error names
// the line and column, writing gives the same text for the same value every time. Objects keep the
// order in which they were written, so that reports read in the order we chose.
//
// This header stays light; a file that touches the values includes <nlohmann/json.hpp> itself.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weft {

using Json = nlohmann::ordered_json;

// `file` is used in diagnostics only.
Result<Json> parse_json(std::string_view text, const std::string& file = {});
Result<Json> read_json(const std::string& path);

// Indented by two, with a final newline. Bytes that are not UTF-8 become U+FFFD, numbers that JSON
// does not have (infinities, NaN) become null.
std::string to_text(const Json& value);
// The same on one line, without a newline: a line of JSONL.
std::string to_line(const Json& value);

Result<Done> write_json(const std::string& path, const Json& value);

}  // namespace weft
