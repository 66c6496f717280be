// SPDX-License-Identifier: Apache-2.0

// Workers take whole parts. Parts that an earlier start finished are kept.
#include "lattice/world/world.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <numbers>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/mix.h"
#include "base/parallel.h"
#include "base/table/frame.h"
#include "base/text_file.h"
#include "lattice/schema/duration.h"
#include "lattice/world/draws.h"
#include "lattice/world/model.h"
#include "lattice/world/steps_configuration.h"
#include "lattice/world/truth.h"

namespace weft::lattice {
namespace {

using table::Frame;
using table::FrameType;
using table::Nulls;

constexpr std::string_view kActions[] = {"view", "search", "save"};
constexpr std::string_view kDevices[] = {"phone", "tablet", "desktop"};

struct Outcome {
  bool converted = false;
  double delay_seconds = -1;
  int64_t time = 0, arrival = 0, duplicate_arrival = 0;  // 0: reported once
  int64_t refund_time = 0, refund_arrival = 0;           // 0: kept
};

// The same number of draws for every row and objective, so that changing one rate leaves the rest
// of the world alone.
Outcome draw_outcome(const WorldConfiguration& c, const ObjectiveConfiguration& objective,
                     double probability, int64_t shown, Draws& draws) {
  Outcome outcome;
  outcome.converted = draws.uniform() < probability;
  const double part = draws.uniform(), tail = draws.uniform();
  const double lag = draws.uniform(), late = draws.uniform(), twice = draws.uniform();
  const double refund = draws.uniform(), refund_tail = draws.uniform();
  if (!outcome.converted) return outcome;
  outcome.delay_seconds = 30 * tail;
  double total = 0, sum = 0;
  for (const DelayPart& one : objective.delay) total += one.share;
  for (const DelayPart& one : objective.delay) {
    outcome.delay_seconds = -one.mean_seconds * std::log(tail);
    if (part * total < (sum += one.share)) break;
  }
  outcome.time = shown + to_microseconds(outcome.delay_seconds);
  outcome.arrival =
      outcome.time - to_microseconds((late < c.late_reports ? 7200 : 20) * std::log(lag));
  if (twice < c.duplicate_reports)
    outcome.duplicate_arrival = outcome.arrival + to_microseconds(60);
  if (refund < objective.refunds) {
    outcome.refund_time = outcome.time - to_microseconds(2 * 86400 * std::log(refund_tail));
    outcome.refund_arrival = outcome.refund_time + to_microseconds(20);
  }
  return outcome;
}

struct Report {
  int64_t arrival, time;
  uint64_t event_id, impression_id, refund_of;
  uint32_t objective;
  uint64_t user, item;
};

class PartMaker {
 public:
  PartMaker(const WorldModel& model, const std::vector<std::string>& names)
      : model_(model), c_(model.configuration()), names_(names) {}

  Result<Done> make(uint64_t part, RunFolder& run, std::mutex& guard) const {
    const uint64_t first = part * c_.part_rows;
    const size_t rows = std::min(c_.part_rows, c_.impressions - first);
    Frame frame(rows), truth_frame(rows);
    Truth truth(c_);
    std::vector<Report> reports;
    fill(first, rows, frame, truth_frame, truth, reports);
    const std::string number = fmt::format("part-{:05}", part);
    TRY(frame.write_parquet(run.file("impressions/" + number + ".parquet")));
    TRY(truth_frame.write_parquet(run.file("truth/" + number + ".parquet")));
    TRY(write_reports(reports, run.file("feedback/" + number + ".parquet")));
    TRY(write_json(run.file("truth/" + number + ".json"), truth.sums()));
    const std::lock_guard lock(guard);
    TRY(run.record("impressions/" + number + ".parquet"));
    TRY(run.record("truth/" + number + ".parquet"));
    TRY(run.record("feedback/" + number + ".parquet"));
    // Last: its presence says that the whole part is there.
    return run.record("truth/" + number + ".json");
  }

 private:
  void fill(uint64_t first, size_t rows, Frame& frame, Frame& truth_frame, Truth& truth,
            std::vector<Report>& reports) const;
  Result<Done> write_reports(std::vector<Report>& reports, const std::string& path) const;

