// SPDX-License-Identifier: Apache-2.0

// Every bound is stated where the value is read.
#include "lattice/world/configuration.h"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/near_match.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

constexpr double kMany = 1e12;
constexpr double kDay = 86400, kHour = 3600;

// Names become parts of column names.
bool plain_name(const std::string& name) {
  if (name.empty() || name.size() > 40) return false;
  for (const char letter : name)
    if ((letter < 'a' || letter > 'z') && (letter < '0' || letter > '9') && letter != '_')
      return false;
  return true;
}

Result<Done> read_interval(Fields& fields, const std::string& key, Interval& interval) {
  const YamlNode* node = fields.node(key);
  if (node == nullptr) return Done{};
  Fields inner = TRY(Fields::open(fields.document(), *node, key));
  TRY(inner.read("from", interval.from, 0, 1));
  TRY(inner.read("to", interval.to, 0, 1));
  TRY(inner.finish());
  if (interval.to <= interval.from)
    return fields.error(key, fmt::format("is empty: from {} to {}", interval.from, interval.to));
  return Done{};
}

Result<DomainConfiguration> read_domain(const YamlDocument& document, const std::string& name,
                                        const YamlNode& node) {
  DomainConfiguration domain{.name = name};
  Fields fields = TRY(Fields::open(document, node, "domain " + name));
  TRY(fields.read("share", domain.share, 1e-6, kMany));
  TRY(read_interval(fields, "users", domain.users));
  TRY(read_interval(fields, "items", domain.items));
  TRY(fields.read("conflict_degrees", domain.conflict_degrees, -180, 180));
  TRY(fields.finish());
  return domain;
}

Result<ObjectiveConfiguration> read_objective(const YamlDocument& document, const std::string& name,
                                              const YamlNode& node) {
  ObjectiveConfiguration objective{.name = name};
  Fields fields = TRY(Fields::open(document, node, "objective " + name));
  TRY(fields.read("rate", objective.rate, 1e-6, 0.5));
  TRY(fields.read("signal", objective.signal, 0, 10));
  TRY(fields.read("refunds", objective.refunds, 0, 1));
  if (const YamlNode* parts = fields.node("delay")) {
    if (parts->kind != YamlNode::Kind::List) return fields.error("delay", "is no list of parts");
    for (const YamlNode& part : parts->list) {
      DelayPart read;
      Fields inner = TRY(Fields::open(document, part, "delay of " + name));
      TRY(inner.read("share", read.share, 0, kMany));
      TRY(inner.read_duration("mean", read.mean_seconds));
      TRY(inner.finish());
      objective.delay.push_back(read);
    }
  }
  TRY(fields.finish());
  return objective;
}

WorldConfiguration ads_small() {
  WorldConfiguration world;
  world.domains = {{.name = "feed", .share = 0.5, .users = {0, 0.7}, .items = {0, 0.7}},
                   {.name = "stories",
                    .share = 0.3,
                    .users = {0.1, 0.8},
                    .items = {0.2, 0.8},
                    .conflict_degrees = 30},
                   {.name = "search",
                    .share = 0.2,
                    .users = {0.5, 1},
                    .items = {0.4, 1},
                    .conflict_degrees = 110}};
  world.objectives = {{.name = "click", .rate = 0.08},
                      {.name = "cart", .rate = 0.03, .delay = {{1, 3 * kHour}}},
                      {.name = "purchase",
                       .rate = 0.02,
                       .delay = {{0.4, kHour}, {0.6, 2 * kDay}},
                       .refunds = 0.03}};
  return world;
}

}  // namespace

Result<WorldConfiguration> world_preset(const std::string& name) {
  if (name == "ads-small") return ads_small();
  return Error("unknown preset: " + name, suggestion(name, {"ads-small"}, "presets"));
}

