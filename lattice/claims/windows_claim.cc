// SPDX-License-Identifier: Apache-2.0

// Claim 3: one stream in which every impression is labelled under one of several windows (Zipper)
// against streams of one window each and against the published losses for late conversions. A
// world drifts; conversions within seven days count; a share of them is slow (days instead of
// minutes). All methods see what they may see at each moment: an observation enters the stream when
// its label is known. They are measured prequentially: impressions are scored with the weights of
// the moment when they are shown, and compared with what became of them.
//
// Every method chooses its learning rates on a stream of another seed.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/mix.h"
#include "lattice/claims/claims.h"
#include "lattice/objectives/binary.h"
#include "lattice/objectives/delayed_feedback.h"
#include "lattice/training/batch_rows.h"

namespace weft::lattice {
namespace {

constexpr double kHour = 3600, kDay = 86400;
constexpr double kWindows[] = {1.5 * kHour, kDay, 7 * kDay};
constexpr double kStep = 3 * kHour, kWarmUp = 10 * kDay, kSpan = 30 * kDay;
constexpr uint64_t kBatch = 128;

enum class Method : uint8_t {
  Short,
  Day,
  Mature,
  Zipper,
  FakeNegatives,
  DelayModel,
  RealNegatives
};
constexpr const char* kNames[] = {"90 minutes", "1 day", "7 days (mature)", "Zipper", "FNW",
                                  "DFM",        "DEFER"};
constexpr size_t kMethods = std::size(kNames);

// What a method is told at one moment.
struct Observation {
  double at = 0;
  uint32_t row = 0;
  float label = 0;
  uint8_t head = 0;   // Zipper: the window. Others: which observation of the impression it is
  float seconds = 0;  // DFM: the delay, or the time that has passed
  float late = -1;    // DEFER: whether it converted after the wait; -1: not known yet
};

bool converts(double delay) {
  return delay >= 0 && delay <= kWindows[2];
}

std::vector<Observation> stream(Method method, const WorldRows& rows) {
  std::vector<Observation> all;
  const auto add = [&](uint32_t row, double after, float label, uint8_t head = 0,
                       double seconds = 0, float late = -1) {
    all.push_back(
        {rows.shown_seconds[row] + after, row, label, head, static_cast<float>(seconds), late});
  };
  const double wait = kWindows[0];
  for (uint32_t row = 0; row < rows.rows(); ++row) {
    const double delay = rows.delay_seconds[row];
    const bool positive = converts(delay);
    switch (method) {
      case Method::Short:
      case Method::Day:
      case Method::Mature: {
        const double window = kWindows[static_cast<size_t>(method)];
        add(row, window, positive && delay <= window);
        break;
      }
      case Method::Zipper: {
        const auto head = static_cast<uint8_t>(mix(0x7a6970, row) % 3);
        add(row, kWindows[head], positive && delay <= kWindows[head], head);
        break;
      }
      case Method::FakeNegatives:
        add(row, 0, 0);
        if (positive) add(row, delay, 1);
        break;
      case Method::DelayModel:
        if (positive && delay <= wait) {
          add(row, wait, 1, 0, delay);
          break;
        }
        add(row, wait, 0, 0, wait);
        add(row, positive ? delay : kWindows[2], positive, 1, positive ? delay : kWindows[2]);
        break;
      case Method::RealNegatives: {
        const bool early = positive && delay <= wait;
        add(row, wait, early);
        if (early)
          add(row, wait, 1, 1, 0, 0);
        else
          add(row, positive ? delay : kWindows[2], positive, 1, 0, positive);
        break;
      }
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Observation& a, const Observation& b) { return a.at < b.at; });
  return all;
}

struct Rate {
  double dense, tables;
};
constexpr Rate kRates[] = {{1e-3, 0.1}, {3e-3, 0.1}, {3e-3, 0.5}};

size_t heads(Method method) {
  return method == Method::Zipper                                          ? 3
         : method == Method::DelayModel || method == Method::RealNegatives ? 2
                                                                           : 1;
}

// The loss of a batch whose rows are the observations `seen`.
LossFunction loss_for(Method method, const std::vector<Observation>& seen) {
  if (heads(method) != 2 && method != Method::FakeNegatives)
    return loss_of(
        Objective({{.name = "purchase", .windowed = method == Method::Zipper}}, heads(method), {}),
        {0});
  return [method, &seen](std::span<const float> logits, const Batch& batch,
                         std::span<float> gradient) {
    const size_t width = heads(method);
    const double share = 1 / static_cast<double>(batch.rows);
    Loss loss;
    std::fill(gradient.begin(), gradient.end(), 0.0f);
    for (uint64_t i = 0; i < batch.rows; ++i) {
      const Observation& one = seen[i];
      const double logit = logits[i * width];
      Slopes slopes;
      if (method == Method::FakeNegatives) {
        slopes = fake_negative_loss(logit, one.label);
      } else if (method == Method::DelayModel) {
        slopes = delay_model_loss(logit, logits[i * width + 1], {one.label > 0, one.seconds}, kDay);
      } else {
        const double late_logit = logits[i * width + 1];
        slopes = real_negative_loss(logit, late_logit, one.label);
        if (one.late >= 0) slopes.second = sigmoid(late_logit) - one.late;
      }
      loss.value += share * slopes.loss;
      gradient[i * width] = static_cast<float>(share * slopes.logit);
      if (width == 2) gradient[i * width + 1] = static_cast<float>(share * slopes.second);
    }
    return loss;
  };
}

// NE of the true seven-day label over the impressions shown after the warm-up.
Result<double> prequential(Method method, const WorldRows& rows, const Batch& all, Rate rate,
                           uint64_t seed) {
  const YamlDocument document =
      TRY(parse_yaml("{kind: mlp, width: 8, hidden: [16], head: [16]}", "network"));
  Learner learner =
      TRY(Learner::create(rows.schema, document, document.root,
                          {.seed = seed,
                           .tasks = {{"purchase", std::vector<double>(heads(method), 0.1)}},
                           .dense = {.learning_rate = rate.dense, .warm_up_steps = 50},
                           .table_learning_rate = rate.tables}));
  const std::vector<Observation> observations = stream(method, rows);
  std::vector<Observation> seen;
  const LossFunction loss = loss_for(method, seen);
  std::vector<float> logits, labels;
  size_t next = 0;
  uint32_t shown = 0;
  for (double now = 0; now < kSpan; now += kStep) {
    // What is known by now is learnt, in order.
    while (next < observations.size() && observations[next].at <= now) {
      seen.clear();
      std::vector<uint32_t> indices;
      while (indices.size() < kBatch && next < observations.size() &&
             observations[next].at <= now) {
        indices.push_back(observations[next].row);
        seen.push_back(observations[next++]);
      }
      Batch batch = take_rows(all, indices);
      batch.window.clear();
      for (size_t i = 0; i < seen.size(); ++i) {
        batch.label[i] = seen[i].label;
        if (method == Method::Zipper) batch.window.push_back(seen[i].head);
      }
      TRY(learner.step(batch, loss));
    }
    // What is shown until the next step is scored.
    std::vector<uint32_t> indices;
    for (; shown < rows.rows() && rows.shown_seconds[shown] < now + kStep; ++shown)
      if (now >= kWarmUp) indices.push_back(shown);
    if (indices.empty()) continue;
    const std::vector<float> scores = TRY(learner.logits(take_rows(all, indices)));
    const size_t width = heads(method), served = method == Method::Zipper ? 2 : 0;
    for (size_t i = 0; i < indices.size(); ++i) {
      logits.push_back(scores[i * width + served]);
      labels.push_back(converts(rows.delay_seconds[indices[i]]) ? 1.0f : 0.0f);
    }
  }
  const Values values = Quality({.logit = logits, .label = labels}).measure();
  const Value& ne = values[static_cast<size_t>(Measure::Entropy)];
  if (!ne.value) return Error("the stream has no NE: " + ne.reason, "give it more impressions");
  return *ne.value;
}

WorldConfiguration world(uint64_t seed, uint64_t impressions, double slow) {
  WorldConfiguration w = world_preset("ads-small").value();
  w.seed = seed;
  w.impressions = impressions;
  w.seconds = kSpan;
  w.users = 200;
  w.items = 60;
  w.advertisers = 10;
  w.categories = 30;
  w.shared_features = 2;
  w.private_features = w.domain_features = w.noise_features = 0;
  w.drift = 1.5;
  w.drift_persistence = 0.9;
  w.domains = {{.name = "feed"}};
  w.objectives = {
      {.name = "purchase", .rate = 0.2, .delay = {{1 - slow, 0.05 * kDay}, {slow, 2 * kDay}}}};
  return w;
}

Result<double> run(Method method, Rate rate, uint64_t seed, uint64_t impressions, double slow) {
  const WorldRows rows = TRY(draw_rows(world(seed, impressions, slow)));
  const std::vector<Batch> parts = {rows.train, rows.valid, rows.test};
  return prequential(method, rows, join(parts), rate, seed);
}

}  // namespace

Result<ClaimReport> claim_windows(const ClaimOptions& options) {
  const uint64_t impressions = options.impressions == 0 ? 40'000 : options.impressions;
  constexpr uint64_t kTuningSeed = 1000;
  constexpr double kSlow[] = {0.3, 0.6, 0.9};
  Rate rates[kMethods];
  for (size_t m = 0; m < kMethods; ++m) {
    double best = 1e9;
    for (const Rate rate : kRates) {
      options.progress(fmt::format("rates of {}", kNames[m]));
      const double ne = TRY(run(static_cast<Method>(m), rate, kTuningSeed, impressions, kSlow[1]));
      if (ne >= best) continue;
      best = ne;
      rates[m] = rate;
    }
  }
  ClaimReport report;
  report.rows = {{"slow share", "method", "NE", "Zipper minus it"}};
  report.holds = true;
  for (const double slow : kSlow) {
    std::vector<std::vector<double>> ne(kMethods);
    for (uint64_t seed = 1; seed <= options.seeds; ++seed)
      for (size_t m = 0; m < kMethods; ++m) {
        options.progress(fmt::format("slow share {}, seed {}: {}", slow, seed, kNames[m]));
        ne[m].push_back(TRY(run(static_cast<Method>(m), rates[m], seed, impressions, slow)));
      }
    const auto& zipper = ne[static_cast<size_t>(Method::Zipper)];
    for (size_t m = 0; m < kMethods; ++m) {
      const auto method = static_cast<Method>(m);
      const SeedMean difference = paired(zipper, ne[m]);
      const bool single = method <= Method::Mature;
      if ((method == Method::Mature || (single && slow >= 0.6)) && !surely_below(difference, 0))
        report.holds = false;
      report.rows.push_back({fmt::format("{}", slow), kNames[m], fmt::format("{:.4f}", mean(ne[m])),
                             method == Method::Zipper ? "" : text(difference)});
      report.json["results"].push_back({{"slow", slow},
                                        {"method", kNames[m]},
                                        {"ne", ne[m]},
                                        {"learning_rate", rates[m].dense},
                                        {"table_learning_rate", rates[m].tables}});
    }
  }
  report.verdict = report.holds
                       ? "Zipper is surely better than every single window where 60 % or more are "
                         "slow, and than "
                         "mature labels everywhere"
                       : "Zipper is not surely better than every single window where it should be";
  return report;
}

}  // namespace weft::lattice
