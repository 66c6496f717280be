// SPDX-License-Identifier: Apache-2.0

// Everything is drawn by number (draws.h), so the world is the same for any number of workers.
#include "lattice/world/model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "base/mix.h"
#include "base/parallel.h"
#include "lattice/schema/duration.h"
#include "lattice/world/draws.h"

namespace weft::lattice {
namespace {

// How much of the logit each part makes; squares add up to about one.
constexpr float kShared = 0.55f, kPrivate = 0.4f, kDomain = 0.3f, kItem = 0.45f, kAffinity = 0.35f,
                kSequence = 0.35f;
constexpr uint64_t kUserSalt = 0x75736572, kItemSalt = 0x6974656d;
constexpr double kDay = 86400;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// Where a member lies in [0, 1), for the intervals of the domains.
double position(uint64_t seed, uint64_t salt, uint64_t member) {
  return static_cast<double>(mix(seed ^ salt, member) >> 11) * 0x1p-53;
}

bool inside(const Interval& interval, double at) {
  return interval.from <= at && at < interval.to;
}

double jaccard(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  std::vector<uint32_t> x = a, y = b, both;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
  return static_cast<double>(both.size()) / static_cast<double>(x.size() + y.size() - both.size());
}

void normalize(std::vector<float>& values) {
  const float length =
      std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0f));
  for (float& value : values) value /= length;
}

std::vector<float> unit_vector(Draws& draws, size_t size) {
  std::vector<float> values(size);
  for (float& value : values) value = draws.normal();
  if (size != 0) normalize(values);
  return values;
}

