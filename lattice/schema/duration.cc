// SPDX-License-Identifier: Apache-2.0

// The calendar is <chrono>'s; only the texts are ours.
#include "lattice/schema/duration.h"

#include <charconv>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

namespace weft::lattice {
namespace {

struct Unit {
  char letter;
  double seconds;
};
constexpr Unit kUnits[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

// Reads exactly `count` digits and drops them from `text`.
std::optional<int> digits(std::string_view& text, size_t count) {
  int value = 0;
  if (text.size() < count) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char letter) {
  if (text.empty() || text.front() != letter) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<double> parse_duration(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end + 1 != text.data() + text.size()) return std::nullopt;
  for (const Unit& unit : kUnits)
    if (*end == unit.letter && number >= 0 && std::isfinite(number)) return number * unit.seconds;
  return std::nullopt;
}

std::string format_duration(double seconds) {
  for (const Unit& unit : kUnits)
    if (seconds >= unit.seconds && std::fmod(seconds, unit.seconds) == 0)
      return fmt::format("{}{}", seconds / unit.seconds, unit.letter);
  return fmt::format("{}s", seconds);
}

std::optional<int64_t> parse_instant(std::string_view text) {
  using namespace std::chrono;
  const auto year_part = digits(text, 4);
  if (!year_part || !take(text, '-')) return std::nullopt;
  const auto month_part = digits(text, 2);
  if (!month_part || !take(text, '-')) return std::nullopt;
  const auto day_part = digits(text, 2);
  if (!day_part) return std::nullopt;
  const year_month_day date(year(*year_part), month(static_cast<unsigned>(*month_part)),
                            day(static_cast<unsigned>(*day_part)));
  if (!date.ok()) return std::nullopt;
  int64_t seconds = int64_t{sys_days(date).time_since_epoch().count()} * 86400;
  if (text.empty()) return seconds * 1'000'000;
  if (!take(text, 'T') && !take(text, ' ')) return std::nullopt;
  const auto hour_part = digits(text, 2);
  if (!hour_part || *hour_part > 23 || !take(text, ':')) return std::nullopt;
  const auto minute_part = digits(text, 2);
  if (!minute_part || *minute_part > 59 || !take(text, ':')) return std::nullopt;
  const auto second_part = digits(text, 2);
  if (!second_part || *second_part > 59 || text != "Z") return std::nullopt;
  seconds += *hour_part * 3600 + *minute_part * 60 + *second_part;
  return seconds * 1'000'000;
}

std::string format_instant(int64_t microseconds) {
  using namespace std::chrono;
  const sys_time<std::chrono::microseconds> instant{std::chrono::microseconds(microseconds)};
  const auto midnight = floor<days>(instant);
  const year_month_day date(midnight);
  const int64_t rest = (instant - midnight).count();
  const int64_t fraction = rest % 1'000'000, second = rest / 1'000'000;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     second / 3600, second / 60 % 60, second % 60,
                     fraction == 0 ? "" : fmt::format(".{:06}", fraction));
}

}  // namespace weft::lattice
