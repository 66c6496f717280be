// SPDX-License-Identifier: Apache-2.0

#include "lattice/claims/world_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lattice/training/batch_rows.h"
#include "lattice/world/draws.h"
#include "lattice/world/model.h"

namespace weft::lattice {
namespace {

ShardIndex schema_of(const WorldModel& model) {
  const WorldConfiguration& c = model.configuration();
  ShardIndex schema;
  const auto table = [&](const char* name, uint64_t values) {
    schema.tables.push_back({name, kFirstUnknown + values});
  };
  table("user_id", c.users);
  table("item_id", c.items);
  table("advertiser_id", c.advertisers);
  table("category", c.categories);
  uint32_t countries = 0;
  for (uint32_t user = 0; user < c.users; ++user)
    countries = std::max(countries, model.country(user) + 1);
  table("country", countries);
  table(kDomainFeature, c.domains.size());
  for (const WorldFeature& feature : model.features()) schema.dense.push_back(feature.name);
  for (const ObjectiveConfiguration& objective : c.objectives)
    schema.labels.push_back({objective.name, false});
  for (const DomainConfiguration& domain : c.domains) schema.domains.push_back(domain.name);
  schema.row_columns = {"id", "time"};
  schema.schema = "a world in memory";
  return schema;
}

// When it comes, given that it does; the world's own law of delays.
double draw_delay(const ObjectiveConfiguration& objective, Draws& draws) {
  const double part = draws.uniform(), tail = draws.uniform();
  double seconds = 30 * tail, total = 0, sum = 0;
  for (const DelayPart& one : objective.delay) total += one.share;
  for (const DelayPart& one : objective.delay) {
    seconds = -one.mean_seconds * std::log(tail);
    if (part * total < (sum += one.share)) break;
  }
  return seconds;
}

}  // namespace

WorldConfiguration small_world(uint64_t seed, uint64_t impressions) {
  WorldConfiguration w = world_preset("ads-small").value();
  w.seed = seed;
  w.impressions = impressions;
  w.users = 2000;
  w.items = 600;
  w.advertisers = 50;
  w.noise_features = 2;
  w.drift = 0;
  w.objectives = {{.name = "click", .rate = 0.25, .signal = 1.3},
                  {.name = "like", .rate = 0.12, .signal = 1.2}};
  return w;
}

Result<WorldRows> draw_rows(const WorldConfiguration& world) {
  const WorldModel model = TRY(WorldModel::create(world));
  WorldRows made{.schema = schema_of(model)};
  const size_t count = world.impressions, objectives = world.objectives.size();
  const size_t features = model.features().size();
  Batch all;
  all.rows = count;
  all.categorical.resize(made.schema.tables.size() * count);
  Impression row;
  for (size_t i = 0; i < count; ++i) {
    model.impression(i, row);
    const uint32_t ids[] = {row.user,
                            row.item,
                            model.advertiser(row.item),
                            model.category(row.item),
                            model.country(row.user),
                            row.domain};
    for (size_t t = 0; t < std::size(ids); ++t)
      all.categorical[t * count + i] = kFirstUnknown + static_cast<int32_t>(ids[t]);
    for (size_t f = 0; f < features; ++f) {
      all.dense.push_back(row.present[f] != 0 ? row.values[f] : 0);
      all.dense_present.push_back(row.present[f]);
    }
    Draws draws(world.seed, Purpose::Outcome, i);
    for (size_t o = 0; o < objectives; ++o) {
      const double probability = 1 / (1 + std::exp(-row.logits[o]));
      const bool converts = draws.uniform() < probability;
      const double delay = draw_delay(world.objectives[o], draws);
      made.probability.push_back(static_cast<float>(probability));
      made.delay_seconds.push_back(converts ? delay : -1);
      all.label.push_back(converts ? 1.0f : 0.0f);
      all.label_known.push_back(1);
    }
    all.domain.push_back(static_cast<int32_t>(row.domain));
    all.id.push_back(i);
    all.time.push_back(row.time);
    made.shown_seconds.push_back(static_cast<double>(row.time - model.start()) / 1e6);
  }
  const auto cut = [&](double from, double to) {
    std::vector<uint32_t> rows;
    for (auto i = static_cast<uint32_t>(from * static_cast<double>(count));
         i < static_cast<uint32_t>(to * static_cast<double>(count)); ++i)
      rows.push_back(i);
    return take_rows(all, rows);
  };
  made.train = cut(0, 0.7);
  made.valid = cut(0.7, 0.8);
  made.test = cut(0.8, 1);
  return made;
}

double best_ne(const WorldRows& rows, uint64_t first, size_t objective, int32_t domain) {
  const size_t objectives = rows.schema.labels.size();
  double loss = 0, positives = 0, count = 0;
  uint64_t row = 0;
  for (const Batch* part : {&rows.train, &rows.valid, &rows.test})
    for (uint64_t i = 0; i < part->rows; ++i, ++row) {
      if (row < first || (domain >= 0 && part->domain[i] != domain)) continue;
      const double p = rows.probability[row * objectives + objective];
      const double y = part->label[i * objectives + objective];
      loss -= y * std::log(p) + (1 - y) * std::log(1 - p);
      positives += y;
      ++count;
    }
  const double rate = positives / count;
  return loss / count / (-rate * std::log(rate) - (1 - rate) * std::log(1 - rate));
}

}  // namespace weft::lattice
