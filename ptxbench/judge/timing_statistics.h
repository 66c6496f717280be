// SPDX-License-Identifier: Apache-2.0

// What samples of a duration say, without assuming a distribution.
#pragma once

#include <cstddef>
#include <vector>

namespace weft::judge {

// Linear between the order statistics (Hyndman and Fan's type 7, "Sample Quantiles in Statistical
// Packages", 1996). `part` is 0 to 1; `values` need not be sorted and are not empty.
double quantile(std::vector<double> values, double part);

struct Interval {
  double low = 0, high = 0;
};

// A distribution-free interval of the median with at least the given confidence: the order
// statistics x(j) and x(n+1-j) with the largest j for which P(Binomial(n, 1/2) < j) is at most half
// of what remains (David and Nagaraja, "Order Statistics", 2003, section 7.1). With too few values
// it is the range.
Interval median_interval(std::vector<double> values, double confidence);

// How far p10 and p90 lie apart, as a part of the median.
double spread(const std::vector<double>& values);

}  // namespace weft::judge
