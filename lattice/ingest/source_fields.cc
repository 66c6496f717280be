// SPDX-License-Identifier: Apache-2.0

#include "lattice/ingest/source_fields.h"

#include <nlohmann/json.hpp>

namespace weft::lattice {

const std::vector<std::string> kTimeUnitWords = {"none", "s", "ms", "us"};

Result<Done> read_source(Fields& fields, const std::string& key, SourceFiles& files) {
  const YamlNode* node = fields.node(key);
  if (node == nullptr) return Done{};
  Fields inner = TRY(Fields::open(fields.document(), *node, key));
  TRY(inner.read("files", files.files));
  TRY(inner.read("delimiter", files.delimiter));
  TRY(inner.read("null_text", files.null_text));
  TRY(inner.read("names", files.names));
  TRY(inner.read("skip", files.skip));
  return inner.finish();
}

Json to_json(const SourceFiles& files) {
  return {{"files", files.files},
          {"delimiter", files.delimiter},
          {"null_text", files.null_text},
          {"names", files.names},
          {"skip", files.skip}};
}

}  // namespace weft::lattice
