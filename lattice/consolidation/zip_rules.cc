// SPDX-License-Identifier: Apache-2.0

// Every sort has a whole key, so the outcome does not depend on the order of the input.
#include "lattice/consolidation/zip_rules.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/mix.h"

namespace weft::lattice {
namespace {

constexpr int64_t kNever = INT64_MAX;

// A conversion with the arrival of its refund.
struct Conversion {
  const ReportRow* report;
  int64_t refund_arrival = kNever;
};

// Keeps one report of each event, the first to arrive, and ties refunds to their events.
std::vector<Conversion> settle(const ZipRules& rules, std::vector<ReportRow>& reports,
                               ZipCounts& counts) {
  std::sort(reports.begin(), reports.end(), [](const ReportRow& a, const ReportRow& b) {
    return std::tie(a.event_id, a.arrival, a.time, a.objective, a.key) <
           std::tie(b.event_id, b.arrival, b.time, b.objective, b.key);
  });
  std::vector<Conversion> conversions;
  std::vector<const ReportRow*> refunds;
  const ReportRow* before = nullptr;
  for (const ReportRow& report : reports) {
    if (before != nullptr && before->event_id == report.event_id) {
      ++counts.duplicates;
      counts.conflicting += before->time != report.time || before->objective != report.objective ||
                            before->key != report.key;
      continue;
    }
    before = &report;
    if (report.refund_of != 0)
      refunds.push_back(&report);
    else
      conversions.push_back({.report = &report});
  }
  counts.conversions += conversions.size();
  if (rules.refunds == Refunds::Ignore) return conversions;
  for (const ReportRow* refund : refunds) {
    const auto event = std::lower_bound(
        conversions.begin(), conversions.end(), refund->refund_of,
        [](const Conversion& one, uint64_t id) { return one.report->event_id < id; });
    if (event == conversions.end() || event->report->event_id != refund->refund_of)
      ++counts.orphan_refunds;
    else
      event->refund_arrival = std::min(event->refund_arrival, refund->arrival);
  }
  return conversions;
}

class Bucket {
 public:
  Bucket(const ZipRules& rules, std::span<const ShownRow> shown, std::vector<ZippedRow>& rows,
         ZipCounts& counts)
      : rules_(rules), shown_(shown), rows_(rows), counts_(counts) {}

  void credit(const Conversion& conversion) const;

 private:
  bool within(int64_t delay, int64_t window) const {
    return rules_.window_end == WindowEnd::Inclusive ? delay <= window : delay < window;
  }
  bool label(const Conversion& conversion, size_t index) const;

  const ZipRules& rules_;
  std::span<const ShownRow> shown_;  // by key, time, id
  std::vector<ZippedRow>& rows_;     // beside `shown_`
  ZipCounts& counts_;
};

void Bucket::credit(const Conversion& conversion) const {
  const ReportRow& report = *conversion.report;
  const int64_t fixed = rules_.objectives[report.objective].fixed_window;
  const int64_t longest = fixed != 0 ? fixed : rules_.windows.back();
  // Impressions of the key up to the conversion; one at the same instant is before it.
  const auto end = std::upper_bound(
      shown_.begin(), shown_.end(), report, [](const ReportRow& at, const ShownRow& row) {
        return std::tie(at.key, at.time) < std::tie(row.key, row.time);
      });
  auto begin = end;
  while (begin != shown_.begin() && std::prev(begin)->key == report.key &&
         within(report.time - std::prev(begin)->time, longest))
    --begin;
  if (begin == end) {
    ++counts_.without_impression;
    return;
  }
  const auto first = static_cast<size_t>(begin - shown_.begin());
  const auto last = static_cast<size_t>(end - shown_.begin());
  bool any = false;
  switch (rules_.touch) {
    case Touch::Last:
      any = label(conversion, last - 1);
      break;
    case Touch::First:
      any = label(conversion, first);
      break;
    case Touch::All:
      for (size_t i = first; i < last; ++i) any = label(conversion, i) || any;
      break;
  }
  counts_.credited += any;
}

bool Bucket::label(const Conversion& conversion, size_t index) const {
  const ReportRow& report = *conversion.report;
  ZippedRow& row = rows_[index];
  const int64_t fixed = rules_.objectives[report.objective].fixed_window;
  const int64_t window = fixed != 0 ? fixed : rules_.windows[row.window];
  if (row.mature == 0) return false;
  if (!within(report.time - row.time, window)) {
    ++counts_.outside_window;
    return false;
  }
  if (report.arrival > row.emit_time) {
    ++counts_.late;
    return false;
  }
  if (conversion.refund_arrival <= row.emit_time) {
    ++counts_.refunded;
    return false;
  }
  counts_.late_refunds += conversion.refund_arrival != kNever;
  uint8_t& count = row.conversions[report.objective];
  count = static_cast<uint8_t>(std::min(255, count + 1));
  return true;
}

}  // namespace

void ZipCounts::add(const ZipCounts& other) {
  conversions += other.conversions;
  duplicates += other.duplicates;
  conflicting += other.conflicting;
  credited += other.credited;
  without_impression += other.without_impression;
  outside_window += other.outside_window;
  late += other.late;
  refunded += other.refunded;
  late_refunds += other.late_refunds;
  orphan_refunds += other.orphan_refunds;
}

std::vector<uint64_t> window_thresholds(const std::vector<double>& shares) {
  std::vector<uint64_t> thresholds;
  double sum = 0;
  for (size_t i = 0; i + 1 < shares.size(); ++i) {
    sum += shares[i];
    thresholds.push_back(sum >= 1 ? UINT64_MAX : static_cast<uint64_t>(sum * 0x1p64));
  }
  return thresholds;
}

uint8_t window_of(const ZipRules& rules, const ShownRow& row) {
  const uint64_t hash = mix(mix(rules.seed, row.key), mix(static_cast<uint64_t>(row.time), row.id));
  uint8_t window = 0;
  while (window < rules.thresholds.size() && hash >= rules.thresholds[window]) ++window;
  return window;
}

std::vector<ZippedRow> zip_bucket(const ZipRules& rules, std::vector<ShownRow>& shown,
                                  std::vector<ReportRow>& reports, ZipCounts& counts) {
  std::sort(shown.begin(), shown.end(), [](const ShownRow& a, const ShownRow& b) {
    return std::tie(a.key, a.time, a.id) < std::tie(b.key, b.time, b.id);
  });
  std::vector<ZippedRow> rows;
  rows.reserve(shown.size());
  for (const ShownRow& row : shown) {
    const uint8_t window = window_of(rules, row);
    const int64_t emit = row.time + rules.windows[window] + rules.allowance;
    rows.push_back({.id = row.id,
                    .time = row.time,
                    .emit_time = emit,
                    .window = window,
                    .mature = emit <= rules.as_of,
                    .conversions = {}});
  }
  const std::vector<Conversion> conversions = settle(rules, reports, counts);
  const Bucket bucket(rules, shown, rows, counts);
  for (const Conversion& conversion : conversions) bucket.credit(conversion);
  std::sort(rows.begin(), rows.end(), [](const ZippedRow& a, const ZippedRow& b) {
    return std::tie(a.emit_time, a.id) < std::tie(b.emit_time, b.id);
  });
  return rows;
}

}  // namespace weft::lattice
