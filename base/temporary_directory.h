// SPDX-License-Identifier: Apache-2.0

// A folder of our own under TMPDIR (or /tmp), or where its owner says, that goes away, with all in
// it, when its owner does.
#pragma once

#include <string>

#include "base/result.h"

namespace weft {

class TemporaryDirectory {
 public:
  // `purpose` becomes part of the name, so that a leftover explains itself.
  static Result<TemporaryDirectory> create(const std::string& purpose);
  static Result<TemporaryDirectory> create_in(const std::string& parent,
                                              const std::string& purpose);

  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  ~TemporaryDirectory();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  void remove();

  std::string path_;
};

}  // namespace weft
