// SPDX-License-Identifier: Apache-2.0

// Files of one JSON object a line that grow while a program works. A program that was killed leaves
// at most half a line at the end; it is cut off when the file is opened to go on.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/json.h"
#include "base/result.h"

namespace weft::sft {

// The error names the line.
Result<std::vector<Json>> read_json_lines(const std::string& path);
Result<Done> write_json_lines(const std::string& path, const std::vector<Json>& rows);

class GrowingFile {
 public:
  // Makes missing folders; `rows` are the whole lines that were there.
  static Result<GrowingFile> open(const std::string& path, std::vector<Json>& rows);
  // On disk when this returns.
  Result<Done> append(const Json& row);

 private:
  GrowingFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  Descriptor file_;
};

}  // namespace weft::sft
