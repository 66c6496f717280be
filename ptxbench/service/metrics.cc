// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/metrics.h"

#include <cstddef>

#include <fmt/format.h>

namespace weft::service {
namespace {

void add_values(std::string& text, const std::string& name, const char* type,
                const std::map<std::string, double>& values) {
  text += fmt::format("# TYPE {} {}\n", name, type);
  for (const auto& [labels, value] : values)
    text += labels.empty() ? fmt::format("{} {}\n", name, value)
                           : fmt::format("{}{{{}}} {}\n", name, labels, value);
}

}  // namespace

void Metrics::count(const std::string& name, const std::string& labels, double amount) {
  const std::lock_guard lock(mutex_);
  counters_[name][labels] += amount;
}

void Metrics::observe(const std::string& name, double seconds) {
  const std::lock_guard lock(mutex_);
  Histogram& histogram = histograms_[name];
  for (size_t i = 0; i < kBounds.size(); ++i)
    if (seconds <= kBounds[i]) ++histogram.within[i];
  ++histogram.all;
  histogram.sum += seconds;
}

void Metrics::set(const std::string& name, const std::string& labels, double value) {
  const std::lock_guard lock(mutex_);
  gauges_[name][labels] = value;
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [name, values] : counters_) add_values(text, name, "counter", values);
  for (const auto& [name, values] : gauges_) add_values(text, name, "gauge", values);
  for (const auto& [name, histogram] : histograms_) {
    text += fmt::format("# TYPE {} histogram\n", name);
    for (size_t i = 0; i < kBounds.size(); ++i)
      text += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", name, kBounds[i], histogram.within[i]);
    text += fmt::format("{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", name,
                        histogram.all, histogram.sum);
  }
  return text;
}

}  // namespace weft::service
