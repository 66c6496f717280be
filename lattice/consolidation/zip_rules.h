// SPDX-License-Identifier: Apache-2.0

// The rules by which impressions get labels, each with a name, applied to the rows of one bucket in
// memory. No files here: this is the part that tests work out by hand.
//
//   time ---+-------------+--------+--------------+-----------+--->
//        impression   conversion  arrives    window ends   allowance ends: emitted, mature
//
// An impression belongs to one window, chosen by a hash. A conversion is credited to impressions by
// the touch rule within the longest window, whatever window they belong to, so that labels of one
// impression would only grow from window to window.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::lattice {

constexpr size_t kMostObjectives = 6, kMostWindows = 8;

enum class Touch : uint8_t { Last, First, All };
enum class WindowEnd : uint8_t { Inclusive, Exclusive };
enum class Refunds : uint8_t { Cancel, Ignore };

struct ObjectiveRule {
  std::string name;
  // Microseconds; 0: the impression's own window. Objectives that come at once have a fixed one, no
  // longer than the shortest window, and every impression trains them.
  int64_t fixed_window = 0;
};

struct ZipRules {
  std::vector<int64_t> windows;      // microseconds, ascending
  std::vector<uint64_t> thresholds;  // of the hash: window k below thresholds[k]; one less
  std::vector<ObjectiveRule> objectives;
  Touch touch = Touch::Last;
  WindowEnd window_end = WindowEnd::Inclusive;
  Refunds refunds = Refunds::Cancel;
  int64_t allowance = 0;  // waited after the window for reports to arrive
  int64_t as_of = 0;      // nothing is known of what arrives later
  uint64_t seed = 0;
};

struct ShownRow {
  uint64_t key, id;
  int64_t time;
};

struct ReportRow {
  uint64_t key, event_id;
  uint64_t refund_of;  // 0: a conversion
  int64_t time, arrival;
  uint64_t objective;  // index
};

struct ZippedRow {
  uint64_t id;
  int64_t time, emit_time;
  uint8_t window, mature;
  std::array<uint8_t, kMostObjectives> conversions;  // at most 255
};
static_assert(sizeof(ZippedRow) == 32);

// What happened to the reports, each counted once.
struct ZipCounts {
  uint64_t conversions = 0;         // distinct events
  uint64_t duplicates = 0;          // further reports of an event
  uint64_t conflicting = 0;         // duplicates that disagree in time or objective
  uint64_t credited = 0;            // events that made a label of at least one impression
  uint64_t without_impression = 0;  // none of the key in the longest window before
  uint64_t outside_window = 0;      // credited, but after the impression's own window
  uint64_t late = 0;                // in the window, but arrived after the impression was emitted
  uint64_t refunded = 0;            // taken back in time
  uint64_t late_refunds = 0;        // taken back after the impression was emitted: the label stays
  uint64_t orphan_refunds = 0;      // of an event that is not in the log

  void add(const ZipCounts& other);
};

// The window of an impression: depends on key, time, id and seed alone.
uint8_t window_of(const ZipRules& rules, const ShownRow& row);
// Thresholds for shares that sum to 1.
std::vector<uint64_t> window_thresholds(const std::vector<double>& shares);

// Sorts its inputs. Rows come out in order of (emit_time, id), immature ones with conversions of
// zero and `mature` 0. Of two impressions at one instant the one with the larger id is the later.
std::vector<ZippedRow> zip_bucket(const ZipRules& rules, std::vector<ShownRow>& shown,
                                  std::vector<ReportRow>& reports, ZipCounts& counts);

}  // namespace weft::lattice