float dot(const float* a, const float* b, size_t count) {
  float sum = 0;
  for (size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

WorldModel::WorldModel(const WorldConfiguration& configuration) : configuration_(configuration) {
  start_ = parse_instant(configuration.start).value();
  end_ = start_ + to_microseconds(configuration.seconds);
  double total = 0;
  for (const DomainConfiguration& domain : configuration.domains) total += domain.share;
  double sum = 0;
  for (const DomainConfiguration& domain : configuration.domains)
    domain_limits_.push_back((sum += domain.share) / total);
  const auto add = [&](const std::string& prefix, FeatureKind kind, size_t owner, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
      features_.push_back({.name = fmt::format("{}_{}", prefix, i),
                           .kind = kind,
                           .owner = owner,
                           .index = i,
                           .log_normal = i % 3 == 1});
  };
  add("shared", FeatureKind::Shared, 0, configuration.shared_features);
  for (size_t o = 0; o < configuration.objectives.size(); ++o)
    add("only_" + configuration.objectives[o].name, FeatureKind::Private, o,
        configuration.private_features);
  for (size_t d = 0; d < configuration.domains.size(); ++d)
    add("in_" + configuration.domains[d].name, FeatureKind::Domain, d,
        configuration.domain_features);
  add("noise", FeatureKind::Noise, 0, configuration.noise_features);
}

Result<WorldModel> WorldModel::create(const WorldConfiguration& configuration) {
  WorldModel model(configuration);
  model.make_items();
  model.make_users();
  for (size_t d = 0; d < configuration.domains.size(); ++d) {
    const std::string& name = configuration.domains[d].name;
    if (model.domain_users_[d].empty() || model.domain_items_[d].empty())
      return Error(
          fmt::format("the domain {} has no {}", name,
                      model.domain_users_[d].empty() ? "users" : "items that exist at the start"),
          "widen its interval, or raise the world's number of users and items");
  }
  model.make_weights();
  model.make_drift();
  model.make_events();
  model.calibrate();
  return model;
}

void WorldModel::make_items() {
  const WorldConfiguration& c = configuration_;
  const size_t objectives = c.objectives.size();
  births_.resize(c.items);
  categories_.resize(c.items);
  advertisers_.resize(c.items);
  item_latents_.resize(c.items * kLatent);
  item_effects_.resize(c.items * objectives * 2);
  category_items_.resize(c.categories);
  domain_items_.resize(c.domains.size());
  std::vector<std::vector<float>> advertiser_effects(c.advertisers);
  for (size_t a = 0; a < c.advertisers; ++a) {
    Draws draws(c.seed, Purpose::Advertiser, a);
    for (size_t i = 0; i < objectives * 2; ++i) advertiser_effects[a].push_back(draws.normal());
  }
  for (uint32_t item = 0; item < c.items; ++item) {
    Draws draws(c.seed, Purpose::Item, item);
    const bool later = draws.uniform() < c.new_items;
    births_[item] =
        later ? start_ + static_cast<int64_t>(draws.uniform() * static_cast<double>(end_ - start_))
              : start_;
    categories_[item] = static_cast<uint32_t>(draws.zipf(c.categories, 0.8));
    advertisers_[item] = static_cast<uint32_t>(draws.zipf(c.advertisers, 0.8));
    for (size_t i = 0; i < kLatent; ++i) item_latents_[item * kLatent + i] = draws.normal();
    // Objectives agree in part: 0.7 of an effect is the item's own quality.
    const float quality[2] = {draws.normal(), draws.normal()};
    for (size_t i = 0; i < objectives * 2; ++i) {
      const float own = 0.7f * quality[i % 2] + 0.714f * draws.normal();
      item_effects_[item * objectives * 2 + i] =
          0.8f * own + 0.6f * advertiser_effects[advertisers_[item]][i];
    }
    category_items_[categories_[item]].push_back(item);
    for (size_t d = 0; d < c.domains.size(); ++d)
      if (inside(c.domains[d].items, position(c.seed, kItemSalt, item)))
        domain_items_[d].push_back(item);
  }
  // A domain needs something to show from the first moment on.
  for (std::vector<uint32_t>& items : domain_items_)
    if (std::none_of(items.begin(), items.end(), [&](uint32_t item) { return born(item, start_); }))
      items.clear();
}

void WorldModel::make_users() {
  const WorldConfiguration& c = configuration_;
  countries_.resize(c.users);
  user_latents_.resize(c.users * kLatent);
  domain_users_.resize(c.domains.size());
  for (uint32_t user = 0; user < c.users; ++user) {
    Draws draws(c.seed, Purpose::User, user);
    countries_[user] = static_cast<uint32_t>(draws.zipf(12, 1));
    for (size_t i = 0; i < kLatent; ++i) user_latents_[user * kLatent + i] = draws.normal();
    for (size_t d = 0; d < c.domains.size(); ++d)
      if (inside(c.domains[d].users, position(c.seed, kUserSalt, user)))
        domain_users_[d].push_back(user);
  }
}

void WorldModel::make_weights() {
  const WorldConfiguration& c = configuration_;
  const size_t shared = c.shared_features;
  Draws base(c.seed, Purpose::Weights, 0);
  const std::vector<float> common = unit_vector(base, shared);
  for (size_t o = 0; o < c.objectives.size(); ++o) {
    Draws draws(c.seed, Purpose::Weights, 1 + o);
    std::vector<float> along = unit_vector(draws, shared), across = unit_vector(draws, shared);
    for (size_t i = 0; i < shared; ++i) along[i] = 0.7f * common[i] + 0.714f * along[i];
    normalize(along);
    const float overlap = dot(along.data(), across.data(), shared);
    for (size_t i = 0; i < shared; ++i) across[i] -= overlap * along[i];
    normalize(across);
    shared_along_.push_back(along);
    shared_across_.push_back(across);
    private_weights_.push_back(unit_vector(draws, c.private_features));
  }
  for (size_t d = 0; d < c.domains.size(); ++d)
    for (size_t o = 0; o < c.objectives.size(); ++o) {
      Draws draws(c.seed, Purpose::Weights, 1000 + d * 1000 + o);
      domain_weights_.push_back(unit_vector(draws, c.domain_features));
    }
}

void WorldModel::make_drift() {
  const WorldConfiguration& c = configuration_;
  const auto days = static_cast<size_t>(std::ceil(c.seconds / kDay));
  drift_.resize(days * c.categories);
  const auto keep = static_cast<float>(c.drift_persistence);
  const auto deviation = static_cast<float>(c.drift);
  for (size_t category = 0; category < c.categories; ++category) {
    Draws draws(c.seed, Purpose::Drift, category);
    float value = deviation * draws.normal();
    for (size_t day = 0; day < days; ++day) {
      drift_[day * c.categories + category] = value;
      value = keep * value + std::sqrt(1 - keep * keep) * deviation * draws.normal();
    }
  }
}

void WorldModel::make_events() {
  const WorldConfiguration& c = configuration_;
  event_offsets_.assign(c.users + 1, 0);
  for (uint64_t user = 0; user < c.users; ++user) {
    const double twice = 2 * c.events_per_user;
    const double count = twice * (static_cast<double>(mix(c.seed, user) >> 11) * 0x1p-53);
    event_offsets_[user + 1] = event_offsets_[user] + static_cast<size_t>(count + 0.5);
  }
  events_.resize(event_offsets_.back());
  const double span = static_cast<double>(end_ - start_);
  constexpr uint64_t kBlock = 1024;
  each_in_parallel(static_cast<int64_t>((c.users + kBlock - 1) / kBlock), [&](int64_t block) {
    const uint64_t first = static_cast<uint64_t>(block) * kBlock;
    for (uint64_t user = first; user < std::min(first + kBlock, c.users); ++user) {
      Draws draws(c.seed, Purpose::Events, user);
      const size_t begin = event_offsets_[user], count = event_offsets_[user + 1] - begin;
      // Gaps are exponential; scaled so that the last event is before the end.
      std::vector<double> times(count);
      double sum = 0;
      for (double& time : times) time = sum += draws.exponential(1);
      sum += draws.exponential(1);
      uint64_t interest = draws.zipf(c.categories, 0.8);
      for (size_t i = 0; i < count; ++i) {
        UserEvent& event = events_[begin + i];
        event.time = start_ + static_cast<int64_t>(times[i] / sum * span);
        if (draws.uniform() < 0.15) interest = draws.zipf(c.categories, 0.8);
        const bool of_interest = draws.uniform() < 0.7 && !category_items_[interest].empty();
        for (int turn = 0; turn < 16; ++turn) {
          event.item =
              of_interest
                  ? category_items_[interest][draws.zipf(category_items_[interest].size(), c.zipf)]
                  : static_cast<uint32_t>(draws.zipf(c.items, c.zipf));
          if (born(event.item, event.time)) break;
        }
        event.action = static_cast<uint8_t>(draws.zipf(3, 1));
        const bool late = draws.uniform() < c.late_reports;
        event.arrival = event.time + to_microseconds(draws.exponential(late ? 6 * 3600 : 20));
      }
    }
  });
}

// Bisects for the intercept at which the mean probability of a sample is the wanted rate.
void WorldModel::calibrate() {
  const WorldConfiguration& c = configuration_;
  const size_t objectives = c.objectives.size();
  intercepts_.assign(c.domains.size() * objectives, 0);
  const uint64_t sample = std::min<uint64_t>(8192, c.impressions);
  std::vector<double> intercepts(intercepts_.size());
  each_in_parallel(static_cast<int64_t>(c.domains.size()), [&](int64_t index) {
    const auto d = static_cast<uint32_t>(index);
    std::vector<std::vector<double>> logits(objectives);
    Impression row;
    for (uint64_t i = 0; i < sample; ++i) {
      fill_row(i * (c.impressions / sample), &d, row);
      for (size_t o = 0; o < objectives; ++o) logits[o].push_back(row.logits[o]);
    }
    for (size_t o = 0; o < objectives; ++o) {
      double low = -30, high = 30;
      for (int turn = 0; turn < 40; ++turn) {
        const double middle = (low + high) / 2;
        double sum = 0;
        for (const double logit : logits[o]) sum += sigmoid(logit + middle);
        (sum / static_cast<double>(sample) < c.objectives[o].rate ? low : high) = middle;
      }
      intercepts[d * objectives + o] = (low + high) / 2;
    }
  });
  intercepts_ = intercepts;
}

// In standard deviations, about: a user's last events are of the item's category in a tenth of the
// cases.
float WorldModel::sequence_match(uint32_t user, uint32_t item, int64_t time) const {
  const std::span<const UserEvent> all = events(user);
  auto event = std::upper_bound(all.begin(), all.end(), time,
                                [](int64_t at, const UserEvent& one) { return at < one.time; });
  uint64_t seen = 0, same = 0;
  while (event != all.begin() && seen < configuration_.sequence_length) {
    --event;
    if (event->arrival > time) continue;
    ++seen;
    same += categories_[event->item] == categories_[item];
  }
  if (seen == 0) return 0;
  return (static_cast<float>(same) / static_cast<float>(seen) - 0.1f) / 0.2f;
}

void WorldModel::impression(uint64_t index, Impression& row) const {
  fill_row(index, nullptr, row);
}

void WorldModel::fill_row(uint64_t index, const uint32_t* domain, Impression& row) const {
  const WorldConfiguration& c = configuration_;
  const size_t objectives = c.objectives.size();
  Draws draws(c.seed, Purpose::Impression, index);
  const double at =
      (static_cast<double>(index) + draws.uniform()) / static_cast<double>(c.impressions);
  row.time =
      std::min(end_ - 1, start_ + static_cast<int64_t>(at * static_cast<double>(end_ - start_)));
  const double pick = draws.uniform();
  row.domain = static_cast<uint32_t>(
      std::upper_bound(domain_limits_.begin(), domain_limits_.end() - 1, pick) -
      domain_limits_.begin());
  if (domain != nullptr) row.domain = *domain;
  const std::vector<uint32_t>& users = domain_users_[row.domain];
  const std::vector<uint32_t>& items = domain_items_[row.domain];
  row.user = users[draws.zipf(users.size(), c.zipf * 0.7)];
  for (int turn = 0;; ++turn) {
    row.item = items[draws.zipf(items.size(), c.zipf)];
    if (born(row.item, row.time)) break;
    if (turn < 32) continue;
    row.item = *std::find_if(items.begin(), items.end(),
                             [&](uint32_t item) { return born(item, row.time); });
    break;
  }

  row.values.assign(features_.size(), 0);
  row.present.assign(features_.size(), 0);
  row.logits.assign(objectives, 0);
  const double angle = c.domains[row.domain].conflict_degrees * std::numbers::pi / 180;
  const auto along = static_cast<float>(std::cos(angle)),
             across = static_cast<float>(std::sin(angle));
  for (size_t f = 0; f < features_.size(); ++f) {
    const WorldFeature& feature = features_[f];
    if (feature.kind == FeatureKind::Domain && feature.owner != row.domain) continue;
    const float value = draws.normal();
    if (draws.uniform() < c.missing) continue;
    row.values[f] = value;
    row.present[f] = 1;
    const size_t i = feature.index;
    for (size_t o = 0; o < objectives; ++o) {
      if (feature.kind == FeatureKind::Shared)
        row.logits[o] +=
            kShared * value * (along * shared_along_[o][i] + across * shared_across_[o][i]);
      if (feature.kind == FeatureKind::Domain)
        row.logits[o] += kDomain * value * domain_weights_[row.domain * objectives + o][i];
    }
    if (feature.kind == FeatureKind::Private)
      row.logits[feature.owner] += kPrivate * value * private_weights_[feature.owner][i];
  }
  const float affinity =
      dot(&user_latents_[row.user * kLatent], &item_latents_[row.item * kLatent], kLatent) /
      std::sqrt(static_cast<float>(kLatent));
  const float match = sequence_match(row.user, row.item, row.time);
  const auto day =
      static_cast<size_t>(static_cast<double>(row.time - start_) / (kDay * kMicroseconds));
  const float drift = drift_[day * c.categories + categories_[row.item]];
  for (size_t o = 0; o < objectives; ++o) {
    const float* effect = &item_effects_[(row.item * objectives + o) * 2];
    row.logits[o] +=
        kItem * (along * effect[0] + across * effect[1]) + kAffinity * affinity + kSequence * match;
    row.logits[o] =
        c.objectives[o].signal * row.logits[o] + drift + intercepts_[row.domain * objectives + o];
  }
}

uint64_t WorldModel::user_id(uint32_t user) const {
  return mix(configuration_.seed ^ kUserSalt, uint64_t{user} + 1);
}

uint64_t WorldModel::item_id(uint32_t item) const {
  return mix(configuration_.seed ^ kItemSalt, uint64_t{item} + 1);
}

double WorldModel::user_overlap(size_t domain, size_t other) const {
  return jaccard(domain_users_[domain], domain_users_[other]);
}

double WorldModel::item_overlap(size_t domain, size_t other) const {
  return jaccard(domain_items_[domain], domain_items_[other]);
}

}  // namespace weft::lattice
