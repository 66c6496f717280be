// SPDX-License-Identifier: Apache-2.0

// A merged model is as large as the largest that it replaces: in the paper's case study two models
// of 20 and 12 GFLOP become one of 20. The saving is in dense compute, not in tables.
#include "lattice/consolidation/grouping.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace weft::lattice {
namespace {

using Members = std::vector<size_t>;

double logit(double rate) {
  const double bounded = std::clamp(rate, 1e-9, 1 - 1e-9);
  return std::log(bounded / (1 - bounded));
}

class Grouper {
 public:
  Grouper(const std::vector<Portfolio>& portfolios,
          const std::vector<std::vector<Likeness>>& likeness, const GroupingPolicy& policy)
      : portfolios_(portfolios), likeness_(likeness), policy_(policy) {}

  Grouping work();

 private:
  const Likeness& alike(size_t a, size_t b) const {
    return likeness_[std::min(a, b)][std::max(a, b)];
  }
  double linkage(const Members& a, const Members& b) const;
  // Why the two cannot be one, whatever their affinity; empty when they can.
  std::string obstacle(const Members& a, const Members& b) const;
  std::string reasons(const Members& a, const Members& b) const;
  std::string names(const Members& members) const;
  Group describe(const Members& members, double total_revenue, double total_mflops) const;

