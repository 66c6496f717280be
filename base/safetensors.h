// SPDX-License-Identifier: Apache-2.0

// The safetensors format: named tensors in one file.
//
//   8 bytes    length N of the header, little-endian
//   N bytes    JSON: {"name": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [begin, end]},
//   ...} the rest   the tensors' bytes, row-major, little-endian, without gaps; offsets count from
//   here
//
// Reading maps the file and checks the header against it, so that a view never leaves the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"

namespace weft {

struct TensorView {
  std::string type;             // "F32", "BF16", "I64", ... as the format spells it
  std::vector<uint64_t> shape;  // empty for a scalar
  std::string_view bytes;
};

// Bytes of one element of a type; 0 for a word that is no type.
uint64_t safetensors_type_size(std::string_view type);

class Safetensors {
 public:
  static Result<Safetensors> open(const std::string& path);

  // Views live as long as this object.
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // The tensor, or an error that lists the names there are.
  Result<TensorView> tensor(const std::string& name) const;

 private:
  explicit Safetensors(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  std::map<std::string, TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

Result<Done> write_safetensors(const std::string& path,
                               const std::map<std::string, TensorView>& tensors,
                               const std::map<std::string, std::string>& metadata = {});

}  // namespace weft