Result<WorldConfiguration> read_world(const YamlDocument& document, const YamlNode& node) {
  Fields fields = TRY(Fields::open(document, node, "world"));
  std::string preset = "ads-small";
  TRY(fields.read("preset", preset));
  Result<WorldConfiguration> start = world_preset(preset);
  if (!start.ok()) return fields.error("preset", "is unknown: " + preset, "there is ads-small");
  WorldConfiguration world = *std::move(start);
  TRY(fields.read("seed", world.seed));
  TRY(fields.read("impressions", world.impressions, 1));
  TRY(fields.read_duration("span", world.seconds));
  TRY(fields.read("start", world.start));
  if (!parse_instant(world.start))
    return fields.error("start", "is no instant in UTC: " + world.start);
  TRY(fields.read("users", world.users, 1));
  TRY(fields.read("items", world.items, 1));
  TRY(fields.read("categories", world.categories, 1));
  TRY(fields.read("advertisers", world.advertisers, 1));
  TRY(fields.read("zipf", world.zipf, 0, 3));
  TRY(fields.read("new_items", world.new_items, 0, 0.9));
  TRY(fields.read("shared_features", world.shared_features, 2));
  TRY(fields.read("private_features", world.private_features));
  TRY(fields.read("domain_features", world.domain_features));
  TRY(fields.read("noise_features", world.noise_features));
  TRY(fields.read("missing", world.missing, 0, 0.9));
  TRY(fields.read("drift", world.drift, 0, 5));
  TRY(fields.read("drift_persistence", world.drift_persistence, 0, 0.999));
  TRY(fields.read("events_per_user", world.events_per_user, 0, 1e5));
  TRY(fields.read("sequence_length", world.sequence_length, 1));
  TRY(fields.read("late_reports", world.late_reports, 0, 1));
  TRY(fields.read("duplicate_reports", world.duplicate_reports, 0, 1));
  TRY(fields.read("part_rows", world.part_rows, 1));
  TRY(fields.read_durations("windows", world.windows));
  const auto check_name = [&](const std::string& key, const std::string& name) -> Result<Done> {
    if (plain_name(name)) return Done{};
    return fields.error(key, "has a name with other letters than a-z, 0-9 and _: " + name);
  };
  const auto one_domain = [&](const std::string& name, const YamlNode& value) -> Result<Done> {
    TRY(check_name("domains", name));
    world.domains.push_back(TRY(read_domain(document, name, value)));
    return Done{};
  };
  const auto one_objective = [&](const std::string& name, const YamlNode& value) -> Result<Done> {
    TRY(check_name("objectives", name));
    world.objectives.push_back(TRY(read_objective(document, name, value)));
    return Done{};
  };
  if (fields.node("domains") != nullptr) world.domains.clear();
  TRY(fields.each("domains", one_domain));
  if (fields.node("objectives") != nullptr) world.objectives.clear();
  TRY(fields.each("objectives", one_objective));
  TRY(fields.finish());
  if (world.domains.empty()) return fields.error("domains", "has no entry");
  if (world.objectives.empty()) return fields.error("objectives", "has no entry");
  if (world.seconds <= 0) return fields.error("span", "is zero");
  return world;
}

Json to_json(const WorldConfiguration& world) {
  Json domains = Json::object(), objectives = Json::object(), windows = Json::array();
  const auto interval = [](const Interval& one) {
    return Json{{"from", one.from}, {"to", one.to}};
  };
  for (const DomainConfiguration& domain : world.domains)
    domains[domain.name] = {{"share", domain.share},
                            {"users", interval(domain.users)},
                            {"items", interval(domain.items)},
                            {"conflict_degrees", domain.conflict_degrees}};
  for (const ObjectiveConfiguration& objective : world.objectives) {
    Json delay = Json::array();
    for (const DelayPart& part : objective.delay)
      delay.push_back({{"share", part.share}, {"mean", format_duration(part.mean_seconds)}});
    objectives[objective.name] = {{"rate", objective.rate},
                                  {"signal", objective.signal},
                                  {"delay", delay},
                                  {"refunds", objective.refunds}};
  }
  for (const double window : world.windows) windows.push_back(format_duration(window));
  return {{"seed", world.seed},
          {"impressions", world.impressions},
          {"span", format_duration(world.seconds)},
          {"start", world.start},
          {"users", world.users},
          {"items", world.items},
          {"categories", world.categories},
          {"advertisers", world.advertisers},
          {"zipf", world.zipf},
          {"new_items", world.new_items},
          {"shared_features", world.shared_features},
          {"private_features", world.private_features},
          {"domain_features", world.domain_features},
          {"noise_features", world.noise_features},
          {"missing", world.missing},
          {"drift", world.drift},
          {"drift_persistence", world.drift_persistence},
          {"events_per_user", world.events_per_user},
          {"sequence_length", world.sequence_length},
          {"late_reports", world.late_reports},
          {"duplicate_reports", world.duplicate_reports},
          {"windows", windows},
          {"part_rows", world.part_rows},
          {"domains", domains},
          {"objectives", objectives}};
}

}  // namespace weft::lattice
