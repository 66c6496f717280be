// SPDX-License-Identifier: Apache-2.0

#include <filesystem>

#include <nlohmann/json.hpp>

#include "lattice/schema/duration.h"
#include "lattice/teaching/teach_run.h"
#include "lattice/training/train_run.h"

namespace weft::lattice {
namespace {

const std::vector<std::string> kFormats = {"fp16", "int8"};

std::string resolved(const std::string& base, const std::string& path) {
  if (path.empty() || path.find("://") != std::string::npos) return path;
  return (std::filesystem::path(base) / path).lexically_normal().string();
}

}  // namespace

Result<TeachConfiguration> read_teach(const YamlDocument& document, const YamlNode& node,
                                      const std::string& base) {
  TeachConfiguration c;
  Fields fields = TRY(Fields::open(document, node, "teach"));
  c.models = TRY(read_models_folder(fields, base));
  TRY(fields.read("model", c.model));
  TRY(fields.read("data", c.data));
  TRY(fields.read("splits", c.splits));
  TRY(fields.read("store", c.store));
  TRY(fields.read("version", c.version));
  TRY(fields.read("user", c.user));
  TRY(fields.read("item", c.item));
  TRY(fields.read_word("format", c.format, kFormats));
  TRY(fields.read_duration("lifetime", c.limits.lifetime_seconds));
  TRY(fields.read_duration("retention", c.limits.retention_seconds));
  TRY(fields.read_duration("bucket", c.limits.bucket_seconds));
  TRY(fields.read("most_bytes", c.limits.most_bytes, 1));
  TRY(fields.read_duration("delay", c.delay_seconds));
  TRY(fields.read("batch_rows", c.batch_rows, 1));
  std::string until;
  TRY(fields.read("until", until));
  if (!until.empty()) {
    const std::optional<int64_t> instant = parse_instant(until);
    if (!instant)
      return fields.error("until", "is no instant: " + until, "as in 2025-01-31T12:30:00Z");
    c.until = *instant;
  }
  TRY(fields.finish());
  c.data = resolved(base, c.data);
  c.store = resolved(base, c.store);
  return c;
}

Json to_json(const TeachConfiguration& c) {
  return {{"models", c.models},
          {"model", c.model},
          {"data", c.data},
          {"splits", c.splits},
          {"store", c.store},
          {"version", c.version},
          {"user", c.user},
          {"item", c.item},
          {"format", kFormats[static_cast<size_t>(c.format)]},
          {"lifetime", format_duration(c.limits.lifetime_seconds)},
          {"retention", format_duration(c.limits.retention_seconds)},
          {"bucket", format_duration(c.limits.bucket_seconds)},
          {"most_bytes", c.limits.most_bytes},
          {"delay", format_duration(c.delay_seconds)},
          {"until", c.until == INT64_MAX ? Json() : Json(format_instant(c.until))},
          {"batch_rows", c.batch_rows}};
}

}  // namespace weft::lattice
