// SPDX-License-Identifier: Apache-2.0

// Two passes over the impressions: one for the sketches of all rows, one of a sample for the probe.
#include "lattice/consolidation/partition.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/near_match.h"
#include "base/table/sql_text.h"
#include "base/text_file.h"
#include "lattice/consolidation/gradient_probe.h"
#include "lattice/consolidation/partition_report.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

using table::Chunk;
using table::Database;
using table::quoted_name;
using table::quoted_text;
using table::Rows;

constexpr uint64_t kSketchMemory = 1'000'000'000;

class Partitioner {
 public:
  Partitioner(const PartitionConfiguration& configuration, std::string scratch,
              const PartitionOptions& options)
      : c_(configuration), scratch_(std::move(scratch)), options_(options) {}

  Result<Json> work();
  Result<Json> measure();

 private:
  Result<Done> open_sources();
  Result<Done> sketch_domains();
  Result<Done> measure_conversions();
  Result<Done> probe_gradients();
  std::string conversions() const;

  const PartitionConfiguration& c_;
  const std::string scratch_;
  const PartitionOptions options_;
  std::optional<Database> database_;
  std::optional<Source> shown_, dense_, reports_;
  std::vector<DomainStatistics> domains_;
  std::vector<Portfolio> portfolios_;  // domain x objective
  std::optional<GradientProbe> probe_;
};

std::vector<Field> shown_fields(const PartitionConfiguration& c) {
  return {{.name = c.domain},
          {.name = c.user, .type = FieldType::Id},
          {.name = c.item, .type = FieldType::Id},
          {.name = c.impression_id, .type = FieldType::Id},
          {.name = c.time, .type = FieldType::Time}};
}

std::vector<Field> dense_fields(const PartitionConfiguration& c) {
  std::vector<Field> fields = {{.name = c.domain},
                               {.name = c.impression_id, .type = FieldType::Id}};
  for (const std::string& name : c.probe)
    fields.push_back({.name = name, .type = FieldType::Real, .presence = Presence::Optional});
  return fields;
}

std::vector<Field> report_fields(const PartitionConfiguration& c) {
  std::vector<Field> fields = {{.name = c.event_id, .type = FieldType::Id},
                               {.name = c.impression_id, .type = FieldType::Id},
                               {.name = c.objective},
                               {.name = c.time, .type = FieldType::Time}};
  if (!c.refund_of.empty())
    fields.push_back({.name = c.refund_of, .type = FieldType::Id, .presence = Presence::Optional});
  return fields;
}

Result<Done> Partitioner::open_sources() {
  database_ = TRY(Database::open(
      {.threads = options_.workers, .memory_bytes = kSketchMemory, .spill_directory = scratch_}));
  TRY(database_->execute("SET preserve_insertion_order = false"));
  shown_ = TRY(Source::open(*database_, "impressions", c_.base, {.files = c_.impressions},
                            shown_fields(c_)));
  dense_ = TRY(Source::open(*database_, "impressions", c_.base, {.files = c_.impressions},
                            dense_fields(c_)));
  reports_ =
      TRY(Source::open(*database_, "feedback", c_.base, {.files = c_.feedback}, report_fields(c_)));
  return Done{};
}

Result<Done> Partitioner::sketch_domains() {
  Result<Rows> rows = database_->query("SELECT * EXCLUDE (" + quoted_name(c_.time) + ") FROM (" +
                                       shown_->select() + ")");
  if (!rows.ok()) return shown_->locate(rows.error());
  Chunk chunk;
  size_t last = 0;  // neighbours are often of one domain
  for (;;) {
    const Result<bool> more = rows->next(chunk);
    if (!more.ok()) return shown_->locate(more.error());
    if (!*more) break;
    const auto users = chunk.unsigneds(1), items = chunk.unsigneds(2);
    for (size_t r = 0; r < chunk.size(); ++r) {
      if (chunk.is_null(0, r) || chunk.is_null(1, r) || chunk.is_null(2, r))
        return shown_->locate(Error("an impression without domain, user or item"));
      const std::string_view name = chunk.text(0, r);
      if (last >= domains_.size() || domains_[last].name != name) {
        last = static_cast<size_t>(
            std::find_if(domains_.begin(), domains_.end(),
                         [&](const DomainStatistics& one) { return one.name == name; }) -
            domains_.begin());
        if (last == domains_.size()) domains_.push_back({.name = std::string(name)});
        if (domains_.size() > 1000)
          return Error(fmt::format("more than 1000 domains in the column \"{}\"", c_.domain),
                       "is it the right column?");
      }
      DomainStatistics& domain = domains_[last];
      ++domain.rows;
      domain.users.add(users[r]);
      domain.items.add(items[r]);
    }
    options_.progress("impressions sketched", chunk.size());
  }
  if (domains_.empty()) return Error("the impressions have no rows");
  // Rows come in any order; names do not.
  std::sort(domains_.begin(), domains_.end(),
            [](const DomainStatistics& a, const DomainStatistics& b) { return a.name < b.name; });
  return Done{};
}

