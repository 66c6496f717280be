// SPDX-License-Identifier: Apache-2.0

#include "lattice/consolidation/partition_report.h"

#include <nlohmann/json.hpp>

namespace weft::lattice {
namespace {

Json number_or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json group_json(const Group& group, const std::vector<Portfolio>& portfolios) {
  Json members = Json::array(), untie = Json::array(), masks = Json::object();
  for (const size_t member : group.members) {
    members.push_back(portfolios[member].name());
    // Which tasks a row of a domain trains.
    masks[portfolios[member].domain].push_back(portfolios[member].objective);
  }
  for (const auto& [a, b] : group.untie)
    untie.push_back({portfolios[a].name(), portfolios[b].name()});
  return {{"portfolios", members},
          {"task_masks", masks},
          {"untie", untie},
          {"revenue_share", group.revenue_share},
          {"mflops", group.mflops},
          {"budget_mflops", group.budget_mflops},
          {"within_budget", group.within_budget},
          {"latency_ms", group.latency_ms}};
}

Json domains_json(const std::vector<DomainStatistics>& domains) {
  Json lines = Json::array();
  for (const DomainStatistics& domain : domains)
    lines.push_back({{"name", domain.name},
                     {"impressions", domain.rows},
                     {"users", domain.users.distinct()},
                     {"items", domain.items.distinct()}});
  return lines;
}

Json portfolios_json(const std::vector<Portfolio>& portfolios) {
  Json lines = Json::array();
  for (const Portfolio& one : portfolios)
    lines.push_back({{"name", one.name()},
                     {"impressions", one.impressions},
                     {"conversions", one.conversions},
                     {"rate", one.rate},
                     {"median_delay_seconds", number_or_null(one.median_delay_seconds)},
                     {"revenue", one.revenue},
                     {"latency_ms", one.latency_ms},
                     {"mflops", one.mflops}});
  return lines;
}

Json overlap_json(const Likeness& like) {
  return {{"user_jaccard", like.user_jaccard},
          {"user_containment", like.user_containment},
          {"item_jaccard", like.item_jaccard},
          {"item_containment", like.item_containment}};
}

}  // namespace

Likeness overlap(const DomainStatistics& a, const DomainStatistics& b) {
  return {.user_jaccard = Sketch::jaccard(a.users, b.users),
          .user_containment = Sketch::containment(a.users, b.users),
          .item_jaccard = Sketch::jaccard(a.items, b.items),
          .item_containment = Sketch::containment(a.items, b.items),
          .gradient_cosine = {}};
}

Json overlap_report(const std::vector<DomainStatistics>& domains,
                    const std::vector<Portfolio>& portfolios) {
  Json overlaps = Json::array();
  for (size_t i = 0; i < domains.size(); ++i)
    for (size_t j = i + 1; j < domains.size(); ++j) {
      Json pair = overlap_json(overlap(domains[i], domains[j]));
      pair["domains"] = {domains[i].name, domains[j].name};
      overlaps.push_back(std::move(pair));
    }
  return {{"domains", domains_json(domains)},
          {"portfolios", portfolios_json(portfolios)},
          {"overlaps", overlaps}};
}

Json partition_report(const std::vector<DomainStatistics>& domains,
                      const std::vector<Portfolio>& portfolios,
                      const std::vector<std::vector<Likeness>>& likeness,
                      const Grouping& grouping) {
  Json pairs = Json::array(), decisions = Json::array(), groups = Json::array();
  for (size_t i = 0; i < portfolios.size(); ++i)
    for (size_t j = i + 1; j < portfolios.size(); ++j) {
      const Likeness& like = likeness[i][j];
      Json pair = overlap_json(like);
      pair["portfolios"] = {portfolios[i].name(), portfolios[j].name()};
      pair["affinity"] = grouping.affinities[i][j].total;
      pair["gradient_cosine"] = number_or_null(like.gradient_cosine);
      pairs.push_back(std::move(pair));
    }
  for (const Decision& decision : grouping.decisions)
    decisions.push_back(
        {{"merged", decision.merged}, {"affinity", decision.affinity}, {"why", decision.why}});
  for (const Group& group : grouping.groups) groups.push_back(group_json(group, portfolios));
  return {{"domains", domains_json(domains)},
          {"portfolios", portfolios_json(portfolios)},
          {"pairs", pairs},
          {"decisions", decisions},
          {"groups", groups}};
}

}  // namespace weft::lattice
