// SPDX-License-Identifier: Apache-2.0

// Splits a range of independent work over host workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace weft {

inline unsigned host_workers() {
  return std::max(1u, std::thread::hardware_concurrency());
}

// Calls work(index) for 0 <= index < count, each once, in no particular order; by as many workers
// as there are cores when `workers_wanted` is 0.
template <typename Work>
void each_in_parallel(int64_t count, const Work& work, unsigned workers_wanted = 0) {
  std::atomic<int64_t> next{0};
  const auto drain = [&] {
    for (int64_t index = next++; index < count; index = next++) work(index);
  };
  std::vector<std::thread> workers;
  if (workers_wanted == 0) workers_wanted = host_workers();
  const int64_t extra = std::min<int64_t>(workers_wanted, count) - 1;
  for (int64_t i = 0; i < extra; ++i) workers.emplace_back(drain);
  drain();
  for (std::thread& worker : workers) worker.join();
}

}  // namespace weft