// Distinct conversions that were not reported as refunds.
std::string Partitioner::conversions() const {
  const std::string kept =
      c_.refund_of.empty() ? "" : fmt::format(" WHERE {} IS NULL", quoted_name(c_.refund_of));
  return fmt::format(
      "SELECT {0} AS event, min({1}) AS impression, min({2}) AS objective, min({3}) AS happened "
      "FROM ({4}){5} GROUP BY {0}",
      quoted_name(c_.event_id), quoted_name(c_.impression_id), quoted_name(c_.objective),
      quoted_name(c_.time), reports_->select(), kept);
}

Result<Done> Partitioner::measure_conversions() {
  for (const DomainStatistics& domain : domains_)
    for (const std::string& objective : c_.objectives) {
      const auto known = c_.portfolios.find(domain.name + "/" + objective);
      Portfolio portfolio = known == c_.portfolios.end() ? Portfolio{} : known->second;
      portfolio.domain = domain.name;
      portfolio.objective = objective;
      portfolio.impressions = domain.rows;
      portfolios_.push_back(portfolio);
    }
  for (const auto& [name, portfolio] : c_.portfolios)
    if (std::none_of(portfolios_.begin(), portfolios_.end(),
                     [&](const Portfolio& one) { return one.name() == name; })) {
      std::vector<std::string> names;
      for (const Portfolio& one : portfolios_) names.push_back(one.name());
      return Error("no impressions of the portfolio " + name,
                   suggestion(name, names, "portfolios in the log"));
    }
  Result<Rows> rows = database_->query(
      fmt::format("SELECT s.{0}, c.objective, count(*)::UBIGINT, "
                  "median(epoch_us(c.happened) - epoch_us(s.{1}))::DOUBLE FROM ({2}) c "
                  "JOIN ({3}) s ON s.{4} = c.impression GROUP BY ALL ORDER BY ALL",
                  quoted_name(c_.domain), quoted_name(c_.time), conversions(), shown_->select(),
                  quoted_name(c_.impression_id)));
  if (!rows.ok()) return reports_->locate(rows.error());
  Chunk chunk;
  for (;;) {
    const Result<bool> more = rows->next(chunk);
    if (!more.ok()) return reports_->locate(more.error());
    if (!*more) break;
    for (size_t r = 0; r < chunk.size(); ++r) {
      const std::string name = std::string(chunk.text(0, r)) + "/" + std::string(chunk.text(1, r));
      for (Portfolio& portfolio : portfolios_) {
        if (portfolio.name() != name) continue;
        portfolio.conversions = chunk.unsigneds(2)[r];
        portfolio.rate =
            static_cast<double>(portfolio.conversions) / static_cast<double>(portfolio.impressions);
        portfolio.median_delay_seconds = chunk.reals(3)[r] / kMicroseconds;
      }
    }
  }
  return Done{};
}

