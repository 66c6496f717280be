// SPDX-License-Identifier: Apache-2.0

// Two passes over the groups: how many rows of each, then where each row goes.
#include "lattice/blocks/untied.h"

#include "base/invariant.h"

namespace weft::lattice {
GroupOrder order_by_group(const at::Tensor& group, int64_t groups) {
  const at::Tensor here = group.cpu().contiguous();
  const int64_t rows = here.size(0);
  const int64_t* of = here.data_ptr<int64_t>();
  GroupOrder made{.order = at::empty({rows}, at::kLong),
                  .place = at::empty({rows}, at::kLong),
                  .size = std::vector<int64_t>(static_cast<size_t>(groups))};
  for (int64_t i = 0; i < rows; ++i) {
    INVARIANT(of[i] >= 0 && of[i] < groups);
    ++made.size[static_cast<size_t>(of[i])];
  }
  std::vector<int64_t> next(static_cast<size_t>(groups));
  for (size_t g = 1; g < next.size(); ++g) next[g] = next[g - 1] + made.size[g - 1];
  int64_t *order = made.order.data_ptr<int64_t>(), *place = made.place.data_ptr<int64_t>();
  for (int64_t i = 0; i < rows; ++i) {
    place[i] = next[static_cast<size_t>(of[i])]++;
    order[place[i]] = i;
  }
  made.order = made.order.to(group.device());
  made.place = made.place.to(group.device());
  return made;
}

std::vector<int64_t> token_sizes(const std::vector<int64_t>& row_sizes, const Segments& segments) {
  const int64_t* offsets = segments.offsets.data_ptr<int64_t>();
  std::vector<int64_t> sizes;
  int64_t row = 0;
  for (const int64_t size : row_sizes) {
    sizes.push_back(offsets[row + size] - offsets[row]);
    row += size;
  }
  return sizes;
}

}  // namespace weft::lattice
