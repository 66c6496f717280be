// SPDX-License-Identifier: Apache-2.0

// Slopes by the logit: d ln p / dz = 1 - p, d ln(1 - p) / dz = -p.
#include "lattice/objectives/delayed_feedback.h"

#include <algorithm>
#include <cmath>

#include "lattice/objectives/binary.h"

namespace weft::lattice {
namespace {

Slopes weighted(double logit, double label, double positive_weight, double negative_weight) {
  const double p = sigmoid(logit);
  return {.loss = positive_weight * label * softplus(-logit) +
                  negative_weight * (1 - label) * softplus(logit),
          .logit = -positive_weight * label * (1 - p) + negative_weight * (1 - label) * p};
}

}  // namespace

Slopes fake_negative_loss(double logit, double label) {
  const double p = sigmoid(logit);
  return weighted(logit, label, 1 + p, (1 - p) * (1 + p));
}

Slopes delay_model_loss(double logit, double log_rate, const DelayObservation& seen,
                        double time_scale) {
  const double p = sigmoid(logit);
  const double rate = std::exp(std::clamp(log_rate, -20.0, 20.0));
  const double time = seen.seconds / time_scale;
  if (seen.converted)
    return {.loss = softplus(-logit) - log_rate + rate * time,
            .logit = -(1 - p),
            .second = -1 + rate * time};
  const double survives = std::exp(-rate * time);
  const double left = 1 - p + p * survives;
  return {.loss = -std::log(left),
          .logit = p * (1 - p) * (1 - survives) / left,
          .second = p * survives * rate * time / left};
}

Slopes real_negative_loss(double logit, double late_logit, double label) {
  const double p = sigmoid(logit);
  // A late conversion is a conversion: v cannot exceed p, whatever the second logit says.
  const double half = std::min(sigmoid(late_logit), p) / 2;
  return weighted(logit, label, p / (p - half), (1 - p) / (1 - p + half));
}

}  // namespace weft::lattice
