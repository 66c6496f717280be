// SPDX-License-Identifier: Apache-2.0

// The hidden truth of a world: who exists, what each label depends on, what users did before.
//
//   logit(domain d, objective o) = intercept[d][o] + drift[category][day] + signal[o] * (
//       shared features  . (w cos a + w' sin a)   a: the domain's conflict angle
//     + private features of o + features of d
//     + effect of the item, turned by the same angle
//     + user . item + match of the item's category with the user's last events )
//
// A missing value contributes nothing, so the probability is exactly what somebody who knows the
// world and sees the row would say: its entropy is the Bayes-optimal loss.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lattice/world/configuration.h"

namespace weft::lattice {

enum class FeatureKind : uint8_t { Shared, Private, Domain, Noise };

struct WorldFeature {
  std::string name;
  FeatureKind kind = FeatureKind::Noise;
  size_t owner = 0;         // objective of Private, domain of Domain
  size_t index = 0;         // among those of its kind and owner
  bool log_normal = false;  // exp(x) is written where labels depend on x
};

struct UserEvent {
  int64_t time = 0, arrival = 0;  // microseconds
  uint32_t item = 0;
  uint8_t action = 0;
};

struct Impression {
  int64_t time = 0;
  uint32_t domain = 0, user = 0, item = 0;
  std::vector<float> values;     // one a feature, before exp
  std::vector<uint8_t> present;  // one a feature
  std::vector<double> logits;    // one an objective
};

class WorldModel {
 public:
  // An error when a domain has no users or no items.
  static Result<WorldModel> create(const WorldConfiguration& configuration);

  const WorldConfiguration& configuration() const { return configuration_; }
  const std::vector<WorldFeature>& features() const { return features_; }
  int64_t start() const { return start_; }
  int64_t end() const { return end_; }

  // Row `index` of the log; times do not fall with the index.
  void impression(uint64_t index, Impression& row) const;

  uint64_t user_id(uint32_t user) const;
  uint64_t item_id(uint32_t item) const;
  uint32_t category(uint32_t item) const { return categories_[item]; }
  uint32_t advertiser(uint32_t item) const { return advertisers_[item]; }
  uint32_t country(uint32_t user) const { return countries_[user]; }

  size_t users() const { return event_offsets_.size() - 1; }
  std::span<const UserEvent> events(uint32_t user) const {
    return {events_.data() + event_offsets_[user], event_offsets_[user + 1] - event_offsets_[user]};
  }

  // Shares of set members: what sketches should find. Of the sets, not of the traffic.
  double user_overlap(size_t domain, size_t other) const;  // Jaccard
  double item_overlap(size_t domain, size_t other) const;

 private:
  explicit WorldModel(const WorldConfiguration& configuration);
  void make_items();
  void make_users();
  void make_weights();
  void make_events();
  void make_drift();
  void calibrate();
  void fill_row(uint64_t index, const uint32_t* domain, Impression& row) const;
  float sequence_match(uint32_t user, uint32_t item, int64_t time) const;
  bool born(uint32_t item, int64_t time) const { return births_[item] <= time; }

  static constexpr size_t kLatent = 8;

  WorldConfiguration configuration_;
  int64_t start_ = 0, end_ = 0;
  std::vector<WorldFeature> features_;
  std::vector<double> domain_limits_;                               // running sum of shares, to 1
  std::vector<std::vector<uint32_t>> domain_users_, domain_items_;  // most popular first
  std::vector<std::vector<uint32_t>> category_items_;
  std::vector<int64_t> births_;
  std::vector<uint32_t> categories_, advertisers_, countries_;
  std::vector<float> user_latents_, item_latents_;
  std::vector<float> item_effects_;  // item x objective x {along, across}
  // Weights of objective o: `along` and `across` the direction that domains at 0 follow.
  std::vector<std::vector<float>> shared_along_, shared_across_, private_weights_;
  std::vector<std::vector<float>> domain_weights_;  // domain x objective, features of the domain
  std::vector<float> drift_;                        // day x category
  std::vector<double> intercepts_;                  // domain x objective
  std::vector<UserEvent> events_;
  std::vector<size_t> event_offsets_;
};

}  // namespace weft::lattice
