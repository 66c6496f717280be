// SPDX-License-Identifier: Apache-2.0

// Rows of fixed size in files, one file a bucket: appended in any order, read back bucket by
// bucket.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace weft::lattice {

template <typename Row>
class Spill {
  static_assert(std::is_trivially_copyable_v<Row>);

 public:
  Spill(std::string prefix, size_t buckets) : prefix_(std::move(prefix)), buffers_(buckets) {}

  std::string path(size_t bucket) const { return prefix_ + std::to_string(bucket); }
  size_t buckets() const { return buffers_.size(); }

  Result<Done> add(size_t bucket, const Row& row) {
    buffers_[bucket].push_back(row);
    if (buffers_[bucket].size() < kBufferRows) return Done{};
    return flush(bucket);
  }
  Result<Done> finish() {
    for (size_t i = 0; i < buffers_.size(); ++i) TRY(flush(i));
    return Done{};
  }

  // All rows of a bucket. The file stays.
  Result<std::vector<Row>> read(size_t bucket) const {
    std::vector<Row> rows;
    const Descriptor file(::open(path(bucket).c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.open()) return errno == ENOENT ? Result<std::vector<Row>>(rows) : failed(bucket);
    const off_t bytes = lseek(file.get(), 0, SEEK_END);
    rows.resize(static_cast<size_t>(bytes) / sizeof(Row));
    auto* to = reinterpret_cast<char*>(rows.data());
    for (off_t at = 0; at < bytes;) {
      const ssize_t length = pread(file.get(), to + at, static_cast<size_t>(bytes - at), at);
      if (length <= 0) return failed(bucket);
      at += length;
    }
    return rows;
  }

 private:
  static constexpr size_t kBufferRows = 2048;

  Error failed(size_t bucket) const {
    return Error(
        Diagnostic{.message = std::string("cannot keep rows aside: ") + std::strerror(errno),
                   .hint = "is the disk full?",
                   .file = path(bucket)});
  }
  Result<Done> flush(size_t bucket) {
    std::vector<Row>& rows = buffers_[bucket];
    if (rows.empty()) return Done{};
    const Descriptor file(
        ::open(path(bucket).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!file.open()) return failed(bucket);
    const char* from = reinterpret_cast<const char*>(rows.data());
    for (size_t left = rows.size() * sizeof(Row); left != 0;) {
      const ssize_t length = write(file.get(), from, left);
      if (length < 0) return failed(bucket);
      from += length;
      left -= static_cast<size_t>(length);
    }
    rows.clear();
    return Done{};
  }

  std::string prefix_;
  std::vector<std::vector<Row>> buffers_;
};

}  // namespace weft::lattice
