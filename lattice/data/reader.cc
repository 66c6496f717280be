// SPDX-License-Identifier: Apache-2.0

// Which rows make a batch is decided under a lock, batch by batch; gathering them is the work, and
// runs in parallel. Batches are handed out in their order.
#include "lattice/data/reader.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <thread>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "base/mix.h"

namespace weft::lattice {
namespace {

template <typename T>
std::span<const T> values(const std::map<std::string, TensorView>& tensors, const char* name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) return {};
  return {reinterpret_cast<const T*>(found->second.bytes.data()),
          found->second.bytes.size() / sizeof(T)};
}

// Everything of a shard that a row is gathered from.
struct Columns {
  uint64_t rows;
  std::span<const int32_t> categorical, domain, sequence;
  std::span<const float> dense, label, sequence_age;
  std::span<const uint8_t> dense_present, label_known, window;
  std::span<const uint64_t> id;
  std::span<const int64_t> sequence_offsets, time;
};

struct RowPlace {
  uint32_t shard, row;
};

// Every tensor has the type and the shape that gathering relies on.
Result<Done> check(const ShardIndex& index, uint64_t n, const std::string& file,
                   const std::map<std::string, TensorView>& tensors) {
  const bool sequences = !index.sequences.empty();
  const auto offsets = values<int64_t>(tensors, "sequence_offsets");
  const uint64_t events =
      offsets.empty() ? 0 : static_cast<uint64_t>(std::max<int64_t>(0, offsets.back()));
  const auto has = [&](const char* name) {
    return std::find(index.row_columns.begin(), index.row_columns.end(), name) !=
           index.row_columns.end();
  };
  struct Expected {
    const char *name, *type;
    std::vector<uint64_t> shape;
    bool there;
  };
  const std::vector<Expected> expected = {
      {"categorical", "I32", {index.tables.size(), n}, true},
      {"dense", "F32", {n, index.dense.size()}, true},
      {"dense_present", "U8", {n, index.dense.size()}, true},
      {"label", "F32", {n, index.labels.size()}, true},
      {"label_known", "U8", {n, index.labels.size()}, true},
      {"domain", "I32", {n}, !index.domains.empty()},
      {"window", "U8", {n}, !index.windows.empty()},
      {"id", "U64", {n}, has("id")},
      {"time", "I64", {n}, has("time")},
      {"sequence_offsets", "I64", {n + 1}, sequences},
      {"sequence", "I32", {index.sequences.size(), events}, sequences},
      {"sequence_age", "F32", {events}, sequences}};
  for (const Expected& one : expected) {
    const auto found = tensors.find(one.name);
    const bool right = found == tensors.end() ? !one.there
                                              : one.there && found->second.type == one.type &&
                                                    found->second.shape == one.shape;
    if (!right || n == 0)
      return Error(Diagnostic{
          .message = fmt::format("the shard's tensor {} is not what the index says", one.name),
          .hint = "run lattice ingest again",
          .file = file});
  }
  if (!offsets.empty() && (offsets.front() != 0 || !std::is_sorted(offsets.begin(), offsets.end())))
    return Error(Diagnostic{.message = "the shard's sequence_offsets do not ascend from 0",
                            .hint = "run lattice ingest again",
                            .file = file});
  return Done{};
}

}  // namespace

Result<ShardSet> ShardSet::open(const std::string& folder, const std::string& split) {
  return open(folder, std::vector<std::string>{split});
}

Result<ShardSet> ShardSet::open(const std::string& folder, const std::vector<std::string>& splits) {
  ShardSet set;
  set.index_ = TRY(ShardIndex::read(folder));
  std::vector<ShardIndex::Shard> shards;
  for (const std::string& split : splits) {
    const ShardIndex::Split& entry = *TRY(set.index_.split(split));
    shards.insert(shards.end(), entry.shards.begin(), entry.shards.end());
  }
  for (const ShardIndex::Shard& one : shards) {
    const std::string file = folder + "/" + one.file;
    const std::string now = TRY(fingerprint(file));
    if (now != one.fingerprint)
      return Error(Diagnostic{
          .message = "the shard is not the one that was written: it was cut short or replaced",
          .hint = "run lattice ingest again",
          .file = file});
    Shard shard{.file = file, .rows = one.rows, .content = TRY(Safetensors::open(file))};
    TRY(check(set.index_, one.rows, file, shard.content.tensors()));
    set.rows_ += shard.rows;
    set.shards_.push_back(std::move(shard));
  }
  if (set.rows_ == 0)
    return Error(
        Diagnostic{.message = fmt::format("the split {} has no rows", fmt::join(splits, ", ")),
                   .file = folder});
  return set;
}

