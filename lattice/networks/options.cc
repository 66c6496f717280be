// SPDX-License-Identifier: Apache-2.0

// The bound keeps a slip of the finger from asking for more memory than there is.
#include "lattice/networks/options.h"

#include <charconv>

namespace weft::lattice {
namespace {

constexpr int64_t kLargest = 1 << 20;

}  // namespace

Result<Done> read_size(Fields& fields, std::string_view key, int64_t& value) {
  return fields.read(key, value, 1, kLargest);
}

Result<Done> read_sizes(Fields& fields, std::string_view key, std::vector<int64_t>& values) {
  if (fields.node(key) == nullptr) return Done{};
  std::vector<std::string> words;
  TRY(fields.read(key, words));
  values.clear();
  for (const std::string& word : words) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 1 || value > kLargest)
      return fields.error(key, "holds a size that is not a number from 1 to 1048576: " + word);
    values.push_back(value);
  }
  return Done{};
}

}  // namespace weft::lattice
