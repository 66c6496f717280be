// SPDX-License-Identifier: Apache-2.0

// Published losses for conversions that come late, the rivals of the Zipper. Each looks at one
// observation of a stream in which an impression may appear more than once, and gives the loss and
// its slope. Weights in brackets are constants for the slope (no gradient passes through them).
//
//   fake negatives (FNW; Ktena and others 2019): every impression is emitted at once as a negative
//       and again as a positive when it converts.
//       -[1 + p] y ln p - [(1 - p)(1 + p)] (1 - y) ln(1 - p)
//   delay model (DFM; Chapelle 2014): a delay is exponential with rate l = exp(second logit).
//       converted after d:           -ln p - ln l + l d
//       not yet converted after e:   -ln(1 - p + p exp(-l e))
//   real negatives (DEFER; Gu and others 2021): observed after a wait w and again at the end of the
//       window, whatever happened. With v = P(converts between the two) the stream has positives in
//       proportion p - v/2 and negatives in proportion 1 - p + v/2, so
//       -[p / (p - v/2)] y ln p - [(1 - p) / (1 - p + v/2)] (1 - y) ln(1 - p)
//       v comes from a second logit, trained on the late positives themselves.
#pragma once

namespace weft::lattice {

struct Slopes {
  double loss = 0;
  double logit = 0;   // d loss / d the logit of p
  double second = 0;  // d loss / d the second logit, where there is one
};

Slopes fake_negative_loss(double logit, double label);

struct DelayObservation {
  bool converted = false;
  double seconds = 0;  // until the conversion, or since the impression
};
// `time_scale` seconds are one unit of the rate, so that a second logit of 0 is a delay of that
// long.
Slopes delay_model_loss(double logit, double log_rate, const DelayObservation& seen,
                        double time_scale);

// `late_logit` is that of v given the row; it gets no slope here.
Slopes real_negative_loss(double logit, double late_logit, double label);

}  // namespace weft::lattice