Result<Done> Partitioner::probe_gradients() {
  const size_t features = c_.probe.size(), objectives = c_.objectives.size();
  if (features == 0) return Done{};
  uint64_t total = 0;
  for (const DomainStatistics& domain : domains_) total += domain.rows;
  const uint64_t stride = std::max<uint64_t>(1, total / c_.probe_rows);
  std::string columns, moments, labels;
  for (const std::string& name : c_.probe) {
    columns += ", d." + quoted_name(name);
    moments +=
        fmt::format("{0}avg({1}), stddev_pop({1})", moments.empty() ? "" : ", ", quoted_name(name));
  }
  for (size_t o = 0; o < objectives; ++o)
    labels +=
        fmt::format(", bool_or(objective = {})::BIGINT AS y{}", quoted_text(c_.objectives[o]), o);
  // Ids may run in steps, so the sample goes by a mixed id.
  const std::string sample = fmt::format("SELECT * FROM ({}) WHERE hash({}) % {} = 0",
                                         dense_->select(), quoted_name(c_.impression_id), stride);
  // Sums depend on the order in which threads add up; one thread has one order.
  TRY(database_->execute("SET threads = 1"));
  const Result<std::vector<std::string>> found =
      database_->row("SELECT " + moments + " FROM (" + sample + ")");
  TRY(database_->execute("RESET threads"));
  if (!found.ok()) return dense_->locate(found.error());
  std::vector<float> means, scales;
  for (size_t f = 0; f < features; ++f) {
    means.push_back((*found)[2 * f].empty() ? 0 : std::strtof((*found)[2 * f].c_str(), nullptr));
    const float deviation =
        (*found)[2 * f + 1].empty() ? 0 : std::strtof((*found)[2 * f + 1].c_str(), nullptr);
    scales.push_back(deviation > 0 ? 1 / deviation : 0);
  }
  std::string ys;
  for (size_t o = 0; o < objectives; ++o) ys += fmt::format(", coalesce(y{}, 0)", o);
  Result<Rows> rows =
      database_->query(fmt::format("SELECT d.{0}, d.{1}{2}{3} FROM ({4}) d LEFT JOIN (SELECT "
                                   "impression{5} FROM ({6}) GROUP BY 1) l ON "
                                   "l.impression = d.{1} ORDER BY d.{1}",
                                   quoted_name(c_.domain), quoted_name(c_.impression_id), columns,
                                   ys, sample, labels, conversions()));
  if (!rows.ok()) return dense_->locate(rows.error());
  probe_.emplace(portfolios_.size(), features);
  std::vector<float> values(features);
  Chunk chunk;
  uint64_t number = 0;
  for (;;) {
    const Result<bool> more = rows->next(chunk);
    if (!more.ok()) return dense_->locate(more.error());
    if (!*more) break;
    for (size_t r = 0; r < chunk.size(); ++r, ++number) {
      const std::string_view name = chunk.text(0, r);
      size_t domain = 0;
      while (domain + 1 < domains_.size() && domains_[domain].name != name) ++domain;
      for (size_t f = 0; f < features; ++f) {
        const double value = chunk.is_null(2 + f, r) ? means[f] : chunk.reals(2 + f)[r];
        if (!std::isfinite(value)) return dense_->locate(Error("a value that is not finite"));
        // A few extreme values would own the gradient.
        values[f] = std::clamp((static_cast<float>(value) - means[f]) * scales[f], -4.0f, 4.0f);
      }
      for (size_t o = 0; o < objectives; ++o) {
        const size_t p = domain * objectives + o;
        const auto label = static_cast<float>(chunk.integers(2 + features + o)[r]);
        probe_->add(p, static_cast<int>(number % 2), values,
                    static_cast<float>(portfolios_[p].rate) - label);
      }
    }
    options_.progress("impressions probed", chunk.size());
  }
  return Done{};
}

Result<Json> Partitioner::measure() {
  TRY(open_sources());
  TRY(sketch_domains());
  TRY(measure_conversions());
  return overlap_report(domains_, portfolios_);
}

Result<Json> Partitioner::work() {
  TRY(open_sources());
  TRY(sketch_domains());
  TRY(measure_conversions());
  TRY(probe_gradients());
  const size_t count = portfolios_.size(), objectives = c_.objectives.size();
  std::vector<std::vector<Likeness>> likeness(count, std::vector<Likeness>(count));
  for (size_t i = 0; i < count; ++i)
    for (size_t j = i + 1; j < count; ++j) {
      const DomainStatistics &a = domains_[i / objectives], &b = domains_[j / objectives];
      Likeness& like = likeness[i][j];
      if (&a != &b) like = overlap(a, b);
      if (probe_) like.gradient_cosine = probe_->cosine(i, j, c_.least_gradient);
    }
  return partition_report(domains_, portfolios_, likeness,
                          group_portfolios(portfolios_, likeness, c_.policy));
}

}  // namespace

Result<std::vector<std::string>> partition_inputs(const PartitionConfiguration& c) {
  Database database = TRY(Database::open({.threads = 1}));
  const Source shown =
      TRY(Source::open(database, "impressions", c.base, {.files = c.impressions}, shown_fields(c)));
  const Source reports =
      TRY(Source::open(database, "feedback", c.base, {.files = c.feedback}, report_fields(c)));
  std::vector<std::string> paths = shown.paths();
  paths.insert(paths.end(), reports.paths().begin(), reports.paths().end());
  return paths;
}

Result<Json> measure_portfolios(const PartitionConfiguration& configuration, unsigned workers) {
  return Partitioner(configuration, "", {.workers = workers}).measure();
}

Result<Json> partition(const PartitionConfiguration& configuration, RunFolder& run,
                       const PartitionOptions& options) {
  std::error_code ignored;
  const std::string scratch = run.file("scratch.draft");
  std::filesystem::remove_all(scratch, ignored);
  const Json result = TRY(Partitioner(configuration, scratch, options).work());
  std::filesystem::remove_all(scratch, ignored);
  TRY(write_json(run.file("partition.json"), result));
  TRY(run.record("partition.json"));
  TRY(run.finish(result));
  return result;
}

}  // namespace weft::lattice
