// SPDX-License-Identifier: Apache-2.0

// A small data set for the tests of networks: three tables, five dense columns in two groups, a
// history of two columns, a task without delay and one with three windows, three domains in two
// groups of weights. Row 0 has an empty history, row 1 lacks a categorical and all dense values.
#pragma once

#include <random>

#include "lattice/networks/network.h"

namespace weft::lattice {

inline NetworkInputs sample_inputs() {
  NetworkInputs inputs;
  inputs.categorical = {{"user", 11}, {"item", 23}, {"place", 5}};
  inputs.dense_columns = 5;
  inputs.dense_groups = {{"price", {0, 3}}, {"time", {1, 2}}};  // column 4 is in none
  inputs.sequence = {.columns = {{"item", 1}, {"place", 2}}, .length = 6};
  inputs.tasks = {{"click", 1, {0.2}}, {"buy", 0, {0.01, 0.02, 0.05}}};
  inputs.domains = {{"feed", 0, {}}, {"reels", 1, {}}, {"search", 0, {true, false}}};
  return inputs;
}

struct SampleBatch {
  uint64_t rows;
  std::vector<int32_t> categorical, domain, sequence;
  std::vector<float> dense, label, age;
  std::vector<uint8_t> present, known, window;
  std::vector<int64_t> offsets = {0};

  explicit SampleBatch(uint64_t count, uint64_t seed = 1) : rows(count) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t bound) { return random() % bound; };
    for (const uint64_t size : {11, 23, 5})
      for (uint64_t i = 0; i < rows; ++i)
        categorical.push_back(i == 1 ? 0 : static_cast<int32_t>(1 + below(size - 1)));
    for (uint64_t i = 0; i < rows; ++i) {
      for (int c = 0; c < 5; ++c) {
        dense.push_back(static_cast<float>(below(2001)) / 1000.0f - 1.0f);
        present.push_back(i != 1 && below(5) != 0);
      }
      for (int t = 0; t < 2; ++t) {
        label.push_back(static_cast<float>(below(2)));
        known.push_back(below(4) != 0);
      }
      domain.push_back(static_cast<int32_t>(i % 3));
      window.push_back(static_cast<uint8_t>(below(3)));
      offsets.push_back(offsets.back() + static_cast<int64_t>(i == 0 ? 0 : below(7)));
    }
    const auto events = static_cast<uint64_t>(offsets.back());
    for (const uint64_t size : {23, 5})
      for (uint64_t i = 0; i < events; ++i)
        sequence.push_back(static_cast<int32_t>(1 + below(size - 1)));
    for (uint64_t i = 0; i < events; ++i) age.push_back(static_cast<float>(below(100'000)));
  }

  BatchView view() const {
    return {.rows = rows,
            .categorical = categorical,
            .dense = dense,
            .dense_present = present,
            .label = label,
            .label_known = known,
            .domain = domain,
            .window = window,
            .sequence_offsets = offsets,
            .sequence = sequence,
            .sequence_age = age};
  }
};

}  // namespace weft::lattice
