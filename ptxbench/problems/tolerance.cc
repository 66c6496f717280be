// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/tolerance.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/near_match.h"
#include "ptxbench/problems/words.h"

namespace weft::problems {
namespace {

struct Field {
  std::string_view name;
  double Tolerance::*value;
  Tolerance::Kind kind;  // the rule that reads it
};
constexpr Field kFields[] = {
    {"absolute", &Tolerance::absolute, Tolerance::Kind::MatchedRatio},
    {"relative", &Tolerance::relative, Tolerance::Kind::MatchedRatio},
    {"matched_ratio", &Tolerance::matched_ratio, Tolerance::Kind::MatchedRatio},
    {"outlier_factor", &Tolerance::outlier_factor, Tolerance::Kind::MatchedRatio},
    {"norm_limit", &Tolerance::norm_limit, Tolerance::Kind::RelativeNorm},
    {"row_norm_limit", &Tolerance::row_norm_limit, Tolerance::Kind::RelativeNorm},
};

// What an operation asks of all its definitions. Gradients get twice the norm, since bfloat16
// rounds both P and dS.
struct OperationRow {
  std::string_view family, field;
  double value;
};
constexpr OperationRow kOperations[] = {{"mha_bwd", "norm_limit", 2e-2}};

// Errors this close to each other say nothing about which of two classes made them.
constexpr double kAlike = 1.6;
// An error this much larger than that of a class is not explained by it.
constexpr double kExplains = 4;

const Field* field_named(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFields), std::end(kFields),
                                   [&](const Field& field) { return field.name == name; });
  return found == std::end(kFields) ? nullptr : found;
}

Error unknown_field(std::string_view name) {
  std::vector<std::string> known;
  for (const Field& field : kFields) known.emplace_back(field.name);
  return Error(fmt::format("unknown part of a tolerance: \"{}\"", name),
               suggestion(name, known, "parts"));
}

// "norm_limit=0.012" as a name and a positive number.
Result<std::pair<std::string_view, double>> assignment(std::string_view text) {
  const size_t equals = std::min(text.find('='), text.size());
  const std::string_view digits = text.substr(std::min(equals + 1, text.size()));
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc() || end != digits.data() + digits.size() || !(value > 0)) {
    return Error(fmt::format("not NAME=NUMBER with a positive number: \"{}\"", text),
                 "write norm_limit=0.02");
  }
  return std::pair{text.substr(0, equals), value};
}

Result<Done> apply(Tolerance& tolerance, std::string_view field, double value,
                   const std::string& layer) {
  const Field* known = field_named(field);
  if (known == nullptr) return unknown_field(field);
  tolerance.*known->value = value;
  tolerance.layers[std::string(field)] = layer;
  return Done{};
}

}  // namespace

std::string Tolerance::origin() const {
  std::string text;
  for (const Field& field : kFields) {
    if (field.kind != kind) continue;
    const auto layer = layers.find(field.name);
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", field.name, this->*field.value,
                        layer == layers.end() ? "global" : layer->second);
  }
  return reason.empty() ? text : text + "; " + reason;
}

Result<Tolerance> tolerance_of(const Definition& definition, const TensorSpec& output) {
  Tolerance tolerance;
  for (const OperationRow& row : kOperations) {
    if (row.family == definition.tag("family"))
      TRY(apply(tolerance, row.field, row.value, "operation"));
  }
  const std::vector<std::string_view> words =
      split(definition.tag("tolerance." + output.name), ' ');
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) {
      const auto [field, value] = TRY(assignment(words[i]));
      TRY(apply(tolerance, field, value, "definition"));
    } else if (words[0] == "relative_norm") {
      tolerance.kind = Tolerance::Kind::RelativeNorm;
    } else if (words[0] != "matched_ratio") {
      return Error(fmt::format("unknown tolerance class: \"{}\" in {}", words[0], definition.file),
                   "the tag tolerance.<output>: takes matched_ratio or relative_norm");
    }
  }
  tolerance.reason = definition.tag("tolerance_origin." + output.name);
  return tolerance;
}

std::optional<std::string> precision_class(const Definition& definition, const TensorSpec& output,
                                           double relative_norm) {
  std::vector<std::pair<double, std::string>> classes;
  for (const std::string_view word : split(definition.tag("errors." + output.name), ' ')) {
    const auto read = assignment(word);
    if (read.ok()) classes.emplace_back(read->second, std::string(read->first));
  }
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::pair<double, std::string>> groups;
  for (const auto& [error, name] : classes) {
    if (!groups.empty() && error <= kAlike * groups.back().first)
      groups.back().second += "/" + name;
    else
      groups.emplace_back(error, name);
  }
  if (groups.size() < 2 || !(relative_norm <= kExplains * groups.back().first)) return std::nullopt;
  // The border between two groups is the geometric mean of their errors.
  for (size_t i = 0; i + 1 < groups.size(); ++i) {
    if (relative_norm < std::sqrt(groups[i].first * groups[i + 1].first)) return groups[i].second;
  }
  return groups.back().second;
}

}  // namespace weft::problems
