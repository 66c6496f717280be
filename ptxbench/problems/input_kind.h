// SPDX-License-Identifier: Apache-2.0

// How one input is made. A tag "input.<name>:KIND ARGUMENTS" says it; without one the values are
// random, of the task's distribution.
//
//   normal, uniform, spiky [FACTOR]      values of this distribution, times FACTOR
//   constant VALUE                       the same value everywhere
//   unit                                 normal rows (last axis) scaled to length 1
//   quantized KIND ROWS COLUMNS [MOST]   e4m3 of values of KIND, each block of ROWS x COLUMNS
//                                        scaled to fill the range; 0 stands for the whole extent.
//                                        All times one factor from 1 to MOST, another each time,
//                                        so that no scale can be guessed
//   scales_of NAME                       float32 factors that undo the scaling of that input
//   offsets TOTAL                        0 = o[0] < o[1] < ... = the axis TOTAL: ragged sequences
//   offsets_above NAME TOTAL             the same, no sequence shorter than in the offsets NAME
//   offsets_some_empty TOTAL [NAME PAGE] the same, but of two sequences or more some are empty, at
//                                        least one and never the last. With NAME, no other sequence
//                                        is shorter than in those offsets, counted in pages of
//                                        PAGE (an axis, or 1) of which the last may hold one token
//   last_page NAME PAGE                  for each sequence of the offsets NAME 1 ... PAGE tokens in
//                                        its last page, 0 where it has no page
//   distinct COUNT                       different numbers below the axis COUNT, in random order
#pragma once

#include <vector>

#include "base/result.h"
#include "ptxbench/problems/random.h"
#include "ptxbench/problems/tensor.h"
#include "ptxbench/problems/workload.h"

namespace weft::problems {

struct InputRequest {
  const Task& task;
  const TensorSpec& spec;
  Distribution distribution;  // where the tag leaves it open
  uint64_t seed;
  uint32_t stream;  // of random numbers, this input's own
};

// `earlier` are the inputs before this one in the definition's order.
Result<Tensor> make_input(const InputRequest& request, const std::vector<Tensor>& earlier);

}  // namespace weft::problems
