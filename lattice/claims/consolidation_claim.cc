// SPDX-License-Identifier: Apache-2.0

// Claims 1 and 2: one model for several domains and objectives.
//
// The three domains of claim 1 share users and items; the third follows its own direction. As today
// each (domain, objective) has a network of its own; merged, one network of the same shape answers
// for all, with weights untied by domain. Naively merged, it neither has weights of a domain's own
// nor knows the domain: the negative control, which has to hurt somebody. Between the two is one
// that knows the domain as a feature.
//
// Claim 2 sweeps the angle between two domains: shared weights suffer as it grows, separate models
// waste what is shared, untied weights should never be the worst of both.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lattice/claims/claims.h"

namespace weft::lattice {
namespace {

constexpr const char* kNetwork =
    "{kind: lattice, width: 16, layers: 1, mixtures: 4, fm_tokens: 6, linear_tokens: 6, "
    "fm_hidden: [48], context_tokens: 0, head: [16]}";

std::string portfolio(const ShardIndex& schema, size_t index) {
  const size_t domains = schema.domains.size();
  return schema.domains[index % domains] + "." + schema.labels[index / domains].name;
}

}  // namespace

Result<ClaimReport> claim_consolidation(const ClaimOptions& options) {
  const uint64_t impressions = options.impressions == 0 ? 120'000 : options.impressions;
  const std::vector<Arm> arms = {
      {.name = "separate", .network = kNetwork, .portfolios = Portfolios::Separate},
      {.name = "merged, untied", .network = kNetwork, .untied = true},
      {.name = "merged naively", .network = kNetwork, .sees_domain = false},
      {.name = "domain as a feature", .network = kNetwork}};
  std::vector<std::vector<std::vector<double>>> ne(arms.size());  // [arm][portfolio][seed]
  std::vector<double> flops(arms.size());
  std::vector<uint64_t> parameters(arms.size());
  ShardIndex schema;
  std::vector<double> best;
  for (uint64_t seed = 1; seed <= options.seeds; ++seed) {
    const WorldRows rows = TRY(draw_rows(small_world(seed, impressions)));
    schema = rows.schema;
    for (size_t a = 0; a < arms.size(); ++a) {
      options.progress(fmt::format("seed {}: {}", seed, arms[a].name));
      const ArmResult result = TRY(run_arm(rows, arms[a], {.seed = seed}));
      ne[a].resize(result.ne.size());
      for (size_t p = 0; p < result.ne.size(); ++p) ne[a][p].push_back(result.ne[p]);
      flops[a] = result.flops;
      parameters[a] = result.dense_parameters;
    }
    best.resize(ne[0].size());
    for (size_t p = 0; p < best.size(); ++p)
      best[p] += best_ne(rows, rows.train.rows + rows.valid.rows, p / schema.domains.size(),
                         static_cast<int32_t>(p % schema.domains.size())) /
                 static_cast<double>(options.seeds);
  }
  ClaimReport report;
  report.rows = {{"portfolio", "best NE"}};
  for (const Arm& arm : arms) report.rows[0].push_back(arm.name);
  for (const char* one : {"untied minus separate", "naive minus separate"})
    report.rows[0].push_back(one);
  bool equal = true, naive_hurts = false;
  for (size_t p = 0; p < best.size(); ++p) {
    const SeedMean untied = paired(ne[1][p], ne[0][p]), naive = paired(ne[2][p], ne[0][p]);
    equal = equal && surely_below(untied, kEqualNe);
    naive_hurts = naive_hurts || (naive.interval && naive.interval->low > 0);
    std::vector<std::string> row = {portfolio(schema, p), fmt::format("{:.4f}", best[p])};
    for (const auto& arm : ne) row.push_back(fmt::format("{:.4f}", mean(arm[p])));
    row.push_back(text(untied));
    row.push_back(text(naive));
    report.rows.push_back(row);
    report.json["portfolios"].push_back({{"name", portfolio(schema, p)},
                                         {"best", best[p]},
                                         {"separate", ne[0][p]},
                                         {"untied", ne[1][p]},
                                         {"naive", ne[2][p]},
                                         {"domain_feature", ne[3][p]}});
  }
  const double saving = flops[0] / flops[1];
  std::vector<std::string> work = {"kFLOP an impression", ""}, size = {"dense weights", ""};
  for (size_t a = 0; a < arms.size(); ++a) {
    work.push_back(fmt::format("{:.1f}", flops[a] / 1e3));
    size.push_back(std::to_string(parameters[a]));
  }
  report.rows.push_back(work);
  report.rows.push_back(size);
  report.json["flops"] = flops;
  report.holds = saving >= 1.5 && equal && naive_hurts;
  report.verdict = fmt::format(
      "{:.2f} x fewer FLOPs (1.5 asked); untied merging {} every portfolio within {} NE; naive "
      "merging {} a portfolio",
      saving, equal ? "surely keeps" : "is not shown to keep", kEqualNe,
      naive_hurts ? "surely hurts" : "does not surely hurt");
  return report;
}

Result<ClaimReport> claim_untying(const ClaimOptions& options) {
  const uint64_t impressions = options.impressions == 0 ? 60'000 : options.impressions;
  const std::vector<Arm> arms = {
      {.name = "shared", .network = kNetwork},
      {.name = "untied", .network = kNetwork, .untied = true},
      {.name = "separate", .network = kNetwork, .portfolios = Portfolios::Separate}};
  ClaimReport report;
  report.rows = {{"angle", "best NE", "shared", "untied", "separate", "untied minus shared",
                  "untied minus separate"}};
  report.holds = true;
  for (const double angle : {0.0, 60.0, 120.0, 180.0}) {
    std::vector<std::vector<double>> ne(arms.size());
    double best = 0;
    for (uint64_t seed = 1; seed <= options.seeds; ++seed) {
      WorldConfiguration w = small_world(seed, impressions);
      w.domains = {{.name = "one", .share = 0.5},
                   {.name = "other", .share = 0.5, .conflict_degrees = angle}};
      w.objectives.resize(1);
      const WorldRows rows = TRY(draw_rows(w));
      for (size_t a = 0; a < arms.size(); ++a) {
        options.progress(fmt::format("{} degrees, seed {}: {}", angle, seed, arms[a].name));
        ne[a].push_back(mean(TRY(run_arm(rows, arms[a], {.seed = seed})).ne));
      }
      for (const int32_t domain : {0, 1})
        best += best_ne(rows, rows.train.rows + rows.valid.rows, 0, domain) /
                static_cast<double>(2 * options.seeds);
    }
    const SeedMean shared = paired(ne[1], ne[0]), separate = paired(ne[1], ne[2]);
    for (const SeedMean& one : {shared, separate})
      if (!surely_below(one, kEqualNe)) report.holds = false;
    report.rows.push_back({fmt::format("{}", angle), fmt::format("{:.4f}", best),
                           fmt::format("{:.4f}", mean(ne[0])), fmt::format("{:.4f}", mean(ne[1])),
                           fmt::format("{:.4f}", mean(ne[2])), text(shared), text(separate)});
    report.json["angles"].push_back(
        {{"degrees", angle}, {"shared", ne[0]}, {"untied", ne[1]}, {"separate", ne[2]}});
  }
  report.verdict = fmt::format(
      "untied weights are {} within {} NE of shared and of separate ones everywhere, or better",
      report.holds ? "surely" : "not shown to be", kEqualNe);
  return report;
}

}  // namespace weft::lattice
