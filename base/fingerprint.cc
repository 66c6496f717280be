// SPDX-License-Identifier: Apache-2.0

// The edges overlap in files under 128 KiB, which does no harm.
#include "base/fingerprint.h"

#include <algorithm>
#include <string_view>

#include "base/mapped_file.h"
#include "base/sha256.h"

namespace weft {
namespace {

constexpr size_t kEdge = 65536;

}  // namespace

Result<std::string> fingerprint(const std::string& path) {
  const MappedFile file = TRY(MappedFile::open(path));
  const std::string_view bytes = file.bytes();
  Sha256 hash;
  hash.update(bytes.substr(0, kEdge));
  if (bytes.size() > kEdge) hash.update(bytes.substr(std::max(kEdge, bytes.size() - kEdge)));
  return std::to_string(bytes.size()) + ":" + hash.finish();
}

}  // namespace weft