std::optional<std::pair<int64_t, int64_t>> ShardSet::time_range() const {
  std::optional<std::pair<int64_t, int64_t>> range;
  for (const Shard& shard : shards_) {
    const auto times = values<int64_t>(shard.content.tensors(), "time");
    if (times.empty()) return std::nullopt;
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    if (!range) range.emplace(*least, *most);
    range->first = std::min(range->first, *least);
    range->second = std::max(range->second, *most);
  }
  return range;
}

struct BatchStream::State {
  ReaderOptions options;
  std::vector<Columns> shards;

  // The plan: shards in their order, and the shuffled rows of those taken last.
  std::mutex guard;
  std::vector<uint32_t> shard_order;
  size_t next_shard = 0, next_row = 0;
  std::vector<RowPlace> rows;
  uint64_t batches_planned = 0;

  std::condition_variable changed;
  std::map<uint64_t, Batch> ready;
  uint64_t delivered = 0;
  unsigned working = 0;
  bool stopping = false;
  std::vector<std::thread> workers;

  std::vector<RowPlace> plan();
  void take_shards();
  void gather(std::span<const RowPlace> places, Batch& batch) const;
  void work();
};

void BatchStream::State::take_shards() {
  rows.clear();
  next_row = 0;
  const size_t at_once = options.order == RowOrder::Shuffled ? options.shards_at_once
                         : options.order == RowOrder::ByTime ? shards.size()
                                                             : 1;
  const uint64_t first = next_shard;
  for (size_t i = 0; i < at_once && next_shard < shard_order.size(); ++i, ++next_shard)
    for (uint32_t row = 0; row < shards[shard_order[next_shard]].rows; ++row)
      rows.push_back({shard_order[next_shard], row});
  if (options.order == RowOrder::AsWritten) return;
  if (options.order == RowOrder::ByTime) {
    const auto time = [&](RowPlace place) {
      const auto& times = shards[place.shard].time;
      return times.empty() ? 0 : times[place.row];
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](RowPlace a, RowPlace b) { return time(a) < time(b); });
    return;
  }
  for (uint64_t i = rows.size(); i > 1; --i)
    std::swap(rows[i - 1], rows[mix(mix(options.seed, first), i) % i]);
}

// The rows of the next batch; called under the lock.
std::vector<RowPlace> BatchStream::State::plan() {
  std::vector<RowPlace> places;
  while (places.size() < options.batch_rows) {
    if (next_row == rows.size()) {
      if (next_shard == shard_order.size()) break;
      take_shards();
      continue;
    }
    const size_t count =
        std::min<size_t>(options.batch_rows - places.size(), rows.size() - next_row);
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(next_row);
    places.insert(places.end(), from, from + static_cast<std::ptrdiff_t>(count));
    next_row += count;
  }
  return places;
}

