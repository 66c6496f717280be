// SPDX-License-Identifier: Apache-2.0

// ptxbench sft pairs, build, audit: from repair pairs to training rows, and from a row back to what
// the judge said.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/sft.h"
#include "apps/ptxbench/verbs.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text_file.h"
#ifdef WEFT_SFT_PARQUET
#include "base/table/database.h"
#include "base/table/sql_text.h"
#include "base/table/writer.h"
#endif
#include "ptxbench/agent/prompt.h"
#include "ptxbench/problems/catalogue.h"
#include "ptxbench/sft/dataset.h"
#include "ptxbench/sft/json_lines.h"

namespace weft::ptxbench {
namespace {

Result<std::vector<sft::Pair>> read_all(const std::vector<std::string>& files) {
  std::vector<sft::Pair> pairs;
  for (const std::string& file : files) {
    std::vector<sft::Pair> read = TRY(sft::read_pairs(file));
    std::move(read.begin(), read.end(), std::back_inserter(pairs));
  }
  return pairs;
}

struct PairsOptions {
  std::vector<std::string> files;
  std::string output, keep = "all";
  sft::PairFilter filter;
};

int pairs(PairsOptions& options) {
  Result<std::vector<sft::Pair>> all = read_all(options.files);
  if (!all.ok()) return fail(all.error(), kUsage);
  options.filter.keep = options.keep == "best"     ? sft::Keep::Best
                        : options.keep == "latest" ? sft::Keep::Latest
                                                   : sft::Keep::All;
  const sft::Selected selected = sft::select(*std::move(all), options.filter);
  std::vector<Json> rows;
  const std::filesystem::path output = options.output;
  for (const sft::Pair& pair : selected.pairs)
    rows.push_back(sft::to_json_in(pair, output.parent_path().string()));
  std::map<std::string, size_t> reasons;
  Json dropped = Json::array();
  for (const auto& [id, reason] : selected.dropped) {
    ++reasons[reason];
    dropped.push_back({{"id", id}, {"reason", reason}});
  }
  const sft::PairFilter& filter = options.filter;
  const Json manifest = {
      {"pairs", rows.size()},
      {"filter",
       {{"status", filter.status},
        {"family", filter.family},
        {"minimum_speedup", filter.minimum_speedup ? Json(*filter.minimum_speedup) : Json(nullptr)},
        {"keep", options.keep}}},
      {"dropped_by_reason", reasons},
      {"dropped", std::move(dropped)}};
  for (const Result<Done>& written :
       {sft::write_json_lines(options.output, rows),
        write_json(std::filesystem::path(output).replace_extension("manifest.json").string(),
                   manifest)})
    if (!written.ok()) return fail(written.error(), kEnvironment);
  for (const auto& [reason, count] : reasons)
    print(fmt::format("{:6} left out: {}\n", count, reason));
  print(fmt::format("{:6} pairs in {}\n", rows.size(), options.output));
  return rows.empty() ? kFailed : kPassed;
}

void add_pairs(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<PairsOptions>();
  CLI::App* verb = app.add_subcommand("pairs", "Chooses repair pairs by verdict, audit and speed");
  verb->add_option("files", options->files, "Files of pairs: attempts.jsonl, pairs.jsonl")
      ->required();
  verb->add_option("--output", options->output, "File to write, pairs.jsonl")->required();
  verb->add_option("--status", options->filter.status, "Status of the wrong kernel: RUNTIME_ERROR");
  verb->add_option("--family", options->filter.family,
                   "Family that the repair is audited for: H or B");
  verb->add_option("--minimum-speedup", options->filter.minimum_speedup,
                   "Speed-up of the repair; one without a measurement is left out");
  verb->add_option("--keep", options->keep, "Of several repairs of one kernel")
      ->check(CLI::IsMember({"all", "best", "latest"}));
  verb->callback([options, &exit_code] { exit_code = pairs(*options); });
}

#ifdef WEFT_SFT_PARQUET
// Nested columns as the `datasets` library writes them: a list of {role, content}.
Result<Done> write_parquet(const std::string& rows, const std::string& parquet) {
  table::Database database = TRY(table::Database::open());
  const std::string columns =
      "{id: 'VARCHAR', kind: 'VARCHAR', messages: 'STRUCT(role VARCHAR, content VARCHAR)[]', "
      "definition: 'VARCHAR', architecture: 'VARCHAR', family: 'VARCHAR', error_class: 'VARCHAR', "
      "cause: 'VARCHAR', "
      "speedup: 'DOUBLE', tokens: 'BIGINT', pair: 'VARCHAR'}";
  return table::copy_to_parquet(
      database,
      fmt::format("SELECT * FROM read_json({}, format = 'newline_delimited', "
                  "maximum_object_size = 67108864, columns = {})",
                  table::quoted_text(rows), columns),
      parquet);
}
#endif

struct BuildOptions {
  std::vector<std::string> files;
  std::string tokenizer, held_out, tag, kind = "both";
  Folders folders;
  bool json = false;
  sft::DatasetSettings settings;
};

int build(BuildOptions& options) {
  const auto pairs = read_all(options.files);
  if (!pairs.ok()) return fail(pairs.error(), kUsage);
  sft::DatasetSettings& settings = options.settings;
  settings.fixit = options.kind != "kernelgen";
  settings.kernelgen = options.kind != "fixit";
  std::optional<sft::BpeTokenizer> tokenizer;
  if (!options.tokenizer.empty()) {
    auto read = sft::BpeTokenizer::read(options.tokenizer);
    if (!read.ok()) return fail(read.error(), kUsage);
    settings.tokenizer = &tokenizer.emplace(*std::move(read));
  } else if (settings.most_tokens != 0) {
    return fail(Error("a limit of tokens needs a tokenizer", "name it with --tokenizer"), kUsage);
  }
  if (!options.held_out.empty()) {
    auto held_out = sft::read_held_out(options.held_out);
    if (!held_out.ok()) return fail(held_out.error(), kUsage);
    settings.held_out = *std::move(held_out);
  }
  std::vector<std::string> inputs = options.files;
  for (const std::string& file : {options.tokenizer, options.held_out})
    if (!file.empty()) inputs.push_back(file);
  for (const std::string& file : inputs) {
    const Result<std::string> text = read_file(file);
    if (!text.ok()) return fail(text.error(), kUsage);
    settings.inputs[file] = sha256(*text);
  }
  options.folders.find();
  const auto catalogue = problems::Catalogue::open(options.folders.problems);
  if (!catalogue.ok()) return fail(catalogue.error(), kUsage);
  const auto prompts = agent::PromptBook::open(options.folders.prompts);
  if (!prompts.ok()) return fail(prompts.error(), kUsage);
  settings.system = [&](const sft::Pair& pair) {
    return prompts->system(options.tag.empty() ? pair.architecture : options.tag);
  };
  settings.task = [&](const sft::Pair& pair) -> Result<std::string> {
    const problems::Overrides axes(pair.axes.begin(), pair.axes.end());
    return agent::task_prompt(TRY(catalogue->task(pair.definition, pair.workload_uuid, axes)),
                              pair.architecture);
  };
#ifdef WEFT_SFT_PARQUET
  settings.parquet = write_parquet;
#endif
  const auto manifest = sft::build_dataset(*pairs, settings);
  if (!manifest.ok()) return fail(manifest.error(), kEnvironment);
  if (options.json) {
    print_json(*manifest);
  } else {
    std::vector<Row> rows = {{"kind / definition / class", "before", "after"}};
    for (const auto& [cell, counts] : (*manifest)["balance"].items())
      rows.push_back({cell, counts["before"].dump(), counts["after"].dump()});
    print(table(rows));
    for (const auto& [reason, count] : (*manifest)["dropped_by_reason"].items())
      print(fmt::format("{:6} dropped: {}\n", count.get<size_t>(), reason));
    for (const auto& [file, about] : (*manifest)["files"].items())
      print(
          fmt::format("{:6} rows in {}/{}\n", about["rows"].get<size_t>(), settings.output, file));
    if (!settings.parquet) print("no Parquet: this build has no DuckDB\n");
  }
  return (*manifest)["rows"].empty() ? kFailed : kPassed;
}

void add_build(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<BuildOptions>();
  sft::DatasetSettings& settings = options->settings;
  CLI::App* verb = app.add_subcommand("build", "Makes training rows of repair pairs");
  verb->add_option("files", options->files, "Files of pairs")->required();
  verb->add_option("--output", settings.output, "Folder of the rows and their manifest")
      ->required();
  verb->add_option("--kind", options->kind, "Which rows")
      ->check(CLI::IsMember({"both", "fixit", "kernelgen"}));
  verb->add_option("--tag", options->tag,
                   "Hint packs of the system message (default: those of the architecture)");
  options->folders.add_to(*verb);
  verb->add_option("--tokenizer", options->tokenizer, "The model's tokenizer.json");
  verb->add_option("--most-tokens", settings.most_tokens, "Longer rows are dropped");
  verb->add_option("--held-out", options->held_out,
                   "JSON: plans, definitions, workloads, axes, kernels of the examination");
  verb->add_option("--near-duplicate", settings.near_duplicate,
                   "Rows that share this much of their tokens are one")
      ->check(CLI::Range(0.1, 1.0));
  verb->add_option("--most-per-cell", settings.most_per_cell,
                   "Rows of one kind, definition and error class");
  verb->add_option("--validation-share", settings.validation_share, "Share of the rows")
      ->check(CLI::Range(0.0, 0.9));
  verb->add_flag("--json", options->json, "Print the manifest");
  verb->callback([options, &exit_code] { exit_code = build(*options); });
}

struct AuditOptions {
  std::string row, data;
  bool json = false;
};

int audit(const AuditOptions& options) {
  const Result<Json> found = sft::audit_row(options.data, options.row);
  if (!found.ok()) return fail(found.error(), kUsage);
  if (options.json) {
    print_json(*found);
  } else {
    print(fmt::format("{} in {}\nfrom {}, {} at line {}, pair {}\n", options.row,
                      (*found)["file"].get<std::string>(), (*found)["origin"].get<std::string>(),
                      (*found)["cause"].get<std::string>(), (*found)["line"].get<uint32_t>(),
                      (*found)["pair"].get<std::string>()));
    for (const char* side : {"wrong", "fixed"}) {
      if (!found->contains(side)) continue;
      const Json& kernel = (*found)[side];
      print(fmt::format("{}: {} ({}), {}, kernel {}\n", side, kernel["status"].get<std::string>(),
                        kernel["error_class"].get<std::string>(),
                        kernel["evaluation"].get<std::string>(),
                        kernel["sha256"].get<std::string>().substr(0, 16)));
      for (const Json& problem : kernel["problems"])
        print("  NOT SOUND: " + problem.get<std::string>() + "\n");
    }
    if (!(*found)["row_unchanged"].get<bool>()) print("NOT SOUND: the row was changed\n");
  }
  return (*found)["sound"].get<bool>() ? kPassed : kFailed;
}

void add_audit(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<AuditOptions>();
  CLI::App* verb = app.add_subcommand("audit", "Leads from a training row back to its verdicts");
  verb->add_option("row", options->row, "Id of the row")->required();
  verb->add_option("--data", options->data, "Folder that build wrote")->required();
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &exit_code] { exit_code = audit(*options); });
}

}  // namespace

void add_sft_rows(CLI::App& app, int& exit_code) {
  add_pairs(app, exit_code);
  add_build(app, exit_code);
  add_audit(app, exit_code);
}

}  // namespace weft::ptxbench