  const std::vector<Portfolio>& portfolios_;
  const std::vector<std::vector<Likeness>>& likeness_;
  const GroupingPolicy& policy_;
  std::vector<std::vector<Affinity>> affinities_;
};

double Grouper::linkage(const Members& a, const Members& b) const {
  double sum = 0;
  for (const size_t i : a)
    for (const size_t j : b) sum += affinities_[i][j].total;
  return sum / static_cast<double>(a.size() * b.size());
}

std::string Grouper::names(const Members& members) const {
  std::string text;
  for (const size_t member : members)
    text += (text.empty() ? "" : " + ") + portfolios_[member].name();
  return text;
}

std::string Grouper::obstacle(const Members& a, const Members& b) const {
  if (a.size() + b.size() > policy_.most_members)
    return fmt::format("{} members, {} are the most", a.size() + b.size(), policy_.most_members);
  double mflops = 0;
  for (const Members* side : {&a, &b})
    for (const size_t member : *side) mflops = std::max(mflops, portfolios_[member].mflops);
  const double milliseconds = mflops / policy_.mflops_per_ms;
  for (const Members* side : {&a, &b})
    for (const size_t member : *side)
      if (milliseconds > portfolios_[member].latency_ms)
        return fmt::format("one model of {:.3g} MFLOP takes {:.3g} ms and {} allows {:.3g}", mflops,
                           milliseconds, portfolios_[member].name(),
                           portfolios_[member].latency_ms);
  return "";
}

std::string Grouper::reasons(const Members& a, const Members& b) const {
  Affinity sum;
  for (const size_t i : a)
    for (const size_t j : b) {
      sum.overlap += affinities_[i][j].overlap;
      sum.delay += affinities_[i][j].delay;
      sum.density += affinities_[i][j].density;
      sum.gradient += affinities_[i][j].gradient;
    }
  const auto pairs = static_cast<double>(a.size() * b.size());
  return fmt::format("overlap {:+.2f}, delay {:+.2f}, density {:+.2f}, gradients {:+.2f}",
                     sum.overlap / pairs, sum.delay / pairs, sum.density / pairs,
                     sum.gradient / pairs);
}

Group Grouper::describe(const Members& members, double total_revenue, double total_mflops) const {
  Group group{.members = members, .latency_ms = portfolios_[members.front()].latency_ms};
  for (const size_t member : members) {
    group.revenue_share += portfolios_[member].revenue / total_revenue;
    group.mflops = std::max(group.mflops, portfolios_[member].mflops);
    group.latency_ms = std::min(group.latency_ms, portfolios_[member].latency_ms);
  }
  group.budget_mflops = total_mflops * group.revenue_share;
  group.within_budget = group.mflops <= group.budget_mflops * (1 + 1e-9);
  for (size_t i = 0; i < members.size(); ++i)
    for (size_t j = i + 1; j < members.size(); ++j) {
      const auto& cosine = alike(members[i], members[j]).gradient_cosine;
      if (cosine && *cosine < 0) group.untie.emplace_back(members[i], members[j]);
    }
  return group;
}

Grouping Grouper::work() {
  const size_t count = portfolios_.size();
  affinities_.assign(count, std::vector<Affinity>(count));
  for (size_t i = 0; i < count; ++i)
    for (size_t j = i + 1; j < count; ++j)
      affinities_[i][j] = affinities_[j][i] =
          affinity(portfolios_[i], portfolios_[j], likeness_[i][j], policy_);
  Grouping result{.affinities = affinities_};
  std::vector<Members> groups;
  for (size_t i = 0; i < count; ++i) groups.push_back({i});
  for (;;) {
    double best = policy_.threshold;
    std::optional<std::pair<size_t, size_t>> pair;
    for (size_t a = 0; a < groups.size(); ++a)
      for (size_t b = a + 1; b < groups.size(); ++b) {
        const double value = linkage(groups[a], groups[b]);
        if (value > best && obstacle(groups[a], groups[b]).empty()) {
          best = value;
          pair = {a, b};
        }
      }
    if (!pair) break;
    Members &left = groups[pair->first], &right = groups[pair->second];
    result.decisions.push_back({true, left, right, best,
                                fmt::format("{} with {}: affinity {:.2f} ({})", names(left),
                                            names(right), best, reasons(left, right))});
    left.insert(left.end(), right.begin(), right.end());
    std::sort(left.begin(), left.end());
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(pair->second));
  }
  for (size_t a = 0; a < groups.size(); ++a)
    for (size_t b = a + 1; b < groups.size(); ++b) {
      const double value = linkage(groups[a], groups[b]);
      const std::string hindered = value > policy_.threshold ? obstacle(groups[a], groups[b]) : "";
      result.decisions.push_back(
          {false, groups[a], groups[b], value,
           fmt::format("{} not with {}: {}", names(groups[a]), names(groups[b]),
                       hindered.empty()
                           ? fmt::format("affinity {:.2f} is not above {:.2f} ({})", value,
                                         policy_.threshold, reasons(groups[a], groups[b]))
                           : hindered)});
    }
  double revenue = 0, mflops = 0;
  for (const Portfolio& portfolio : portfolios_) {
    revenue += portfolio.revenue;
    mflops += portfolio.mflops;
  }
  if (policy_.total_mflops > 0) mflops = policy_.total_mflops;
  for (const Members& members : groups) result.groups.push_back(describe(members, revenue, mflops));
  return result;
}

}  // namespace

Affinity affinity(const Portfolio& a, const Portfolio& b, const Likeness& likeness,
                  const GroupingPolicy& policy) {
  Affinity result;
  // Containment as well: a small surface inside a large one has little Jaccard and should merge.
  result.overlap = policy.user_weight * std::max(likeness.user_jaccard, likeness.user_containment) +
                   policy.item_weight * std::max(likeness.item_jaccard, likeness.item_containment);
  if (a.median_delay_seconds && b.median_delay_seconds)
    result.delay =
        -policy.delay_weight *
        std::abs(std::log((*a.median_delay_seconds + 1) / (*b.median_delay_seconds + 1)));
  result.density = -policy.density_weight * std::abs(logit(a.rate) - logit(b.rate));
  if (likeness.gradient_cosine)
    result.gradient = policy.gradient_weight * *likeness.gradient_cosine;
  result.total = result.overlap + result.delay + result.density + result.gradient;
  return result;
}

Grouping group_portfolios(const std::vector<Portfolio>& portfolios,
                          const std::vector<std::vector<Likeness>>& likeness,
                          const GroupingPolicy& policy) {
  return Grouper(portfolios, likeness, policy).work();
}

}  // namespace weft::lattice
