// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/launch.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "base/near_match.h"
#include "ptxbench/problems/expression.h"

namespace weft::judge {
namespace {

constexpr std::string_view kMark = "//!";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Error at(const std::string& file, uint32_t line, std::string_view source, std::string message,
         std::string hint) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  diagnostic.file = file;
  diagnostic.position = {line, 1};
  diagnostic.source_line = source;
  return Error(std::move(diagnostic));
}

// Splits at commas outside parentheses, so that ceil_div(M, 16) stays whole.
std::vector<std::string> list(std::string_view text) {
  std::vector<std::string> items;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      items.emplace_back(trimmed(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  if (items.size() == 1 && items[0].empty()) items.clear();
  return items;
}

LaunchArgument argument(const std::string& item) {
  const std::pair<std::string_view, LaunchArgument::Kind> kinds[] = {
      {"i32 ", LaunchArgument::Kind::Int32},
      {"i64 ", LaunchArgument::Kind::Int64},
      {"f32 ", LaunchArgument::Kind::Float32}};
  for (const auto& [prefix, kind] : kinds) {
    if (item.starts_with(prefix))
      return {kind, std::string(trimmed(std::string_view(item).substr(prefix.size())))};
  }
  return {LaunchArgument::Kind::Tensor, item};
}

Result<Done> add_field(std::vector<Launch>& launches, std::string_view key, std::string_view value,
                       uint32_t number, const std::string& file, std::string_view source) {
  if (key == "kernel") {
    if (value.empty()) return at(file, number, source, "kernel name is missing", "//! kernel NAME");
    launches.push_back({.kernel = std::string(value), .line = number});
    return Done{};
  }
  static const std::vector<std::string> known = {"kernel",  "grid",   "block",
                                                 "cluster", "shared", "arguments"};
  if (std::find(known.begin(), known.end(), key) == known.end()) {
    return at(file, number, source, fmt::format("unknown launch field: \"{}\"", key),
              suggestion(key, known, "fields"));
  }
  if (launches.empty()) {
    return at(file, number, source, fmt::format("launch field before its kernel: \"{}\"", key),
              "start with //! kernel NAME");
  }
  Launch& launch = launches.back();
  const std::vector<std::string> items = list(value);
  if (key == "arguments") {
    for (const std::string& item : items) launch.arguments.push_back(argument(item));
    return Done{};
  }
  if (key == "shared") {
    launch.shared = value;
    return Done{};
  }
  if (items.empty() || items.size() > 3) {
    return at(file, number, source, fmt::format("{} takes one to three expressions", key),
              "//! grid ceil_div(N, 128), ceil_div(M, 128)");
  }
  (key == "grid" ? launch.grid : key == "block" ? launch.block : launch.cluster) = items;
  return Done{};
}

Result<uint32_t> extent(const std::string& expression, const problems::Axes& axes,
                        std::string_view what, int64_t least) {
  const int64_t value = TRY(problems::evaluate(expression, axes));
  if (value < least || value > INT32_MAX) {
    return Error(fmt::format("launch {} out of range: {} = {}", what, expression, value),
                 "check the launch description");
  }
  return static_cast<uint32_t>(value);
}

Result<std::array<uint32_t, 3>> extents(const std::vector<std::string>& expressions,
                                        const problems::Axes& axes, std::string_view what) {
  std::array<uint32_t, 3> values{1, 1, 1};
  for (size_t i = 0; i < expressions.size(); ++i)
    values[i] = TRY(extent(expressions[i], axes, what, 1));
  return values;
}

Result<ResolvedLaunch::Argument> resolve_argument(const LaunchArgument& argument,
                                                  const problems::Task& task) {
  ResolvedLaunch::Argument resolved{argument.kind};
  if (argument.kind == LaunchArgument::Kind::Tensor) {
    std::vector<std::string> names;
    for (const auto& spec : task.definition.inputs) names.push_back(spec.name);
    for (const auto& spec : task.definition.outputs) names.push_back(spec.name);
    const auto found = std::find(names.begin(), names.end(), argument.text);
    if (found == names.end()) {
      return Error(fmt::format("launch argument is no tensor of the task: \"{}\"", argument.text),
                   fmt::format("tensors: {}; numbers are written i32 M, i64 M, f32 0.5",
                               fmt::join(names, ", ")));
    }
    const auto scalar = task.workload.scalars.find(argument.text);
    if (scalar != task.workload.scalars.end())
      return ResolvedLaunch::Argument{LaunchArgument::Kind::Float32, 0, scalar->second};
    resolved.value = found - names.begin();
    return resolved;
  }
  if (argument.kind == LaunchArgument::Kind::Float32) {
    const char* end = argument.text.data() + argument.text.size();
    const auto [stop, code] = std::from_chars(argument.text.data(), end, resolved.number);
    if (code == std::errc() && stop == end) return resolved;
    return Error(fmt::format("launch argument is no number: \"{}\"", argument.text),
                 "write f32 0.5");
  }
  resolved.value = TRY(problems::evaluate(argument.text, task.axes));
  if (argument.kind == LaunchArgument::Kind::Int32 &&
      (resolved.value > INT32_MAX || resolved.value < INT32_MIN)) {
    return Error(
        fmt::format("launch argument does not fit 32 bits: {} = {}", argument.text, resolved.value),
        "write i64");
  }
  return resolved;
}

}  // namespace

Result<std::vector<Launch>> parse_launches(const std::string& text, const std::string& file) {
  std::vector<Launch> launches;
  uint32_t number = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view source = std::string_view(text).substr(start, end - start);
    start = end + 1;
    ++number;
    std::string_view line = trimmed(source);
    if (!line.starts_with(kMark)) continue;
    line = trimmed(line.substr(kMark.size()));
    if (line.empty()) continue;
    const size_t space = std::min(line.find_first_of(" \t"), line.size());
    TRY(add_field(launches, line.substr(0, space), trimmed(line.substr(space)), number, file,
                  source));
  }
  for (const Launch& launch : launches) {
    if (launch.grid.empty() || launch.block.empty()) {
      return at(file, launch.line, "",
                fmt::format("launch of {} has no {}", launch.kernel,
                            launch.grid.empty() ? "grid" : "block"),
                "add a line: //! grid ... or //! block ...");
    }
  }
  if (launches.empty()) {
    return Error(
        fmt::format("a PTX candidate must say how it is launched: {}", file),
        "add lines //! kernel, //! grid, //! block, //! arguments at its top (docs/candidates.md)");
  }
  return launches;
}

Result<std::vector<ResolvedLaunch>> resolve_launches(const std::vector<Launch>& launches,
                                                     const problems::Task& task) {
  std::vector<ResolvedLaunch> resolved;
  for (const Launch& launch : launches) {
    ResolvedLaunch one;
    one.kernel = launch.kernel;
    one.grid = TRY(extents(launch.grid, task.axes, "grid"));
    one.block = TRY(extents(launch.block, task.axes, "block"));
    one.cluster = TRY(extents(launch.cluster, task.axes, "cluster"));
    one.shared = TRY(extent(launch.shared, task.axes, "shared memory", 0));
    for (const LaunchArgument& argument : launch.arguments)
      one.arguments.push_back(TRY(resolve_argument(argument, task)));
    resolved.push_back(std::move(one));
  }
  return resolved;
}

}  // namespace weft::judge
