// SPDX-License-Identifier: Apache-2.0

// Codes lie column by column, since a table of embeddings takes one column; what a dense layer
// takes lies row by row.
#include "lattice/ingest/shard_file.h"

#include <map>
#include <string_view>

#include "base/safetensors.h"

namespace weft::lattice {
namespace {

template <typename T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::vector<int32_t> joined(const std::vector<std::vector<int32_t>>& columns) {
  std::vector<int32_t> all;
  for (const auto& column : columns) all.insert(all.end(), column.begin(), column.end());
  return all;
}

}  // namespace

Result<Done> write_shard(const std::string& path, const ShardRows& shard) {
  const uint64_t n = shard.rows;
  std::map<std::string, TensorView> tensors;
  const auto put = [&](const char* name, const char* type, std::vector<uint64_t> shape,
                       std::string_view bytes) {
    tensors[name] = {.type = type, .shape = std::move(shape), .bytes = bytes};
  };
  const std::vector<int32_t> categorical = joined(shard.categorical);
  const std::vector<int32_t> sequence = joined(shard.sequence);
  put("categorical", "I32", {shard.categorical.size(), n}, bytes_of(categorical));
  put("dense", "F32", {n, shard.dense.size() / n}, bytes_of(shard.dense));
  put("dense_present", "U8", {n, shard.dense.size() / n}, bytes_of(shard.dense_present));
  put("label", "F32", {n, shard.label.size() / n}, bytes_of(shard.label));
  put("label_known", "U8", {n, shard.label.size() / n}, bytes_of(shard.label_known));
  if (!shard.domain.empty()) put("domain", "I32", {n}, bytes_of(shard.domain));
  if (!shard.window.empty()) put("window", "U8", {n}, bytes_of(shard.window));
  if (!shard.id.empty()) put("id", "U64", {n}, bytes_of(shard.id));
  if (!shard.time.empty()) put("time", "I64", {n}, bytes_of(shard.time));
  if (!shard.sequence.empty()) {
    put("sequence_offsets", "I64", {n + 1}, bytes_of(shard.sequence_offsets));
    put("sequence", "I32", {shard.sequence.size(), shard.sequence_age.size()}, bytes_of(sequence));
    put("sequence_age", "F32", {shard.sequence_age.size()}, bytes_of(shard.sequence_age));
  }
  return write_safetensors(path, tensors);
}

}  // namespace weft::lattice
