// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/ncu_page.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace weft::judge {
namespace {

constexpr std::string_view kKernel = "\"Kernel Name\",";
constexpr std::string_view kWarps = "Instructions Executed";
constexpr std::string_view kThreads = "Predicated-On Thread Instructions Executed";

using Table = std::vector<SassCount>;

// The next field of a line of quoted fields, without its quotes; a quote inside is doubled.
std::optional<std::string> next_field(std::string_view& line) {
  if (line.empty() || line.front() != '"') return std::nullopt;
  std::string field;
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] != '"') {
      field += line[i];
    } else if (i + 1 < line.size() && line[i + 1] == '"') {
      field += line[i++];
    } else {
      line.remove_prefix(i + 1);
      if (!line.empty() && line.front() == ',') line.remove_prefix(1);
      return field;
    }
  }
  return std::nullopt;
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> all;
  while (std::optional<std::string> field = next_field(line)) all.push_back(std::move(*field));
  return all;
}

std::optional<uint64_t> number(std::string_view text, int base) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

size_t column_of(const std::vector<std::string>& header, std::string_view name) {
  return static_cast<size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

class Reader {
 public:
  Result<std::vector<Table>> read(std::string_view text) {
    for (unsigned number = 1; !text.empty(); ++number) {
      const size_t end = std::min(text.find('\n'), text.size());
      TRY(read_line(text.substr(0, end), number));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::move(tables_);
  }

 private:
  Result<Done> read_line(std::string_view line, unsigned place) {
    if (line.starts_with("==ERROR==")) return Error("ncu: " + std::string(line.substr(9)));
    if (line.empty() || line.front() != '"') return Done{};
    const std::vector<std::string> fields = fields_of(line);
    if (line.starts_with(kKernel)) {
      if (fields.size() < 2) return broken(place, "a kernel without a name");
      function_ = fields[1];
      header_.clear();
      tables_.emplace_back();
      return Done{};
    }
    if (tables_.empty()) return broken(place, "a row before the first kernel");
    if (header_.empty()) {
      header_ = fields;
      warps_ = column_of(header_, kWarps);
      threads_ = column_of(header_, kThreads);
      if (warps_ == header_.size() || threads_ == header_.size())
        return broken(place, "no column of executed instructions");
      return Done{};
    }
    if (fields.size() <= std::max(warps_, threads_)) return broken(place, "a short row");
    const auto address = number(fields[0], 16);
    const auto warps = number(fields[warps_], 10), threads = number(fields[threads_], 10);
    if (!address || !warps || !threads) return broken(place, "a number is expected");
    Table& table = tables_.back();
    if (table.empty()) start_ = *address;
    table.push_back({function_, static_cast<uint32_t>(*address - start_), *warps, *threads});
    return Done{};
  }

  static Error broken(unsigned place, const char* what) {
    return Error(fmt::format("ncu's table, line {}: {}", place, what));
  }

  std::vector<Table> tables_;
  std::string function_;
  std::vector<std::string> header_;
  size_t warps_ = 0, threads_ = 0;
  uint64_t start_ = 0;  // address of the function's first instruction
};

}  // namespace

std::vector<std::string> ncu_options(const std::string& log_file) {
  return {"--profile-from-start",
          "off",
          "--section",
          "SourceCounters",
          "--page",
          "source",
          "--print-source",
          "sass",
          "--csv",
          "--print-kernel-base",
          "mangled",
          "--log-file",
          log_file};
}

Result<std::vector<SassCount>> read_ncu_page(std::string_view text, uint64_t launches) {
  const std::vector<Table> tables = TRY(Reader().read(text));
  if (launches == 0 || tables.empty() || tables.size() % launches != 0) {
    return Error(fmt::format("ncu printed {} tables for {} launches", tables.size(), launches));
  }
  const size_t copies = tables.size() / launches;
  std::map<std::pair<std::string, uint32_t>, SassCount> sums;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (i % copies != 0) {
      if (tables[i] != tables[i - 1])
        return Error(fmt::format("ncu's tables {} and {} should be of one launch", i, i + 1));
      continue;
    }
    for (const SassCount& one : tables[i]) {
      SassCount& sum = sums[{one.function, one.offset}];
      sum.function = one.function;
      sum.offset = one.offset;
      sum.warps += one.warps;
      sum.threads += one.threads;
    }
  }
  std::vector<SassCount> all;
  for (auto& [place, sum] : sums) all.push_back(std::move(sum));
  return all;
}

}  // namespace weft::judge
