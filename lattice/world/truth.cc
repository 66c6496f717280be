// SPDX-License-Identifier: Apache-2.0

// Within a window the probability is that of ever converting times the share of delays inside it,
// because delays do not depend on the row.
#include "lattice/world/truth.h"

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

double entropy(double p) {
  return p <= 0 || p >= 1 ? 0 : -p * std::log(p) - (1 - p) * std::log1p(-p);
}

// At-once objectives convert within this many seconds.
constexpr double kAtOnce = 30;

}  // namespace

double share_within(const ObjectiveConfiguration& objective, double seconds) {
  if (objective.delay.empty()) return std::min(1.0, seconds / kAtOnce);
  double within = 0, total = 0;
  for (const DelayPart& part : objective.delay) {
    total += part.share;
    within += part.share * (part.mean_seconds == 0 ? 1 : -std::expm1(-seconds / part.mean_seconds));
  }
  return within / total;
}

Truth::Truth(const WorldConfiguration& configuration) : configuration_(configuration) {
  for (const ObjectiveConfiguration& objective : configuration.objectives) {
    for (const double window : configuration.windows)
      shares_.push_back(share_within(objective, window));
    shares_.push_back(1);
  }
  sums_.resize(configuration.domains.size() * configuration.objectives.size() * windows());
}

void Truth::add(size_t domain, size_t objective, double probability, double delay_seconds) {
  for (size_t w = 0; w < windows(); ++w) {
    Sum& sum = sums_[(domain * configuration_.objectives.size() + objective) * windows() + w];
    const double limit =
        w + 1 == windows() ? std::numeric_limits<double>::infinity() : configuration_.windows[w];
    const double p = probability * shares_[objective * windows() + w];
    const bool converted = delay_seconds >= 0 && delay_seconds <= limit;
    sum.rows += 1;
    sum.conversions += converted;
    sum.probability += p;
    sum.entropy += entropy(p);
    sum.loss -= converted ? std::log(p) : std::log1p(-p);
  }
}

void Truth::add(const Truth& other) {
  for (size_t i = 0; i < sums_.size(); ++i) {
    sums_[i].rows += other.sums_[i].rows;
    sums_[i].conversions += other.sums_[i].conversions;
    sums_[i].probability += other.sums_[i].probability;
    sums_[i].entropy += other.sums_[i].entropy;
    sums_[i].loss += other.sums_[i].loss;
  }
}

Json Truth::to_json() const {
  Json portfolios = Json::array();
  size_t at = 0;
  for (const DomainConfiguration& domain : configuration_.domains)
    for (const ObjectiveConfiguration& objective : configuration_.objectives) {
      Json windows_of_one = Json::array();
      for (size_t w = 0; w < windows(); ++w, ++at) {
        const Sum& sum = sums_[at];
        const auto rows = static_cast<double>(sum.rows);
        const double background = entropy(static_cast<double>(sum.conversions) / rows);
        const double expected = entropy(sum.probability / rows);
        Json line = {
            {"window", w + 1 == windows() ? "ever" : format_duration(configuration_.windows[w])},
            {"rows", sum.rows},
            {"conversions", sum.conversions},
            {"rate", nullptr},
            {"bayes_logloss", nullptr},
            {"bayes_ne", nullptr},
            {"realized_ne", nullptr}};
        if (sum.rows != 0) {
          line["rate"] = sum.probability / rows;
          line["bayes_logloss"] = sum.entropy / rows;
          if (expected > 0) line["bayes_ne"] = sum.entropy / rows / expected;
          if (background > 0) line["realized_ne"] = sum.loss / rows / background;
        }
        windows_of_one.push_back(line);
      }
      portfolios.push_back(
          {{"domain", domain.name}, {"objective", objective.name}, {"windows", windows_of_one}});
    }
  return portfolios;
}

Json Truth::sums() const {
  Json list = Json::array();
  for (const Sum& sum : sums_)
    list.push_back({sum.rows, sum.conversions, sum.probability, sum.entropy, sum.loss});
  return list;
}

Result<Done> Truth::add_sums(const Json& sums) {
  if (!sums.is_array() || sums.size() != sums_.size()) return Error("sums of another world");
  for (size_t i = 0; i < sums_.size(); ++i) {
    const Json& one = sums[i];
    if (!one.is_array() || one.size() != 5 || !one[0].is_number_unsigned() ||
        !one[1].is_number_unsigned() || !one[2].is_number() || !one[3].is_number() ||
        !one[4].is_number())
      return Error("sums of another world");
    sums_[i].rows += one[0].get<uint64_t>();
    sums_[i].conversions += one[1].get<uint64_t>();
    sums_[i].probability += one[2].get<double>();
    sums_[i].entropy += one[3].get<double>();
    sums_[i].loss += one[4].get<double>();
  }
  return Done{};
}

}  // namespace weft::lattice
