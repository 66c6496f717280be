// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/solution.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ptxbench/service/sha1.h"

namespace weft::service {
namespace {

bool stays_inside(const std::string& path) {
  const std::filesystem::path parts(path);
  if (parts.is_absolute() || path.find('\0') != std::string::npos) return false;
  for (const std::filesystem::path& part : parts)
    if (part == "..") return false;
  return true;
}

void read_spec(Fields& solution, const Json& json, Solution& into, Issues& issues) {
  const Json* spec_json = solution.find("spec");
  if (spec_json == nullptr) {
    if (json.is_object()) solution.wrong("spec", "Field required", "missing");
    return;
  }
  Fields spec(*spec_json, solution.place_of("spec"), issues);
  into.language = spec.text("language");
  if (!into.language.empty() && into.language != "cuda" && into.language != "ptx")
    spec.wrong("language", "this judge builds 'cuda' and 'ptx', not '" + into.language + "'",
               "enum");
  const std::string entry = spec.text("entry_point");
  const size_t colons = entry.find("::");
  if (colons == std::string::npos || entry.find("::", colons + 2) != std::string::npos) {
    if (!entry.empty())
      spec.wrong("entry_point", "entry point should be '<file>::<function>'", "value_error");
  } else {
    into.entry_file = entry.substr(0, colons);
    into.entry_function = entry.substr(colons + 2);
    if (into.language == "cuda" && into.entry_function != "run")
      spec.wrong("entry_point", "the exported function must be named 'run'", "value_error");
  }
  into.binding = spec.optional_text("binding").value_or("");
  if (!into.binding.empty() && into.binding != "tvm-ffi")
    spec.wrong("binding", "this judge knows the binding 'tvm-ffi' only", "enum");
  into.dependencies = spec.optional_texts("dependencies").value_or(std::vector<std::string>());
  if (!spec.optional_flag("destination_passing_style").value_or(true))
    spec.wrong("destination_passing_style", "outputs are passed as the last arguments here: true",
               "value_error");
}

void read_sources(Fields& solution, const Json& json, Solution& into, Issues& issues) {
  const Json* list = solution.find("sources");
  if (list == nullptr || !list->is_array() || list->empty()) {
    if (json.is_object())
      solution.wrong("sources", "a list of at least one source is required", "missing");
    return;
  }
  std::set<std::string> seen;
  for (size_t i = 0; i < list->size(); ++i) {
    Place place = solution.place_of("sources");
    place.push_back(std::to_string(i));
    Fields source((*list)[i], place, issues);
    const std::string path = source.text("path"), content = source.text("content");
    if (!stays_inside(path))
      source.wrong("path", "source path must stay below the solution: " + path, "value_error");
    if (!seen.insert(path).second)
      source.wrong("path", "Duplicate source path: " + path, "value_error");
    into.sources.emplace_back(path, content);
  }
  if (!into.entry_file.empty() && !seen.contains(into.entry_file))
    solution.wrong("sources", "Entry source file '" + into.entry_file + "' not found in sources",
                   "value_error");
}

}  // namespace

std::string Solution::normalized_name() const {
  std::string content = definition + language + entry_file + "::" + entry_function + binding;
  for (const std::string& dependency : dependencies) content += dependency;
  for (const auto& [path, text] : sources) content += path + text;
  return name + "_" + sha1(content).substr(0, 8);
}

Solution read_solution(const Json& json, const Place& place, Issues& issues) {
  Solution solution;
  Fields fields(json, place, issues);
  solution.name = fields.text("name");
  solution.definition = fields.text("definition");
  solution.author = fields.text("author");
  read_spec(fields, json, solution, issues);
  read_sources(fields, json, solution, issues);
  return solution;
}

Json to_json(const Solution& solution) {
  Json sources = Json::array();
  for (const auto& [path, content] : solution.sources)
    sources.push_back({{"path", path}, {"content", content}});
  Json spec = {{"language", solution.language},
               {"target_hardware", {"cuda"}},
               {"entry_point", solution.entry_file + "::" + solution.entry_function},
               {"dependencies", solution.dependencies},
               {"destination_passing_style", true}};
  if (!solution.binding.empty()) spec["binding"] = solution.binding;
  return {{"name", solution.name},
          {"definition", solution.definition},
          {"author", solution.author},
          {"spec", std::move(spec)},
          {"sources", std::move(sources)}};
}

}  // namespace weft::service
