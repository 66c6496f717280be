// SPDX-License-Identifier: Apache-2.0

// Every value is asked for by name, and what is missing or no number is named with its place.
#include "lattice/sharding/profile.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_member.h"
#include "base/near_match.h"

namespace weft::lattice {
namespace {

// One object of the file, strict: keys that nobody knows are errors.
class Entry {
 public:
  Entry(const Json& json, std::string where, std::string file)
      : json_(json), where_(std::move(where)), file_(std::move(file)) {}

  Result<Done> allow(const std::vector<std::string>& known) const {
    if (!json_.is_object()) return error("is no object", "");
    for (const auto& [key, value] : json_.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        return error("has an unknown key: " + key, suggestion(key, known, "keys"));
    return Done{};
  }
  Result<double> number(const char* name, double least) const {
    const Json& value = member(json_, name);
    if (!value.is_number()) return error(fmt::format("needs a number: {}", name), "");
    const double number = value.get<double>();
    if (!(std::isfinite(number) && number >= least))
      return error(fmt::format("has a number out of range: {} {}", name, value.dump()),
                   fmt::format("at least {}", least));
    return number;
  }
  Result<int64_t> whole(const char* name) const {
    const double value = TRY(number(name, 1));
    if (value != std::floor(value) || value > 1e9)
      return error(fmt::format("needs a whole number: {}", name), "");
    return static_cast<int64_t>(value);
  }
  Result<const Json*> list(const char* name) const {
    const Json& value = member(json_, name);
    if (!value.is_array() || value.empty())
      return error(fmt::format("needs a list that is not empty: {}", name), "");
    return &value;
  }
  Result<std::string> name() const {
    std::string text = text_of(member(json_, "name"));
    if (text.empty()) return error("needs a name", "");
    return text;
  }
  Error error(const std::string& what, const std::string& hint) const {
    return Error(Diagnostic{.message = where_ + " " + what, .hint = hint, .file = file_});
  }

 private:
  const Json& json_;
  std::string where_, file_;
};

Result<std::vector<LinkPoint>> parse_link(const Json& json, const std::string& name,
                                          const std::string& file) {
  std::vector<LinkPoint> link;
  for (const Json& one : json) {
    const Entry entry(one, fmt::format("the profile's {}[{}]", name, link.size()), file);
    TRY(entry.allow({"bytes", "latency_seconds", "bytes_per_second"}));
    link.push_back({.bytes = TRY(entry.number("bytes", 0)),
                    .latency_seconds = TRY(entry.number("latency_seconds", 0)),
                    .bytes_per_second = TRY(entry.number("bytes_per_second", 1))});
  }
  std::sort(link.begin(), link.end(),
            [](const LinkPoint& a, const LinkPoint& b) { return a.bytes < b.bytes; });
  return link;
}

Result<BlockProfile> parse_block(const Json& json, const std::string& file,
                                 std::vector<int64_t>& rows) {
  const Entry entry(json, "a block of the profile", file);
  TRY(entry.allow({"name", "parameter_bytes", "batches"}));
  BlockProfile block{.name = TRY(entry.name()),
                     .parameter_bytes = TRY(entry.number("parameter_bytes", 0))};
  const Json& batches = *TRY(entry.list("batches"));
  std::vector<int64_t> mine;
  for (const Json& one : batches) {
    const Entry batch(one, fmt::format("batch {} of block {}", mine.size(), block.name), file);
    TRY(batch.allow({"rows", "forward_seconds", "backward_seconds", "activation_bytes"}));
    mine.push_back(TRY(batch.whole("rows")));
    block.forward_seconds.push_back(TRY(batch.number("forward_seconds", 0)));
    block.backward_seconds.push_back(TRY(batch.number("backward_seconds", 0)));
    block.activation_bytes.push_back(TRY(batch.number("activation_bytes", 0)));
  }
  if (rows.empty()) rows = mine;
  if (rows != mine)
    return entry.error(
        fmt::format("was measured at other batch sizes than the first: {}", block.name),
        fmt::format("in this order: {}", fmt::join(rows, ", ")));
  return block;
}

}  // namespace

Result<Profile> parse_profile(const Json& json, const std::string& file) {
  const Entry entry(json, "the profile", file);
  TRY(entry.allow(
      {"hardware", "ranks", "ranks_per_host", "blocks", "within_host", "between_hosts", "tables"}));
  Profile profile{.hardware = text_of(member(json, "hardware")),
                  .ranks = TRY(entry.whole("ranks")),
                  .ranks_per_host = TRY(entry.whole("ranks_per_host"))};
  if (profile.ranks % profile.ranks_per_host != 0)
    return entry.error(fmt::format("has ranks that do not fill hosts: {} by {}", profile.ranks,
                                   profile.ranks_per_host),
                       "ranks is a multiple of ranks_per_host");
  for (const Json& block : *TRY(entry.list("blocks")))
    profile.blocks.push_back(TRY(parse_block(block, file, profile.batch_rows)));
  if (profile.ranks_per_host > 1) {
    const Json& within = *TRY(entry.list("within_host"));
    profile.within_host = TRY(parse_link(within, "within_host", file));
  }
  if (profile.ranks > profile.ranks_per_host) {
    const Json& between = *TRY(entry.list("between_hosts"));
    profile.between_hosts = TRY(parse_link(between, "between_hosts", file));
  }
  for (const Json& one : member(json, "tables")) {
    const Entry table(one, "a table of the profile", file);
    TRY(table.allow({"name", "rows", "width", "ids_per_row"}));
    profile.tables.push_back({.name = TRY(table.name()),
                              .rows = TRY(table.number("rows", 1)),
                              .width = TRY(table.number("width", 1)),
                              .ids_per_row = TRY(table.number("ids_per_row", 0))});
  }
  return profile;
}

Result<Profile> read_profile(const std::string& path) {
  const Json json = TRY(read_json(path));
  return parse_profile(json, path);
}

double gather_seconds(const std::vector<LinkPoint>& link, double bytes, int64_t ranks) {
  if (ranks <= 1 || link.empty()) return 0;
  const double peers = static_cast<double>(ranks - 1), share = peers / static_cast<double>(ranks);
  const auto at = [&](const LinkPoint& point) {
    return point.latency_seconds * peers + bytes * share / point.bytes_per_second;
  };
  const auto next = std::find_if(link.begin(), link.end(),
                                 [&](const LinkPoint& point) { return point.bytes >= bytes; });
  if (next == link.begin()) return at(link.front());
  if (next == link.end()) return at(link.back());
  const LinkPoint& before = *(next - 1);
  const double along = (bytes - before.bytes) / (next->bytes - before.bytes);
  return at(before) * (1 - along) + at(*next) * along;
}

}  // namespace weft::lattice
