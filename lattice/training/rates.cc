// SPDX-License-Identifier: Apache-2.0

#include "lattice/training/rates.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace weft::lattice {

void Rates::add(const Batch& batch, const std::vector<ShardIndex::Label>& labels) {
  for (uint64_t row = 0; row < batch.rows; ++row) {
    const auto domain = batch.domain.empty() ? 0 : static_cast<size_t>(batch.domain[row]);
    if (domain >= domains_) continue;
    ++domain_rows_[domain];
    for (size_t j = 0; j < tasks_; ++j) {
      if (batch.label_known[row * tasks_ + j] == 0) continue;
      const size_t window = !labels[j].windowed    ? 0
                            : batch.window.empty() ? windows_ - 1
                                                   : batch.window[row];
      Cell& cell = cells_[(domain * tasks_ + j) * windows_ + window];
      ++cell.rows;
      cell.positives += batch.label[row * tasks_ + j];
    }
  }
}

Rates::Cell Rates::sum(int32_t domain, size_t task, size_t window) const {
  Cell total;
  for (size_t d = 0; d < domains_; ++d) {
    if (domain >= 0 && static_cast<size_t>(domain) != d) continue;
    const Cell& cell = cells_[(d * tasks_ + task) * windows_ + window];
    total.rows += cell.rows;
    total.positives += cell.positives;
  }
  return total;
}

std::optional<double> Rates::rate(int32_t domain, size_t task, size_t window) const {
  const Cell total = sum(domain, task, window);
  if (total.rows == 0) return std::nullopt;
  return total.positives / static_cast<double>(total.rows);
}

std::vector<double> Rates::starting_rates(int32_t domain, size_t task, bool windowed) const {
  std::vector<double> rates;
  for (size_t window = 0; window < (windowed ? windows_ : 1); ++window)
    rates.push_back(std::clamp(rate(domain, task, window).value_or(0.5), 1e-4, 1 - 1e-4));
  return rates;
}

double Rates::share(int32_t domain) const {
  uint64_t all = 0;
  for (const uint64_t rows : domain_rows_) all += rows;
  if (domain < 0 || all == 0) return 1;
  return static_cast<double>(domain_rows_[static_cast<size_t>(domain)]) / static_cast<double>(all);
}

Json Rates::to_json() const {
  Json json = {{"shape", {domains_, tasks_, windows_}}, {"domain_rows", domain_rows_}};
  for (const Cell& cell : cells_) {
    json["rows"].push_back(cell.rows);
    json["positives"].push_back(cell.positives);
  }
  return json;
}

Rates Rates::from_json(const Json& json) {
  Rates rates(json["shape"][0], json["shape"][1], json["shape"][2]);
  for (size_t i = 0; i < rates.cells_.size(); ++i)
    rates.cells_[i] = {json["rows"][i].get<uint64_t>(), json["positives"][i].get<double>()};
  rates.domain_rows_ = json["domain_rows"].get<std::vector<uint64_t>>();
  return rates;
}

Rates count_rates(const BatchSource& source, const ShardIndex& schema) {
  Rates rates(std::max<size_t>(1, schema.domains.size()), schema.labels.size(),
              std::max<size_t>(1, schema.windows.size()));
  const Batches next = source.pass({.batch_rows = 16'384, .order = RowOrder::AsWritten});
  Batch batch;
  while (next(batch)) rates.add(batch, schema.labels);
  return rates;
}

}  // namespace weft::lattice
