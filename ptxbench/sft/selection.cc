// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/sft/selection.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/near_match.h"
#include "base/text_file.h"
#include "ptxbench/sft/cuda_text.h"

namespace weft::sft {
namespace {

// FNV-1a over the tokens and a separator after each.
uint64_t hash_of(const std::vector<Token>& tokens, size_t from, size_t to) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (size_t i = from; i < to; ++i) {
    for (const char c : tokens[i].text) mix(static_cast<unsigned char>(c));
    mix(0);
  }
  return hash;
}

void sort_once(Shingles& set) {
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
}

}  // namespace

Shingles shingles(std::string_view source) {
  const std::vector<Token> tokens = tokens_of(source);
  Shingles set;
  for (size_t i = 0; i + kShingle <= tokens.size(); ++i)
    set.push_back(hash_of(tokens, i, i + kShingle));
  if (set.empty() && !tokens.empty()) set.push_back(hash_of(tokens, 0, tokens.size()));
  sort_once(set);
  return set;
}

Shingles change_shingles(std::string_view wrong, std::string_view fixed) {
  const Shingles before = shingles(wrong), after = shingles(fixed);
  Shingles lost, gained;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(lost));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(gained));
  // A repair and the fault that undoes it are not the same.
  for (const uint64_t hash : gained) lost.push_back(hash * 3 + 1);
  sort_once(lost);
  return lost;
}

double jaccard(const Shingles& a, const Shingles& b) {
  if (a.empty() && b.empty()) return 1;
  Shingles shared;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
  return static_cast<double>(shared.size()) /
         static_cast<double>(a.size() + b.size() - shared.size());
}

std::optional<size_t> NearDuplicates::add(const Shingles& row) {
  std::unordered_map<uint32_t, size_t> shared;
  for (const uint64_t hash : row)
    if (const auto rows = rows_of_.find(hash); rows != rows_of_.end())
      for (const uint32_t other : rows->second) ++shared[other];
  std::optional<size_t> found;
  for (const auto& [other, count] : shared) {
    const double similarity =
        static_cast<double>(count) / static_cast<double>(row.size() + sizes_[other] - count);
    if (similarity >= threshold_ && (!found || other < *found)) found = other;
  }
  if (found) return found;
  for (const uint64_t hash : row) rows_of_[hash].push_back(static_cast<uint32_t>(sizes_.size()));
  sizes_.push_back(row.size());
  return std::nullopt;
}

Result<HeldOut> read_held_out(const std::string& path) {
  const Json json = TRY(read_json(path));
  const auto wrong = [&](const std::string& message, const std::string& hint) {
    return Error(Diagnostic{.message = message, .hint = hint, .file = path});
  };
  const std::vector<std::string> known = {"plans", "definitions", "workloads", "axes", "kernels"};
  if (!json.is_object())
    return wrong("not a list of what is held out", "an object with definitions, workloads, ...");
  for (const auto& [key, value] : json.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      return wrong("unknown key: " + key, suggestion(key, known, "keys"));
  try {
    HeldOut held_out{.definitions = json.value("definitions", std::vector<std::string>()),
                     .workloads = json.value("workloads", std::vector<std::string>()),
                     .axes = json.value("axes", std::vector<std::map<std::string, int64_t>>()),
                     .kernels = {}};
    const auto folder = std::filesystem::path(path).parent_path();
    for (const std::string& name : json.value("plans", std::vector<std::string>())) {
      const Json plan = TRY(read_json((folder / name).string()));
      for (const Json& task : plan.at("tasks"))
        held_out.definitions.push_back(task.at("definition"));
    }
    for (const std::string& name : json.value("kernels", std::vector<std::string>()))
      held_out.kernels.emplace_back(name, shingles(TRY(read_file((folder / name).string()))));
    return held_out;
  } catch (const nlohmann::json::exception& error) {
    return wrong(fmt::format("not a list of what is held out: {}", error.what()),
                 "lists of texts, and of objects with numbers for axes");
  }
}

std::string contamination(const HeldOut& held_out, const Pair& pair, double threshold) {
  const auto in = [](const std::vector<std::string>& list, const std::string& word) {
    return !word.empty() && std::find(list.begin(), list.end(), word) != list.end();
  };
  if (in(held_out.definitions, pair.definition)) return "held out: definition " + pair.definition;
  if (in(held_out.workloads, pair.workload_uuid)) return "held out: workload " + pair.workload_uuid;
  for (const auto& shape : held_out.axes) {
    const bool same =
        !shape.empty() && std::all_of(shape.begin(), shape.end(), [&](const auto& axis) {
          const auto found = pair.axes.find(axis.first);
          return found != pair.axes.end() && found->second == axis.second;
        });
    if (same) return "held out: shape";
  }
  for (const JudgedKernel* kernel : {&pair.wrong, &pair.fixed}) {
    if (held_out.kernels.empty()) break;
    const Shingles text = shingles(kernel->source);
    for (const auto& [path, other] : held_out.kernels)
      if (jaccard(text, other) >= threshold) return "held out: kernel " + path;
  }
  return "";
}

Selected select(std::vector<Pair> pairs, const PairFilter& filter) {
  Selected selected;
  const auto reason_against = [&](const Pair& pair) -> std::string {
    const agent::VerdictSummary &wrong = pair.wrong.verdict, &fixed = pair.fixed.verdict;
    if (!fixed.passed()) return "the repair is not right: " + fixed.status;
    if (wrong.error_class == "passed") return "the wrong kernel is right";
    if (!filter.status.empty() && wrong.status != filter.status) return "status " + wrong.status;
    if (!filter.family.empty() &&
        (fixed.audited != std::optional(true) || fixed.arch_tag != filter.family))
      return "the repair is not audited for family " + filter.family;
    if (filter.minimum_speedup) {
      if (!fixed.speedup) return "the repair's speed-up was not measured";
      if (*fixed.speedup < *filter.minimum_speedup)
        return fmt::format("speed-up {:.3f}", *fixed.speedup);
    }
    return "";
  };
  std::map<std::string, size_t> place_of;  // by wrong kernel and task
  for (Pair& pair : pairs) {
    if (std::string reason = reason_against(pair); !reason.empty()) {
      selected.dropped.emplace_back(pair.id, std::move(reason));
      continue;
    }
    std::string key = pair.definition + "\n" + pair.wrong.source;
    for (const auto& [name, value] : pair.axes) key += fmt::format("\n{}={}", name, value);
    const auto [place, fresh] = place_of.try_emplace(std::move(key), selected.pairs.size());
    if (fresh || filter.keep == Keep::All) {
      selected.pairs.push_back(std::move(pair));
      continue;
    }
    Pair& kept = selected.pairs[place->second];
    const bool better = filter.keep == Keep::Latest || pair.fixed.verdict.speedup.value_or(0) >
                                                           kept.fixed.verdict.speedup.value_or(0);
    if (better) std::swap(kept, pair);
    selected.dropped.emplace_back(pair.id, filter.keep == Keep::Latest
                                               ? "a later repair is there"
                                               : "a better repair is there");
  }
  return selected;
}

}  // namespace weft::sft
