// SPDX-License-Identifier: Apache-2.0

// Claim 6: Lattice's network against the published ones, all merged over the portfolios of one
// world and with the domain as one more feature. Each kind is sized to the same work a row, and
// chooses its learning rates from the same list by the validation loss of a world of another seed.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lattice/claims/claims.h"

namespace weft::lattice {
namespace {

// {0} is a size, {1} half of it.
struct Kind {
  const char* name;
  const char* network;
  bool untied = false;
};
constexpr Kind kKinds[] = {
    {"lattice",
     "{{kind: lattice, width: 16, layers: 2, mixtures: 4, fm_tokens: 6, linear_tokens: 6, "
     "fm_hidden: [{0}], context_tokens: 4, head: [16]}}",
     true},
    {"mlp", "{{kind: mlp, width: 16, hidden: [{0}, {1}], head: [16]}}"},
    {"shared_bottom", "{{kind: shared_bottom, width: 16, hidden: [{0}, {1}], head: [32]}}"},
    {"dlrm", "{{kind: dlrm, width: 16, hidden: [{0}, {1}], head: [16]}}"},
    {"dcn", "{{kind: dcn, width: 16, crosses: 2, rank: 16, hidden: [{0}, {1}], head: [16]}}"},
    {"wukong",
     "{{kind: wukong, width: 16, layers: 2, mixtures: 4, fm_tokens: 6, linear_tokens: 6, "
     "fm_hidden: [{0}], head: [16]}}"},
    {"interformer",
     "{{kind: interformer, width: 16, layers: 1, mixtures: 4, fm_tokens: 6, linear_tokens: 6, "
     "fm_hidden: [{0}], head: [16]}}"},
    {"mmoe", "{{kind: mmoe, width: 16, experts: 3, hidden: [{0}], head: [16]}}"},
    {"ple", "{{kind: ple, width: 16, shared: 1, own: 1, levels: 1, hidden: [{0}], head: [16]}}"},
};
struct Rate {
  double dense, tables;
};
constexpr Rate kRates[] = {{1e-3, 0.05}, {3e-3, 0.05}, {3e-3, 0.15}};

Result<double> flops_of(const ShardIndex& schema, const Arm& arm) {
  const YamlDocument document = TRY(parse_yaml(arm.network, "network of " + arm.name));
  LearnerOptions options;
  for (const ShardIndex::Label& label : schema.labels) options.tasks.push_back({label.name});
  for (size_t d = 0; arm.untied && d < schema.domains.size(); ++d)
    options.domain_groups.push_back(static_cast<int64_t>(d));
  const Learner learner = TRY(Learner::create(schema, document, document.root, options));
  return learner.flops_per_sample();
}

// The size whose work is nearest to the target; all work when there is no target.
Result<Arm> sized(const Kind& kind, const ShardIndex& schema, double target) {
  Arm best{.name = kind.name, .untied = kind.untied};
  double distance = 1e30;
  for (int size = 8; size <= 320; size += 8) {
    Arm arm = best;
    arm.network = fmt::format(fmt::runtime(kind.network), size, size / 2);
    const double off = std::abs(std::log(TRY(flops_of(schema, arm)) / target));
    if (off >= distance) break;  // work grows with the size
    distance = off;
    best.network = arm.network;
  }
  return best;
}

}  // namespace

Result<ClaimReport> claim_networks(const ClaimOptions& options) {
  const uint64_t impressions = options.impressions == 0 ? 100'000 : options.impressions;
  constexpr uint64_t kTuningSeed = 1000;
  constexpr size_t kCount = std::size(kKinds);
  const WorldRows tuning = TRY(draw_rows(small_world(kTuningSeed, impressions)));
  const Arm lattice{.name = "lattice",
                    .network = fmt::format(fmt::runtime(kKinds[0].network), 64, 32),
                    .untied = true};
  const double target = TRY(flops_of(tuning.schema, lattice));
  std::vector<Arm> arms;
  for (const Kind& kind : kKinds) {
    Arm arm = TRY(sized(kind, tuning.schema, target));
    Arm best = arm;
    double loss = 1e30;
    for (const Rate rate : kRates) {
      options.progress(fmt::format("rates of {}", kind.name));
      arm.learning_rate = rate.dense;
      arm.table_learning_rate = rate.tables;
      const double tried = TRY(run_arm(tuning, arm, {.seed = kTuningSeed})).validation_loss;
      if (tried >= loss) continue;
      loss = tried;
      best = arm;
    }
    arms.push_back(best);
  }
  std::vector<std::vector<double>> ne(kCount), auc(kCount);
  std::vector<double> flops(kCount);
  std::vector<uint64_t> parameters(kCount);
  double best = 0;
  for (uint64_t seed = 1; seed <= options.seeds; ++seed) {
    const WorldRows rows = TRY(draw_rows(small_world(seed, impressions)));
    for (size_t a = 0; a < kCount; ++a) {
      options.progress(fmt::format("seed {}: {}", seed, arms[a].name));
      const ArmResult result = TRY(run_arm(rows, arms[a], {.seed = seed}));
      ne[a].push_back(mean(result.ne));
      auc[a].push_back(mean(result.auc));
      flops[a] = result.flops;
      parameters[a] = result.dense_parameters;
    }
    const size_t portfolios = rows.schema.labels.size() * rows.schema.domains.size();
    for (size_t p = 0; p < portfolios; ++p)
      best += best_ne(rows, rows.train.rows + rows.valid.rows, p / rows.schema.domains.size(),
                      static_cast<int32_t>(p % rows.schema.domains.size())) /
              static_cast<double>(portfolios * options.seeds);
  }
  ClaimReport report;
  report.rows = {{"network", "kFLOP a row", "dense weights", "rates", "NE", "AUC",
                  "NE: lattice minus it", "AUC: lattice minus it"}};
  report.holds = true;
  size_t better = 0;
  for (size_t a = 0; a < kCount; ++a) {
    const SeedMean by_ne = paired(ne[0], ne[a]), by_auc = paired(auc[0], auc[a]);
    // At least as good: no data that could not tell is taken for a tie.
    if (a != 0 && !surely_below(by_ne, kEqualNe)) report.holds = false;
    if (a != 0 && surely_below(by_ne, 0)) ++better;
    report.rows.push_back(
        {arms[a].name, fmt::format("{:.1f}", flops[a] / 1e3), std::to_string(parameters[a]),
         fmt::format("{:g}, {:g}", arms[a].learning_rate, arms[a].table_learning_rate),
         fmt::format("{:.4f}", mean(ne[a])), fmt::format("{:.4f}", mean(auc[a])),
         a == 0 ? "" : text(by_ne), a == 0 ? "" : text(by_auc)});
    report.json["networks"].push_back({{"name", arms[a].name},
                                       {"network", arms[a].network},
                                       {"flops", flops[a]},
                                       {"dense_parameters", parameters[a]},
                                       {"ne", ne[a]},
                                       {"auc", auc[a]}});
  }
  report.rows.push_back({"the truth itself", "", "", "", fmt::format("{:.4f}", best), "", "", ""});
  report.verdict =
      fmt::format("surely better than {} of {} networks, {} within {} NE of all or better", better,
                  kCount - 1, report.holds ? "surely" : "not shown to be", kEqualNe);
  return report;
}

}  // namespace weft::lattice
