// SPDX-License-Identifier: Apache-2.0

// Numbers for Prometheus, in its text format (version 0.0.4).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace weft::service {

class Metrics {
 public:
  // `labels` as they are written: `kind="evaluate",answer="fresh"`; may be empty.
  void count(const std::string& name, const std::string& labels, double amount = 1);
  // A duration into a histogram.
  void observe(const std::string& name, double seconds);
  void set(const std::string& name, const std::string& labels, double value);

  std::string text() const;

  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   1,     5,    30,    300};

 private:
  struct Histogram {
    std::array<uint64_t, kBounds.size()> within{};  // at most the bound
    uint64_t all = 0;
    double sum = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, double>> counters_, gauges_;
  std::map<std::string, Histogram> histograms_;
};

}  // namespace weft::service
