// SPDX-License-Identifier: Apache-2.0

// Claim 5: a student that reads its teacher's embeddings beside learning its labels gets 1.3 times
// what the labels alone give it, at a realistic hit rate, and loses nothing where nothing hits.
//
// The teacher is some ten times the student and has learned from the first half of a log over all
// domains; the student sees the fifth after it, and is measured on the last fifth. One kind of
// student has all features, the other cannot afford tables of users and items. A store entry is
// what the teacher said of a (user, item) pair when it was a candidate of an earlier request, an
// exponential time before the event: with the features that the event has, but for dense values
// that have changed since, which are another row's.
//
//   transfer = (NE of no teacher - NE of the student) / (NE of no teacher - NE of the teacher)
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/mix.h"
#include "base/temporary_directory.h"
#include "lattice/claims/claims.h"
#include "lattice/distillation/open_store.h"
#include "lattice/training/batch_rows.h"

namespace weft::lattice {
namespace {

constexpr const char* kTeacher = "{kind: mlp, width: 32, hidden: [256, 64], head: [32]}";
constexpr const char* kStudent = "{kind: mlp, width: 16, hidden: [32], head: [8]}";
constexpr double kAsked = 1.3;
// Small batches, for a fifth of the log has to be enough; for teacher and student alike.
constexpr uint64_t kBatchRows = 64;
constexpr double kLearningRate = 5e-3, kTableLearningRate = 0.1;
constexpr double kHour = 3600, kSecond = 1e6;
constexpr double kMeanAge = 2 * kHour;         // of an entry at its event
constexpr double kMeanUnchanged = 24 * kHour;  // of a dense value
constexpr double kLifetime = 6 * kHour;
// Of the events, for how many a candidate list of before had the pair; sweeps take less of it.
constexpr double kRealistic = 0.6;

double uniform(uint64_t seed, uint64_t row, uint64_t salt) {
  return static_cast<double>(mix(mix(seed, row), salt) >> 11) * 0x1p-53;
}

Batch slice(const Batch& from, uint64_t first, uint64_t until) {
  std::vector<uint32_t> rows;
  for (uint64_t row = first; row < until; ++row) rows.push_back(static_cast<uint32_t>(row));
  return take_rows(from, rows);
}

Arm arm_of(const char* name, const char* network) {
  return {.name = name,
          .network = network,
          .learning_rate = kLearningRate,
          .table_learning_rate = kTableLearningRate};
}

struct World {
  WorldRows teacher, student;  // the same validation and test rows
};

Result<World> make_world(uint64_t seed, uint64_t impressions) {
  WorldRows all = TRY(draw_rows(small_world(seed, impressions)));
  const uint64_t rows = all.train.rows, half = rows * 5 / 7;
  World made{all, all};
  made.teacher.train = slice(all.train, 0, half * 9 / 10);
  made.teacher.valid = slice(all.train, half * 9 / 10, half);
  made.student.train = slice(all.train, half, rows);
  return made;
}

// Each event's pair as it was a candidate before, once the teacher was there.
Result<Done> fill(TeacherStore& store, Learner& teacher, const PairColumns& pairs,
                  const Batch& events, uint64_t seed) {
  const int64_t since = store.description().trained_until;
  const size_t dense = events.rows == 0 ? 0 : events.dense.size() / events.rows;
  constexpr uint64_t kAtOnce = 1024;
  for (uint64_t first = 0; first < events.rows; first += kAtOnce) {
    Batch part = slice(events, first, std::min(events.rows, first + kAtOnce));
    std::vector<uint32_t> rows;
    std::vector<Pair> keys;
    std::vector<int64_t> computed;
    for (uint32_t row = 0; row < part.rows; ++row) {
      const uint64_t id = part.id[row];
      const double age = -kMeanAge * std::log(1 - uniform(seed, id, 1));
      const int64_t at = part.time[row] - static_cast<int64_t>(age * kSecond);
      if (at <= since) continue;
      for (size_t c = 0; c < dense; ++c) {
        if (uniform(seed, id, 2 + c) < std::exp(-age / kMeanUnchanged)) continue;
        const uint64_t other = mix(mix(seed, id), 1000 + c) % events.rows;
        part.dense[row * dense + c] = events.dense[other * dense + c];
        part.dense_present[row * dense + c] = events.dense_present[other * dense + c];
      }
      rows.push_back(row);
      keys.push_back(*pairs.pair(part, row));
      computed.push_back(at);
    }
    if (rows.empty()) continue;
    const Teaching said = TRY(teacher.teach(take_rows(part, rows)));
    TRY(store.write({.pairs = keys,
                     .computed_at = computed,
                     .embeddings = said.embeddings,
                     .logits = said.logits}));
  }
  return Done{};
}

// One setting of the sweep: what of the store's entries counts.
struct Setting {
  std::string name;
  double share, lifetime_seconds;
};
const std::vector<Setting> kSettings = {{"none hits", 0, kLifetime},
                                        {"30 % covered, 6 h", 0.3, kLifetime},
                                        {"60 % covered, 6 h", 0.6, kLifetime},
                                        {"all covered, 6 h", 1, kLifetime},
                                        {"60 % covered, 20 m", 0.6, kHour / 3}};
const std::vector<TeacherUse> kUses = {TeacherUse::Labels, TeacherUse::Embeddings,
                                       TeacherUse::Both};

struct Measured {
  std::vector<double> ne, away, hit_rate;  // a seed
};

// The largest factor by which `more` surely exceeds `less`, seed by seed; none when not even 0.
std::optional<double> surely_times(const std::vector<double>& more,
                                   const std::vector<double>& less) {
  const auto surely = [&](double factor) {
    std::vector<double> scaled;
    for (const double one : less) scaled.push_back(factor * one);
    const SeedMean left = paired(more, scaled);
    return left.interval && left.interval->low > 0;
  };
  if (!surely(0)) return std::nullopt;
  double low = 0, high = 100;
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) (surely((low + high) / 2) ? low : high) = (low + high) / 2;
  return low;
}

// What was measured of one kind of student.
struct Regime {
  const char* name;
  std::vector<std::string> without;  // features that the student cannot afford
  std::vector<double> none;          // NE without a teacher, a seed
  double flops = 0;
  std::vector<std::vector<Measured>> arms =
      std::vector<std::vector<Measured>>(kSettings.size(), std::vector<Measured>(kUses.size()));
};

// Where nothing hits labels are no teacher at all, and embeddings alone are both.
bool worth_training(const Setting& setting, TeacherUse use) {
  return setting.share != 0 || use == TeacherUse::Both;
}

std::vector<double> differences(const std::vector<double>& one, const std::vector<double>& other) {
  std::vector<double> made;
  for (size_t i = 0; i < one.size(); ++i) made.push_back(one[i] - other[i]);
  return made;
}

SeedMean transfer(const Regime& regime, const Measured& arm, const std::vector<double>& teacher) {
  std::vector<double> shares = differences(regime.none, arm.ne);
  for (size_t i = 0; i < shares.size(); ++i) shares[i] /= regime.none[i] - teacher[i];
  return across_seeds(shares);
}

Result<Done> run_seed(uint64_t seed, uint64_t impressions, const ClaimOptions& options,
                      std::vector<double>& teacher, double& teacher_flops,
                      std::vector<Regime>& regimes) {
  const World world = TRY(make_world(seed, impressions));
  const auto folder = TRY(TemporaryDirectory::create("claim"));
  options.progress(fmt::format("seed {}: teacher", seed));
  std::optional<Learner> learner;
  const ArmResult of_teacher =
      TRY(run_arm(world.teacher, arm_of("teacher", kTeacher),
                  {.seed = seed, .batch_rows = kBatchRows, .keep = &learner}));
  teacher.push_back(mean(of_teacher.ne));
  teacher_flops = of_teacher.flops;
  const ShardIndex& schema = world.student.schema;
  const PairColumns pairs = TRY(PairColumns::create(schema, "user_id", "item_id"));
  std::vector<std::string> tasks;
  for (const ShardIndex::Label& label : schema.labels) tasks.push_back(label.name);
  const std::shared_ptr<TeacherStore> store =
      TRY(open_store(folder.file("store"),
                     {.version = fmt::format("claim seed {}", seed),
                      .width = learner->embedding_width(),
                      .tasks = tasks,
                      .pairs = pairs.what(),
                      .trained_until = world.teacher.valid.time.back()},
                     {.lifetime_seconds = kLifetime,
                      .retention_seconds = 30 * 24 * kHour,
                      .bucket_seconds = kLifetime}));
  options.progress(fmt::format("seed {}: store", seed));
  for (const Batch* part : {&world.student.train, &world.student.valid, &world.student.test})
    TRY(fill(*store, *learner, pairs, *part, seed));
  for (Regime& regime : regimes) {
    Arm student = arm_of("student", kStudent);
    student.without = regime.without;
    const ArmResult alone =
        TRY(run_arm(world.student, student, {.seed = seed, .batch_rows = kBatchRows}));
    regime.none.push_back(mean(alone.ne));
    regime.flops = alone.flops;
    for (size_t s = 0; s < kSettings.size(); ++s)
      for (size_t u = 0; u < kUses.size(); ++u) {
        if (!worth_training(kSettings[s], kUses[u])) continue;
        options.progress(fmt::format("seed {}: {}: {}, {}", seed, regime.name, kSettings[s].name,
                                     word_of(kUses[u])));
        ArmTeacher arm{.store = store, .student = {}, .use = kUses[u]};
        arm.student.view.dropped_share = 1 - kSettings[s].share;
        arm.student.view.lifetime_seconds = kSettings[s].lifetime_seconds;
        const ArmResult result = TRY(run_arm(
            world.student, student, {.seed = seed, .batch_rows = kBatchRows, .teacher = &arm}));
        Measured& measured = regime.arms[s][u];
        measured.ne.push_back(mean(result.ne));
        measured.away.push_back(mean(result.ne_away));
        measured.hit_rate.push_back(result.hit_rate);
      }
  }
  return Done{};
}

struct Verdict {
  bool harmless = false, enough = false;
  std::string text;
};

Verdict judge(const Regime& regime, const std::vector<double>& teacher, ClaimReport& report) {
  Verdict verdict;
  const auto row = [&](const std::string& setting, const std::string& hits, const std::string& use,
                       const std::vector<double>& ne, const std::string& gain,
                       const std::string& share, const std::string& ratio,
                       const std::string& away) {
    report.rows.push_back({regime.name, setting, hits, use, fmt::format("{:.4f}", mean(ne)), gain,
                           share, ratio, away});
  };
  row("", "", "no teacher", regime.none, "", "", "", "");
  Json settings = Json::array();
  for (size_t s = 0; s < kSettings.size(); ++s) {
    const Setting& setting = kSettings[s];
    const Measured& both = regime.arms[s][2];
    std::optional<double> surely;
    std::string ratio;
    if (setting.share == 0) {
      verdict.harmless = surely_below(paired(both.ne, regime.none), kEqualNe);
    } else {
      const std::vector<double> of_both = differences(regime.none, both.ne),
                                of_labels = differences(regime.none, regime.arms[s][0].ne);
      surely = surely_times(of_both, of_labels);
      ratio = mean(of_labels) > 0 ? fmt::format("{:.2f}", mean(of_both) / mean(of_labels))
                                  : "labels gave nothing";
      ratio += surely ? fmt::format(", surely {:.2f}", *surely) : ", no sure gain";
    }
    if (setting.share == kRealistic && setting.lifetime_seconds == kLifetime) {
      verdict.enough = surely && *surely >= kAsked;
      verdict.text = fmt::format("{}: both over labels {} at {:.0f} % hits", regime.name, ratio,
                                 100 * mean(both.hit_rate));
    }
    Json uses = Json::array();
    for (size_t u = 0; u < kUses.size(); ++u) {
      const Measured& arm = regime.arms[s][u];
      if (!worth_training(setting, kUses[u])) continue;
      row(setting.name, fmt::format("{:.1f} %", 100 * mean(arm.hit_rate)), word_of(kUses[u]),
          arm.ne, text(paired(regime.none, arm.ne)), text(transfer(regime, arm, teacher), 3),
          kUses[u] == TeacherUse::Both ? ratio : "", text(paired(regime.none, arm.away)));
      uses.push_back({{"use", word_of(kUses[u])},
                      {"ne", arm.ne},
                      {"ne_store_away", arm.away},
                      {"hit_rate", arm.hit_rate}});
    }
    settings.push_back({{"name", setting.name},
                        {"covered_share", setting.share},
                        {"lifetime_seconds", setting.lifetime_seconds},
                        {"both_surely_times_labels", surely ? Json(*surely) : Json()},
                        {"uses", uses}});
  }
  verdict.text += verdict.harmless ? ", surely harmless where nothing hits"
                                   : ", not shown to be harmless where nothing hits";
  report.json["regimes"].push_back({{"name", regime.name},
                                    {"without", regime.without},
                                    {"flops", regime.flops},
                                    {"none", regime.none},
                                    {"settings", settings}});
  return verdict;
}

}  // namespace

