// SPDX-License-Identifier: Apache-2.0

#include "base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text_file.h"

namespace weft {
namespace {

SourcePosition position_of(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  SourcePosition position{.line = 1, .column = 1};
  for (size_t i = 0; i < offset; ++i) {
    position.column += 1;
    if (text[i] == '\n') position = {.line = position.line + 1, .column = 1};
  }
  return position;
}

std::string line_of(std::string_view text, size_t offset) {
  // A file of one endless line would drown the message.
  constexpr size_t kLongest = 200;
  offset = std::min(offset, text.size());
  const size_t start = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  const size_t end = std::min(text.find('\n', offset), text.size());
  return end - start <= kLongest ? std::string(text.substr(start, end - start)) : std::string();
}

// The library's texts start with "[json.exception.parse_error.101] parse error at line 1, column 2:
// "; what follows the last of these is the reason.
std::string reason(const std::string& what) {
  const size_t place = what.find(": ");
  return place == std::string::npos ? what : what.substr(place + 2);
}

constexpr auto kReplace = Json::error_handler_t::replace;

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& file) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    // The library counts the bytes it has read, the offending one included.
    const size_t offset = error.byte == 0 ? 0 : error.byte - 1;
    return Error(Diagnostic{.message = "not valid JSON: " + reason(error.what()),
                            .file = file,
                            .position = position_of(text, offset),
                            .source_line = line_of(text, offset)});
  } catch (const Json::exception& error) {
    return Error(
        Diagnostic{.message = "not usable JSON: " + std::string(error.what()), .file = file});
  }
}

Result<Json> read_json(const std::string& path) {
  const std::string text = TRY(read_file(path));
  return parse_json(text, path);
}

std::string to_text(const Json& value) {
  return value.dump(2, ' ', false, kReplace) + "\n";
}

std::string to_line(const Json& value) {
  return value.dump(-1, ' ', false, kReplace);
}

Result<Done> write_json(const std::string& path, const Json& value) {
  return write_file(path, to_text(value));
}

}  // namespace weft
