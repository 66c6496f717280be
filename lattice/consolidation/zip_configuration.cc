// SPDX-License-Identifier: Apache-2.0

// Words for every rule: what happens at the edges is never a matter of luck.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lattice/consolidation/zip.h"
#include "lattice/ingest/source_fields.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

const std::vector<std::string> kTouches = {"last", "first", "all"};
const std::vector<std::string> kEnds = {"inclusive", "exclusive"};
const std::vector<std::string> kRefunds = {"cancel", "ignore"};

Result<Done> check(const Fields& fields, ZipConfiguration& zip) {
  if (zip.windows.empty() || zip.windows.size() > kMostWindows)
    return fields.error("windows", fmt::format("has {} windows; 1 to {} are possible",
                                               zip.windows.size(), kMostWindows));
  for (size_t i = 0; i < zip.windows.size(); ++i)
    if (zip.windows[i] <= (i == 0 ? 0 : zip.windows[i - 1]))
      return fields.error("windows", "does not ascend");
  if (zip.shares.empty())
    zip.shares.assign(zip.windows.size(), 1.0 / static_cast<double>(zip.windows.size()));
  const double sum = std::accumulate(zip.shares.begin(), zip.shares.end(), 0.0);
  if (zip.shares.size() != zip.windows.size() || std::abs(sum - 1) > 1e-9)
    return fields.error(
        "shares", fmt::format("has {} shares that sum to {:.6g}; one a window, sum 1, are needed",
                              zip.shares.size(), sum));
  if (zip.objectives.empty() || zip.objectives.size() > kMostObjectives)
    return fields.error("objectives", fmt::format("has {} entries; 1 to {} are possible",
                                                  zip.objectives.size(), kMostObjectives));
  for (const auto& [name, window] : zip.objectives)
    if (window > zip.windows.front())
      return fields.error(
          "objectives",
          fmt::format("gives {} a window of {}, longer than the shortest of the impressions, {}",
                      name, format_duration(window), format_duration(zip.windows.front())),
          "impressions of the shortest window are emitted before that label is known");
  if (zip.key.empty()) return fields.error("key", "names no column");
  if (!zip.as_of.empty() && !parse_instant(zip.as_of))
    return fields.error("as_of", "is no instant in UTC: " + zip.as_of);
  return Done{};
}

}  // namespace

Result<ZipConfiguration> read_zip(const YamlDocument& document, const YamlNode& node,
                                  std::string base) {
  ZipConfiguration zip;
  zip.base = std::move(base);
  Fields fields = TRY(Fields::open(document, node, "zip"));
  TRY(read_source(fields, "impressions", zip.impressions));
  TRY(read_source(fields, "feedback", zip.feedback));
  TRY(fields.read("impression_id", zip.impression_id));
  TRY(fields.read("impression_time", zip.impression_time));
  TRY(fields.read("event_id", zip.event_id));
  TRY(fields.read("event_time", zip.event_time));
  TRY(fields.read("arrival_time", zip.arrival_time));
  TRY(fields.read("objective", zip.objective));
  TRY(fields.read("refund_of", zip.refund_of));
  TRY(fields.read("key", zip.key));
  TRY(fields.read_word("unit", zip.unit, kTimeUnitWords));
  TRY(fields.read("assume_utc", zip.assume_utc));
  std::vector<std::string> windows, shares;
  TRY(fields.read("windows", windows));
  TRY(fields.read("shares", shares));
  if (!windows.empty()) zip.windows.clear();
  for (const std::string& text : windows) {
    const auto seconds = parse_duration(text);
    if (!seconds) return fields.error("windows", "has a value that is no duration: " + text);
    zip.windows.push_back(*seconds);
  }
  for (const std::string& text : shares) {
    char* end = nullptr;
    zip.shares.push_back(std::strtod(text.c_str(), &end));
    if (*end != '\0' || !(zip.shares.back() >= 0))
      return fields.error("shares", "has a value that is no share: " + text);
  }
  const auto one_objective = [&](const std::string& name, const YamlNode& value) -> Result<Done> {
    double window = 0;
    Fields inner = TRY(Fields::open(document, value, "objective " + name));
    TRY(inner.read_duration("window", window));
    zip.objectives.emplace_back(name, window);
    return inner.finish();
  };
  TRY(fields.each("objectives", one_objective));
  TRY(fields.read_word("touch", zip.touch, kTouches));
  TRY(fields.read_word("window_end", zip.window_end, kEnds));
  TRY(fields.read_word("refunds", zip.refunds, kRefunds));
  TRY(fields.read_duration("allowance", zip.allowance_seconds));
  TRY(fields.read("as_of", zip.as_of));
  TRY(fields.read("seed", zip.seed));
  TRY(fields.read("part_rows", zip.part_rows, 1));
  TRY(fields.finish());
  TRY(check(fields, zip));
  return zip;
}

Json to_json(const ZipConfiguration& zip) {
  Json objectives = Json::object(), windows = Json::array();
  for (const auto& [name, window] : zip.objectives)
    objectives[name] = window == 0 ? Json::object() : Json{{"window", format_duration(window)}};
  for (const double window : zip.windows) windows.push_back(format_duration(window));
  return {{"impressions", to_json(zip.impressions)},
          {"feedback", to_json(zip.feedback)},
          {"impression_id", zip.impression_id},
          {"impression_time", zip.impression_time},
          {"event_id", zip.event_id},
          {"event_time", zip.event_time},
          {"arrival_time", zip.arrival_time},
          {"objective", zip.objective},
          {"refund_of", zip.refund_of},
          {"key", zip.key},
          {"unit", kTimeUnitWords[static_cast<size_t>(zip.unit)]},
          {"assume_utc", zip.assume_utc},
          {"windows", windows},
          {"shares", zip.shares},
          {"objectives", objectives},
          {"touch", kTouches[static_cast<size_t>(zip.touch)]},
          {"window_end", kEnds[static_cast<size_t>(zip.window_end)]},
          {"refunds", kRefunds[static_cast<size_t>(zip.refunds)]},
          {"allowance", format_duration(zip.allowance_seconds)},
          {"as_of", zip.as_of},
          {"seed", zip.seed},
          {"part_rows", zip.part_rows}};
}

}  // namespace weft::lattice
