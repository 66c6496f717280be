// SPDX-License-Identifier: Apache-2.0

// How many distinct ids a set holds and how much two sets share, in 16 KB a set: the k smallest
// hashes (Bar-Yossef and others, RANDOM 2002; Beyer and others, SIGMOD 2007). Standard error of a
// size is 1/sqrt(k - 2); of a share of the union s, sqrt(s (1 - s) / k).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::lattice {

class Sketch {
 public:
  static constexpr size_t kSize = 2048;

  void add(uint64_t id);
  // Of all ids added; exact while they are fewer than kSize.
  double distinct() const;

  // |A and B| / |A or B|: 0 for two empty sets.
  static double jaccard(const Sketch& a, const Sketch& b);
  // |A and B| / min(|A|, |B|): a small set inside a large one has 1 here and little above.
  static double containment(const Sketch& a, const Sketch& b);

 private:
  struct Union {
    double size, share;  // of the union, and of it the part that both have
  };
  static Union unite(const Sketch& a, const Sketch& b);
  const std::vector<uint64_t>& settled() const;

  // Ascending and without repeats up to `sorted_`; what came later follows in any order.
  mutable std::vector<uint64_t> hashes_;
  mutable size_t sorted_ = 0;
  mutable uint64_t limit_ = UINT64_MAX;  // larger hashes cannot belong
};

}  // namespace weft::lattice
