// SPDX-License-Identifier: Apache-2.0

// Once the sketch is full almost every id fails one comparison.
#include "lattice/consolidation/sketch.h"

#include <algorithm>
#include <iterator>

#include "base/mix.h"

namespace weft::lattice {
namespace {

double size_of(const std::vector<uint64_t>& hashes) {
  if (hashes.size() < Sketch::kSize) return static_cast<double>(hashes.size());
  return static_cast<double>(Sketch::kSize - 1) /
         (static_cast<double>(hashes[Sketch::kSize - 1]) * 0x1p-64);
}

}  // namespace

void Sketch::add(uint64_t id) {
  const uint64_t hash = mix(id);
  if (hash > limit_) return;
  hashes_.push_back(hash);
  if (hashes_.size() >= 4 * kSize) settled();
}

const std::vector<uint64_t>& Sketch::settled() const {
  if (sorted_ == hashes_.size()) return hashes_;
  std::sort(hashes_.begin(), hashes_.end());
  hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
  if (hashes_.size() >= kSize) {
    hashes_.resize(kSize);
    limit_ = hashes_.back();
  }
  sorted_ = hashes_.size();
  return hashes_;
}

double Sketch::distinct() const {
  return size_of(settled());
}

Sketch::Union Sketch::unite(const Sketch& a, const Sketch& b) {
  const std::vector<uint64_t>&x = a.settled(), &y = b.settled();
  std::vector<uint64_t> both;
  std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
  if (both.size() > kSize) both.resize(kSize);
  if (both.empty()) return {0, 0};
  size_t shared = 0;
  for (const uint64_t hash : both)
    shared += std::binary_search(x.begin(), x.end(), hash) &&
              std::binary_search(y.begin(), y.end(), hash);
  return {size_of(both), static_cast<double>(shared) / static_cast<double>(both.size())};
}

double Sketch::jaccard(const Sketch& a, const Sketch& b) {
  return unite(a, b).share;
}

double Sketch::containment(const Sketch& a, const Sketch& b) {
  const double smaller = std::min(a.distinct(), b.distinct());
  if (smaller == 0) return 0;
  const Union both = unite(a, b);
  return std::min(1.0, both.share * both.size / smaller);
}

}  // namespace weft::lattice
