// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/sft/json_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text_file.h"

namespace weft::sft {
namespace {

Result<std::vector<Json>> rows_of(std::string_view text, const std::string& path) {
  std::vector<Json> rows;
  uint32_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    Result<Json> row = parse_json(line, path);
    if (!row.ok()) {
      row.error().diagnostics.front().position.line = number;
      return row.error();
    }
    if (!row->is_object())
      return Error(Diagnostic{.message = "not a JSON object",
                              .hint = "every line of the file is one object",
                              .file = path,
                              .position = {number, 1}});
    rows.push_back(*std::move(row));
  }
  return rows;
}

Error system_error(const char* what, const std::string& path) {
  return Error(fmt::format("{}: {}: {}", what, path, std::strerror(errno)),
               "free some space or name another folder; what is written stays whole");
}

}  // namespace

Result<std::vector<Json>> read_json_lines(const std::string& path) {
  return rows_of(TRY(read_file(path)), path);
}

Result<Done> write_json_lines(const std::string& path, const std::vector<Json>& rows) {
  std::string text;
  for (const Json& row : rows) text += to_line(row) + "\n";
  return write_file(path, text);
}

Result<GrowingFile> GrowingFile::open(const std::string& path, std::vector<Json>& rows) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file.get() < 0) return system_error("cannot open", path);
  std::string text = TRY(read_file(path));
  const size_t whole = text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1;
  if (whole != text.size() && ::ftruncate(file.get(), static_cast<off_t>(whole)) != 0)
    return system_error("cannot cut off a half line of", path);
  text.resize(whole);
  rows = TRY(rows_of(text, path));
  return GrowingFile(path, std::move(file));
}

Result<Done> GrowingFile::append(const Json& row) {
  const std::string line = to_line(row) + "\n";
  const ssize_t written = ::write(file_.get(), line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size()) || ::fdatasync(file_.get()) != 0)
    return system_error("cannot write", path_);
  return Done{};
}

}  // namespace weft::sft
