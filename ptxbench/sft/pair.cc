// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/sft/pair.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "base/text_file.h"
#include "ptxbench/sft/json_lines.h"

namespace weft::sft {
namespace {

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T>
std::optional<T> optional_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return found->get<T>();
}

}  // namespace

Json to_json(const JudgedKernel& kernel) {
  const agent::VerdictSummary& verdict = kernel.verdict;
  return {{"source", kernel.source},
          {"sha256", verdict.kernel_sha256},
          {"status", verdict.status},
          {"error_class", verdict.error_class},
          {"audited", or_null(verdict.audited)},
          {"arch_tag", verdict.arch_tag},
          {"share", or_null(verdict.share)},
          {"speedup", or_null(verdict.speedup)},
          {"evaluation_id", verdict.evaluation_id},
          {"evaluation", kernel.evaluation},
          {"evaluation_sha256", kernel.evaluation_sha256}};
}

JudgedKernel kernel_from(const Json& json) {
  JudgedKernel kernel{.source = json.at("source"),
                      .evaluation = json.at("evaluation"),
                      .evaluation_sha256 = json.at("evaluation_sha256"),
                      .verdict = {}};
  kernel.verdict = {.status = json.at("status"),
                    .error_class = json.at("error_class"),
                    .audited = optional_of<bool>(json, "audited"),
                    .arch_tag = json.at("arch_tag"),
                    .share = optional_of<double>(json, "share"),
                    .speedup = optional_of<double>(json, "speedup"),
                    .evaluation_id = json.at("evaluation_id"),
                    .kernel_sha256 = json.at("sha256")};
  return kernel;
}

Json to_json(const Pair& pair) {
  return {{"id", pair.id},
          {"kind", pair.kind},
          {"definition", pair.definition},
          {"family", pair.family},
          {"workload_uuid", pair.workload_uuid},
          {"architecture", pair.architecture},
          {"axes", pair.axes},
          {"cause", pair.cause},
          {"meaning", pair.meaning},
          {"origin", pair.origin},
          {"line", pair.line},
          {"wrong", to_json(pair.wrong)},
          {"fixed", to_json(pair.fixed)},
          {"log", pair.log},
          {"reasoning", pair.reasoning},
          {"design", pair.design}};
}

Result<Pair> pair_from(const Json& json, const std::string& file, uint32_t line) {
  try {
    Pair pair{.id = json.at("id"),
              .kind = json.at("kind"),
              .definition = json.at("definition"),
              .family = json.at("family"),
              .workload_uuid = json.at("workload_uuid"),
              .architecture = json.value("architecture", "hopper"),
              .axes = json.at("axes").get<std::map<std::string, int64_t>>(),
              .cause = json.at("cause"),
              .meaning = json.at("meaning"),
              .origin = json.at("origin"),
              .line = json.at("line"),
              .wrong = kernel_from(json.at("wrong")),
              .fixed = kernel_from(json.at("fixed")),
              .log = json.at("log"),
              .reasoning = json.at("reasoning"),
              .design = json.value("design", "")};
    return pair;
  } catch (const nlohmann::json::exception& error) {
    return Error(Diagnostic{.message = fmt::format("not a repair pair: {}", error.what()),
                            .hint = "files of pairs come from ptxbench sft inject, pairs, repair",
                            .file = file,
                            .position = {line, 1}});
  }
}

Result<std::vector<Pair>> read_pairs(const std::string& path) {
  const std::vector<Json> rows = TRY(read_json_lines(path));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::vector<Pair> pairs;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const auto found = rows[i].find("pair");
    if (found != rows[i].end() && found->is_null()) continue;
    Pair pair = TRY(pair_from(found == rows[i].end() ? rows[i] : *found, path, i + 1));
    for (JudgedKernel* kernel : {&pair.wrong, &pair.fixed})
      if (!kernel->evaluation.empty())
        kernel->evaluation = (folder / kernel->evaluation).lexically_normal().string();
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

std::string pair_id(const Pair& pair) {
  std::string text =
      pair.definition + "\n" + sha256(pair.wrong.source) + "\n" + sha256(pair.fixed.source) + "\n";
  for (const auto& [name, value] : pair.axes) text += fmt::format("{}={} ", name, value);
  return sha256(text).substr(0, 16);
}

Json to_json_in(Pair pair, const std::string& folder) {
  const std::filesystem::path from = folder.empty() ? "." : folder;
  for (JudgedKernel* kernel : {&pair.wrong, &pair.fixed})
    if (!kernel->evaluation.empty())
      kernel->evaluation = std::filesystem::proximate(kernel->evaluation, from).string();
  return to_json(pair);
}

Result<Done> keep_evaluation(JudgedKernel& kernel, const std::string& folder,
                             const Json& envelope) {
  const std::string text = weft::to_text(envelope);
  kernel.evaluation_sha256 = sha256(text);
  kernel.evaluation = "evaluations/" + kernel.evaluation_sha256.substr(0, 16) + ".json";
  kernel.verdict = agent::summarize(envelope);
  return write_file(folder + "/" + kernel.evaluation, text);
}

}  // namespace weft::sft