void BatchStream::State::gather(std::span<const RowPlace> places, Batch& batch) const {
  const uint64_t n = places.size();
  batch.rows = n;
  // Values that lie beside each other in a row: `width` of them.
  const auto gather_rows = [&](auto member, auto& to) {
    const Columns& any = shards[places.front().shard];
    const size_t width = any.rows == 0 ? 0 : (any.*member).size() / any.rows;
    to.resize(width * n);
    for (uint64_t i = 0; i < n; ++i) {
      const auto& from = shards[places[i].shard].*member;
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(places[i].row * width), width,
                  to.begin() + static_cast<std::ptrdiff_t>(i * width));
    }
  };
  gather_rows(&Columns::dense, batch.dense);
  gather_rows(&Columns::dense_present, batch.dense_present);
  gather_rows(&Columns::label, batch.label);
  gather_rows(&Columns::label_known, batch.label_known);
  gather_rows(&Columns::domain, batch.domain);
  gather_rows(&Columns::window, batch.window);
  gather_rows(&Columns::id, batch.id);
  gather_rows(&Columns::time, batch.time);
  const Columns& any = shards[places.front().shard];
  const size_t columns = any.categorical.size() / any.rows;
  batch.categorical.resize(columns * n);
  for (size_t c = 0; c < columns; ++c)
    for (uint64_t i = 0; i < n; ++i) {
      const Columns& shard = shards[places[i].shard];
      batch.categorical[c * n + i] = shard.categorical[c * shard.rows + places[i].row];
    }
  if (any.sequence_offsets.empty()) return;
  batch.sequence_offsets.assign(1, 0);
  for (const RowPlace place : places) {
    const auto& offsets = shards[place.shard].sequence_offsets;
    batch.sequence_offsets.push_back(batch.sequence_offsets.back() + offsets[place.row + 1] -
                                     offsets[place.row]);
  }
  const auto events = static_cast<size_t>(batch.sequence_offsets.back());
  size_t sequences = 0;
  for (const Columns& shard : shards)
    if (!shard.sequence_age.empty()) sequences = shard.sequence.size() / shard.sequence_age.size();
  batch.sequence.resize(sequences * events);
  batch.sequence_age.resize(events);
  for (uint64_t i = 0; i < n; ++i) {
    const Columns& shard = shards[places[i].shard];
    const auto from = static_cast<size_t>(shard.sequence_offsets[places[i].row]);
    const auto to = static_cast<size_t>(batch.sequence_offsets[i]);
    const auto count = static_cast<size_t>(batch.sequence_offsets[i + 1]) - to;
    std::copy_n(shard.sequence_age.data() + from, count, batch.sequence_age.data() + to);
    for (size_t c = 0; c < sequences; ++c)
      std::copy_n(shard.sequence.data() + c * shard.sequence_age.size() + from, count,
                  batch.sequence.data() + c * events + to);
  }
}

void BatchStream::State::work() {
  std::unique_lock lock(guard);
  for (;;) {
    changed.wait(lock, [&] { return stopping || batches_planned < delivered + options.ahead; });
    if (stopping) break;
    const std::vector<RowPlace> places = plan();
    if (places.empty()) break;
    const uint64_t number = batches_planned++;
    lock.unlock();
    Batch batch;
    gather(places, batch);
    lock.lock();
    ready.emplace(number, std::move(batch));
    changed.notify_all();
  }
  --working;
  changed.notify_all();
}

BatchStream::BatchStream(const ShardSet& set, const ReaderOptions& options)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.options = options;
  for (const ShardSet::Shard& shard : set.shards_) {
    const auto& tensors = shard.content.tensors();
    state.shards.push_back({.rows = shard.rows,
                            .categorical = values<int32_t>(tensors, "categorical"),
                            .domain = values<int32_t>(tensors, "domain"),
                            .sequence = values<int32_t>(tensors, "sequence"),
                            .dense = values<float>(tensors, "dense"),
                            .label = values<float>(tensors, "label"),
                            .sequence_age = values<float>(tensors, "sequence_age"),
                            .dense_present = values<uint8_t>(tensors, "dense_present"),
                            .label_known = values<uint8_t>(tensors, "label_known"),
                            .window = values<uint8_t>(tensors, "window"),
                            .id = values<uint64_t>(tensors, "id"),
                            .sequence_offsets = values<int64_t>(tensors, "sequence_offsets"),
                            .time = values<int64_t>(tensors, "time")});
  }
  state.shard_order.resize(state.shards.size());
  std::iota(state.shard_order.begin(), state.shard_order.end(), 0u);
  if (options.order == RowOrder::Shuffled)
    std::sort(state.shard_order.begin(), state.shard_order.end(),
              [&](uint32_t a, uint32_t b) { return mix(options.seed, a) < mix(options.seed, b); });
  const unsigned workers = std::max(1u, options.workers);
  state.working = workers;  // falls as they end, so the loop counts by its own
  for (unsigned i = 0; i < workers; ++i) state.workers.emplace_back([&state] { state.work(); });
}

BatchStream::~BatchStream() {
  {
    const std::lock_guard lock(state_->guard);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

bool BatchStream::next(Batch& batch) {
  State& state = *state_;
  std::unique_lock lock(state.guard);
  state.changed.wait(lock,
                     [&] { return state.ready.count(state.delivered) != 0 || state.working == 0; });
  const auto found = state.ready.find(state.delivered);
  if (found == state.ready.end()) return false;
  batch = std::move(found->second);
  state.ready.erase(found);
  ++state.delivered;
  state.changed.notify_all();
  return true;
}

}  // namespace weft::lattice