  const WorldModel& model_;
  const WorldConfiguration& c_;
  const std::vector<std::string>& names_;  // of categories, then countries
};

void PartMaker::fill(uint64_t first, size_t rows, Frame& frame, Frame& truth_frame, Truth& truth,
                     std::vector<Report>& reports) const {
  const size_t objectives = c_.objectives.size();
  const size_t id = frame.add("impression_id", FrameType::Unsigned);
  const size_t time = frame.add("event_time", FrameType::Timestamp);
  const size_t domain = frame.add("domain", FrameType::Text);
  const size_t user = frame.add("user_id", FrameType::Unsigned);
  const size_t item = frame.add("item_id", FrameType::Unsigned);
  const size_t advertiser = frame.add("advertiser_id", FrameType::Unsigned);
  const size_t category = frame.add("category", FrameType::Text);
  const size_t country = frame.add("country", FrameType::Text);
  const size_t device = frame.add("device", FrameType::Text);
  const size_t first_feature = device + 1;
  for (const WorldFeature& feature : model_.features())
    frame.add(feature.name, FrameType::Real, Nulls::Possible);
  truth_frame.add("impression_id", FrameType::Unsigned);
  for (const ObjectiveConfiguration& objective : c_.objectives) {
    truth_frame.add("p_" + objective.name, FrameType::Real);
    truth_frame.add("converted_" + objective.name, FrameType::Byte);
    truth_frame.add("delay_seconds_" + objective.name, FrameType::Real, Nulls::Possible);
  }
  Impression row;
  for (size_t r = 0; r < rows; ++r) {
    const uint64_t index = first + r;
    model_.impression(index, row);
    frame[id].unsigneds[r] = index + 1;
    frame[time].integers[r] = row.time;
    frame[domain].texts[r] = c_.domains[row.domain].name;
    frame[user].unsigneds[r] = model_.user_id(row.user);
    frame[item].unsigneds[r] = model_.item_id(row.item);
    frame[advertiser].unsigneds[r] = model_.advertiser(row.item) + 1;
    frame[category].texts[r] = names_[model_.category(row.item)];
    frame[country].texts[r] = names_[c_.categories + model_.country(row.user)];
    for (size_t f = 0; f < model_.features().size(); ++f) {
      auto& column = frame[first_feature + f];
      column.valid[r] = row.present[f];
      if (row.present[f] != 0)
        column.reals[r] = model_.features()[f].log_normal ? std::exp(row.values[f]) : row.values[f];
    }
    Draws draws(c_.seed, Purpose::Outcome, index);
    frame[device].texts[r] = kDevices[draws.zipf(std::size(kDevices), 1)];
    truth_frame[0].unsigneds[r] = index + 1;
    for (size_t o = 0; o < objectives; ++o) {
      const double probability = 1 / (1 + std::exp(-row.logits[o]));
      const Outcome outcome = draw_outcome(c_, c_.objectives[o], probability, row.time, draws);
      truth.add(row.domain, o, probability, outcome.delay_seconds);
      truth_frame[1 + 3 * o].reals[r] = static_cast<float>(probability);
      truth_frame[2 + 3 * o].bytes[r] = outcome.converted;
      truth_frame[3 + 3 * o].reals[r] = static_cast<float>(outcome.delay_seconds);
      truth_frame[3 + 3 * o].valid[r] = outcome.converted;
      if (!outcome.converted) continue;
      const uint64_t event = mix(c_.seed ^ 0x65766e74, index * objectives + o);
      const Report report{outcome.arrival,
                          outcome.time,
                          event,
                          index + 1,
                          0,
                          static_cast<uint32_t>(o),
                          frame[user].unsigneds[r],
                          frame[item].unsigneds[r]};
      reports.push_back(report);
      if (outcome.duplicate_arrival != 0) {
        reports.push_back(report);
        reports.back().arrival = outcome.duplicate_arrival;
      }
      if (outcome.refund_time != 0) {
        reports.push_back(report);
        reports.back().arrival = outcome.refund_arrival;
        reports.back().time = outcome.refund_time;
        reports.back().refund_of = event;
        reports.back().event_id = mix(event);
      }
    }
  }
}

Result<Done> PartMaker::write_reports(std::vector<Report>& reports, const std::string& path) const {
  // The log ends where the world ends; what arrives later is known to the truth only.
  std::erase_if(reports, [&](const Report& one) { return one.arrival >= model_.end(); });
  std::sort(reports.begin(), reports.end(), [](const Report& a, const Report& b) {
    return std::tie(a.arrival, a.event_id) < std::tie(b.arrival, b.event_id);
  });
  Frame frame(reports.size());
  frame.add("event_id", FrameType::Unsigned);
  frame.add("impression_id", FrameType::Unsigned);
  frame.add("user_id", FrameType::Unsigned);
  frame.add("item_id", FrameType::Unsigned);
  frame.add("objective", FrameType::Text);
  frame.add("event_time", FrameType::Timestamp);
  frame.add("arrival_time", FrameType::Timestamp);
  frame.add("refund_of", FrameType::Unsigned, Nulls::Possible);
  for (size_t i = 0; i < reports.size(); ++i) {
    const Report& one = reports[i];
    frame[0].unsigneds[i] = one.event_id;
    frame[1].unsigneds[i] = one.impression_id;
    frame[2].unsigneds[i] = one.user;
    frame[3].unsigneds[i] = one.item;
    frame[4].texts[i] = c_.objectives[one.objective].name;
    frame[5].integers[i] = one.time;
    frame[6].integers[i] = one.arrival;
    frame[7].unsigneds[i] = one.refund_of;
    frame[7].valid[i] = one.refund_of != 0;
  }
  return frame.write_parquet(path);
}

// Users in blocks, so that a part holds about a million events.
Result<Done> write_events(const WorldModel& model, const std::vector<std::string>& names,
                          RunFolder& run) {
  constexpr size_t kPartRows = 1'000'000;
  size_t part = 0;
  for (uint32_t first = 0; first < model.users(); ++part) {
    uint32_t last = first;
    size_t rows = 0;
    while (last < model.users() && (rows == 0 || rows + model.events(last).size() <= kPartRows))
      rows += model.events(last++).size();
    const std::string name = fmt::format("events/part-{:05}.parquet", part);
    if (!run.has(name)) {
      Frame frame(rows);
      frame.add("event_id", FrameType::Unsigned);
      frame.add("user_id", FrameType::Unsigned);
      frame.add("item_id", FrameType::Unsigned);
      frame.add("category", FrameType::Text);
      frame.add("action", FrameType::Text);
      frame.add("event_time", FrameType::Timestamp);
      frame.add("arrival_time", FrameType::Timestamp);
      size_t at = 0;
      for (uint32_t user = first; user < last; ++user) {
        uint64_t number = 0;
        for (const UserEvent& event : model.events(user)) {
          frame[0].unsigneds[at] = mix(model.user_id(user), number++);
          frame[1].unsigneds[at] = model.user_id(user);
          frame[2].unsigneds[at] = model.item_id(event.item);
          frame[3].texts[at] = names[model.category(event.item)];
          frame[4].texts[at] = kActions[event.action];
          frame[5].integers[at] = event.time;
          frame[6].integers[at] = event.arrival;
          ++at;
        }
      }
      TRY(frame.write_parquet(run.file(name)));
      TRY(run.record(name));
    }
    first = last;
  }
  return Done{};
}

// What of the domains is known to sketches only by estimate.
Json overlaps(const WorldModel& model) {
  const auto& domains = model.configuration().domains;
  Json list = Json::array();
  for (size_t a = 0; a < domains.size(); ++a)
    for (size_t b = a + 1; b < domains.size(); ++b)
      list.push_back({{"domains", {domains[a].name, domains[b].name}},
                      {"user_jaccard", model.user_overlap(a, b)},
                      {"item_jaccard", model.item_overlap(a, b)},
                      {"conflict_cosine",
                       std::cos((domains[a].conflict_degrees - domains[b].conflict_degrees) *
                                std::numbers::pi / 180)}});
  return list;
}

}  // namespace

Result<Json> write_world(const WorldConfiguration& configuration, RunFolder& run,
                         const WorldOptions& options) {
  std::error_code failed;
  for (const char* folder : {"impressions", "events", "feedback", "truth"})
    std::filesystem::create_directories(run.file(folder), failed);
  const WorldModel model = TRY(WorldModel::create(configuration));
  std::vector<std::string> names;
  for (uint64_t i = 0; i < configuration.categories; ++i) names.push_back(fmt::format("c{}", i));
  for (int i = 0; i < 12; ++i) names.push_back(fmt::format("country{}", i));
  TRY(write_events(model, names, run));

  const uint64_t parts =
      (configuration.impressions + configuration.part_rows - 1) / configuration.part_rows;
  const PartMaker maker(model, names);
  std::mutex guard;
  Result<Done> outcome = Done{};
  const auto make_part = [&](int64_t part) {
    {
      const std::lock_guard lock(guard);
      if (!outcome.ok()) return;
    }
    const auto number = static_cast<uint64_t>(part);
    Result<Done> made = run.has(fmt::format("truth/part-{:05}.json", part))
                            ? Result<Done>(Done{})
                            : maker.make(number, run, guard);
    const std::lock_guard lock(guard);
    if (!made.ok() && outcome.ok()) outcome = std::move(made);
    options.progress(std::min(configuration.part_rows,
                              configuration.impressions - number * configuration.part_rows));
  };
  each_in_parallel(static_cast<int64_t>(parts), make_part, options.workers);
  TRY(std::move(outcome));

  // Added up in the order of the parts: sums of floating-point numbers depend on it.
  Truth truth(configuration);
  for (uint64_t part = 0; part < parts; ++part) {
    const Json sums = TRY(read_json(run.file(fmt::format("truth/part-{:05}.json", part))));
    TRY(truth.add_sums(sums));
  }
  const Json summary = {{"impressions", configuration.impressions},
                        {"portfolios", truth.to_json()},
                        {"overlaps", overlaps(model)}};
  TRY(write_json(run.file("truth.json"), summary));
  TRY(write_file(run.file("lattice.yaml"), steps_configuration(model)));
  TRY(run.record("truth.json"));
  TRY(run.record("lattice.yaml"));
  TRY(run.finish(summary));
  return summary;
}

}  // namespace weft::lattice