Result<ClaimReport> claim_transfer(const ClaimOptions& options) {
  const uint64_t impressions = options.impressions == 0 ? 400'000 : options.impressions;
  std::vector<Regime> regimes = {{.name = "same features", .without = {}, .none = {}},
                                 {.name = "no ids", .without = {"user_id", "item_id"}, .none = {}}};
  std::vector<double> teacher;
  double teacher_flops = 0;
  for (uint64_t seed = 1; seed <= options.seeds; ++seed)
    TRY(run_seed(seed, impressions, options, teacher, teacher_flops, regimes));
  ClaimReport report;
  report.rows = {{"student", "setting", "test hits", "uses", "NE", "gain over no teacher",
                  "transfer", "both / labels", "gain, store away when serving"}};
  report.rows.push_back(
      {"the teacher", "", "", "", fmt::format("{:.4f}", mean(teacher)), "", "", "", ""});
  report.holds = true;
  for (const Regime& regime : regimes) {
    const Verdict verdict = judge(regime, teacher, report);
    const SeedMean headroom = paired(regime.none, teacher);
    report.holds = report.holds && verdict.enough && verdict.harmless && headroom.interval &&
                   headroom.interval->low > 0;
    report.verdict += fmt::format("{}{} (the teacher has {:.0f} x its FLOPs and {} NE less)",
                                  report.verdict.empty() ? "" : "; ", verdict.text,
                                  teacher_flops / regime.flops, text(headroom));
  }
  report.json["teacher"] = teacher;
  report.json["teacher_flops"] = teacher_flops;
  return report;
}

}  // namespace weft::lattice
