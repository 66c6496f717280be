// SPDX-License-Identifier: Apache-2.0

// Bounds are wide: weights and costs are the user's policy.
#include "lattice/consolidation/partition.h"

#include <nlohmann/json.hpp>

namespace weft::lattice {

Result<PartitionConfiguration> read_partition(const YamlDocument& document, const YamlNode& node,
                                              std::string base) {
  PartitionConfiguration c;
  c.base = std::move(base);
  Fields fields = TRY(Fields::open(document, node, "partition"));
  TRY(fields.read("impressions", c.impressions));
  TRY(fields.read("feedback", c.feedback));
  TRY(fields.read("impression_id", c.impression_id));
  TRY(fields.read("domain", c.domain));
  TRY(fields.read("user", c.user));
  TRY(fields.read("item", c.item));
  TRY(fields.read("time", c.time));
  TRY(fields.read("event_id", c.event_id));
  TRY(fields.read("objective", c.objective));
  TRY(fields.read("refund_of", c.refund_of));
  TRY(fields.read("objectives", c.objectives));
  TRY(fields.read("probe", c.probe));
  TRY(fields.read("probe_rows", c.probe_rows, 1));
  TRY(fields.read("least_gradient", c.least_gradient, 0, 1e3));
  TRY(fields.read("threshold", c.policy.threshold, -10, 10));
  TRY(fields.read("user_weight", c.policy.user_weight, 0, 100));
  TRY(fields.read("item_weight", c.policy.item_weight, 0, 100));
  TRY(fields.read("delay_weight", c.policy.delay_weight, 0, 100));
  TRY(fields.read("density_weight", c.policy.density_weight, 0, 100));
  TRY(fields.read("gradient_weight", c.policy.gradient_weight, 0, 100));
  TRY(fields.read("most_members", c.policy.most_members, 1));
  TRY(fields.read("mflops_per_ms", c.policy.mflops_per_ms, 1e-6, 1e12));
  TRY(fields.read("total_mflops", c.policy.total_mflops, 0, 1e15));
  const auto one_portfolio = [&](const std::string& name, const YamlNode& value) -> Result<Done> {
    Portfolio portfolio;
    Fields inner = TRY(Fields::open(document, value, "portfolio " + name));
    TRY(inner.read("revenue", portfolio.revenue, 0, 1e15));
    TRY(inner.read("latency_ms", portfolio.latency_ms, 1e-6, 1e6));
    TRY(inner.read("mflops", portfolio.mflops, 1e-6, 1e12));
    c.portfolios[name] = portfolio;
    return inner.finish();
  };
  TRY(fields.each("portfolios", one_portfolio));
  TRY(fields.finish());
  if (c.objectives.empty()) return fields.error("objectives", "has no entry");
  return c;
}

Json to_json(const PartitionConfiguration& c) {
  Json portfolios = Json::object();
  for (const auto& [name, one] : c.portfolios)
    portfolios[name] = {
        {"revenue", one.revenue}, {"latency_ms", one.latency_ms}, {"mflops", one.mflops}};
  return {{"impressions", c.impressions},
          {"feedback", c.feedback},
          {"impression_id", c.impression_id},
          {"domain", c.domain},
          {"user", c.user},
          {"item", c.item},
          {"time", c.time},
          {"event_id", c.event_id},
          {"objective", c.objective},
          {"refund_of", c.refund_of},
          {"objectives", c.objectives},
          {"probe", c.probe},
          {"probe_rows", c.probe_rows},
          {"least_gradient", c.least_gradient},
          {"threshold", c.policy.threshold},
          {"user_weight", c.policy.user_weight},
          {"item_weight", c.policy.item_weight},
          {"delay_weight", c.policy.delay_weight},
          {"density_weight", c.policy.density_weight},
          {"gradient_weight", c.policy.gradient_weight},
          {"most_members", c.policy.most_members},
          {"mflops_per_ms", c.policy.mflops_per_ms},
          {"total_mflops", c.policy.total_mflops},
          {"portfolios", portfolios}};
}

}  // namespace weft::lattice
