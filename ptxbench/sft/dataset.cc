// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/sft/dataset.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/near_match.h"
#include "base/sha256.h"
#include "base/text_file.h"
#include "ptxbench/agent/code_block.h"
#include "ptxbench/sft/json_lines.h"

namespace weft::sft {
namespace {
namespace fs = std::filesystem;

struct Row {
  std::string id, kind, side = "train";
  const Pair* pair = nullptr;
  std::vector<std::pair<std::string, std::string>> messages;  // role, content
  size_t tokens = 0;

  std::string cell() const {
    const bool repair = kind == "fixit";
    return kind + " / " + pair->definition + " / " +
           (repair ? pair->wrong.verdict.error_class : "passed");
  }
};

// A teacher's words, or what is known of a fault that was injected.
std::string explained(const Pair& pair) {
  if (!pair.reasoning.empty()) return pair.reasoning;
  if (pair.meaning.empty()) return "";
  return pair.line == 0
             ? pair.meaning
             : fmt::format("{} It is at line {} of the kernel above.", pair.meaning, pair.line);
}

Result<Row> fixit_row(const Pair& pair, const DatasetSettings& settings) {
  const std::string words = explained(pair), system = TRY(settings.system(pair)),
                    task = TRY(settings.task(pair));
  return Row{.id = "fixit-" + pair.id,
             .kind = "fixit",
             .pair = &pair,
             .messages = {{"system", system},
                          {"user", task},
                          {"assistant", agent::fenced_code(pair.wrong.source)},
                          {"user", pair.log},
                          {"assistant", (words.empty() ? "" : words + "\n\n") +
                                            agent::fenced_code(pair.fixed.source)}}};
}

Result<Row> kernelgen_row(const Pair& pair, const DatasetSettings& settings) {
  const std::string system = TRY(settings.system(pair)), task = TRY(settings.task(pair));
  return Row{.id = "kernelgen-" + pair.id,
             .kind = "kernelgen",
             .pair = &pair,
             .messages = {{"system", system},
                          {"user", task},
                          {"assistant", (pair.design.empty() ? "" : pair.design + "\n\n") +
                                            agent::fenced_code(pair.fixed.source)}}};
}

// As chat templates of the ChatML kind render a conversation.
size_t count_tokens(const BpeTokenizer& tokenizer, const Row& row) {
  std::string text;
  for (const auto& [role, content] : row.messages)
    text += "<|im_start|>" + role + "\n" + content + "<|im_end|>\n";
  return tokenizer.encode(text).size();
}

Json row_json(const Row& row) {
  Json messages = Json::array();
  for (const auto& [role, content] : row.messages)
    messages.push_back({{"role", role}, {"content", content}});
  const agent::VerdictSummary& fixed = row.pair->fixed.verdict;
  return {{"id", row.id},
          {"kind", row.kind},
          {"messages", std::move(messages)},
          {"definition", row.pair->definition},
          {"axes", row.pair->axes},
          {"architecture", row.pair->architecture},
          {"family", row.pair->family},
          {"error_class", row.kind == "fixit" ? row.pair->wrong.verdict.error_class : "passed"},
          {"cause", row.kind == "fixit" ? row.pair->cause : ""},
          {"speedup", fixed.speedup ? Json(*fixed.speedup) : Json(nullptr)},
          {"tokens", row.tokens == 0 ? Json(nullptr) : Json(row.tokens)},
          {"pair", row.pair->id}};
}

// Evaluations are named from the dataset's folder, so that both can move together.
Json link_json(const JudgedKernel& kernel, const std::string& output) {
  return {{"sha256", sha256(kernel.source)},
          {"status", kernel.verdict.status},
          {"error_class", kernel.verdict.error_class},
          {"evaluation_id", kernel.verdict.evaluation_id},
          {"evaluation", fs::proximate(kernel.evaluation, output).string()},
          {"evaluation_sha256", kernel.evaluation_sha256}};
}

class Builder {
 public:
  explicit Builder(const DatasetSettings& settings) : settings_(settings) {}

  Result<Done> add(const Pair& pair) {
    ++pairs_;
    const std::string held_out = contamination(settings_.held_out, pair, settings_.near_duplicate);
    for (const bool repair : {true, false}) {
      if (!(repair ? settings_.fixit && pair.is_repair() : settings_.kernelgen)) continue;
      Row row = TRY(repair ? fixit_row(pair, settings_) : kernelgen_row(pair, settings_));
      std::string reason = held_out;
      if (reason.empty() && !pair.fixed.verdict.passed()) reason = "the right kernel did not pass";
      if (reason.empty()) reason = repetition(row);
      if (reason.empty() && settings_.tokenizer != nullptr) {
        row.tokens = count_tokens(*settings_.tokenizer, row);
        if (settings_.most_tokens != 0 && row.tokens > settings_.most_tokens)
          reason = fmt::format("too long: {} tokens", row.tokens);
      }
      if (reason.empty())
        rows_.push_back(std::move(row));
      else
        drop(row.id, std::move(reason));
    }
    return Done{};
  }

  // Which rows of a full cell stay follows from their names, which are hashes.
  void balance() {
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
    std::map<std::string, size_t> taken;
    std::vector<Row> kept;
    for (Row& row : rows_) {
      std::string cell = row.cell();
      ++before_[cell];
      if (settings_.most_per_cell != 0 && taken[cell] >= settings_.most_per_cell) {
        drop(row.id, "balance: enough rows of " + cell);
        continue;
      }
      ++taken[cell];
      kept.push_back(std::move(row));
    }
    after_ = std::move(taken);
    rows_ = std::move(kept);
  }

  // Rows with the same right kernel would tell each other's answers across the split. Whole groups
  // go over, in the order of their hashes, until the share is reached; one group always stays.
  void divide() {
    std::map<std::string, std::vector<Row*>> groups;
    for (Row& row : rows_) groups[sha256(row.pair->fixed.source)].push_back(&row);
    const double wanted = settings_.validation_share * static_cast<double>(rows_.size());
    size_t given = 0, left = groups.size();
    for (auto& [hash, rows] : groups) {
      const bool fits = static_cast<double>(given + rows.size()) <= wanted;
      if (!fits || left == 1) continue;
      --left;
      given += rows.size();
      for (Row* row : rows) row->side = "validation";
    }
  }

  Result<Json> write() {
    Json files = Json::object();
    for (const std::string side : {"train", "validation"}) {
      std::vector<Json> lines;
      for (const Row& row : rows_)
        if (row.side == side) lines.push_back(row_json(row));
      const std::string path = settings_.output + "/" + side + ".jsonl";
      TRY(write_json_lines(path, lines));
      const std::string digest = sha256(TRY(read_file(path)));
      files[side + ".jsonl"] = {{"rows", lines.size()}, {"sha256", digest}};
      if (!settings_.parquet || lines.empty()) continue;
      const std::string parquet = settings_.output + "/" + side + ".parquet";
      TRY(settings_.parquet(path, parquet));
      const std::string parquet_digest = sha256(TRY(read_file(parquet)));
      files[side + ".parquet"] = {{"rows", lines.size()}, {"sha256", parquet_digest}};
    }
    Json manifest = manifest_json(std::move(files));
    TRY(write_json(settings_.output + "/manifest.json", manifest));
    return manifest;
  }

 private:
  // The right kernel of many pairs is one kernel, so KernelGen rows repeat each other exactly.
  std::string repetition(const Row& row) {
    const bool repair = row.kind == "fixit";
    const Shingles text = repair ? change_shingles(row.pair->wrong.source, row.pair->fixed.source)
                                 : shingles(row.pair->fixed.source);
    Seen& seen =
        seen_.try_emplace(row.kind + row.pair->definition, settings_.near_duplicate).first->second;
    const std::string key = repair ? row.pair->wrong.source : row.pair->fixed.source;
    if (const auto same = seen.exact.find(sha256(key)); same != seen.exact.end())
      return "duplicate of " + same->second;
    if (const auto near = seen.near.add(text)) return "near duplicate of " + seen.names[*near];
    seen.exact.emplace(sha256(key), row.id);
    seen.names.push_back(row.id);
    return "";
  }

  void drop(const std::string& id, std::string reason) {
    ++reasons_[reason.substr(0, reason.find_first_of(":"))
                   .substr(0,
                           reason.find(" of ") == reason.npos ? reason.npos : reason.find(" of "))];
    dropped_.push_back({{"id", id}, {"reason", std::move(reason)}});
  }

  Json manifest_json(Json files) const {
    Json rows = Json::array(), cells = Json::object();
    for (const Row& row : rows_)
      rows.push_back({{"id", row.id},
                      {"side", row.side},
                      {"pair", row.pair->id},
                      {"origin", row.pair->origin},
                      {"cause", row.pair->cause},
                      {"line", row.pair->line},
                      {"sha256", sha256(to_line(row_json(row)))},
                      {"wrong", row.pair->is_repair() ? link_json(row.pair->wrong, settings_.output)
                                                      : Json(nullptr)},
                      {"fixed", link_json(row.pair->fixed, settings_.output)}});
    for (const auto& [cell, count] : before_) {
      const auto kept = after_.find(cell);
      cells[cell] = {{"before", count}, {"after", kept == after_.end() ? 0 : kept->second}};
    }
    return {{"format", "ptxbench.sft.v1"},
            {"loss", "the last assistant message"},
            {"pairs", pairs_},
            {"inputs", settings_.inputs},
            {"settings",
             {{"near_duplicate", settings_.near_duplicate},
              {"most_tokens", settings_.most_tokens},
              {"tokens_counted", settings_.tokenizer != nullptr},
              {"most_per_cell", settings_.most_per_cell},
              {"validation_share", settings_.validation_share},
              {"held_out_definitions", settings_.held_out.definitions},
              {"held_out_workloads", settings_.held_out.workloads},
              {"held_out_shapes", settings_.held_out.axes.size()},
              {"held_out_kernels", settings_.held_out.kernels.size()}}},
            {"files", std::move(files)},
            {"balance", std::move(cells)},
            {"dropped_by_reason", reasons_},
            {"dropped", dropped_},
            {"rows", std::move(rows)}};
  }

  struct Seen {
    explicit Seen(double threshold) : near(threshold) {}
    NearDuplicates near;
    std::vector<std::string> names;
    std::map<std::string, std::string> exact;
  };

  const DatasetSettings& settings_;
  size_t pairs_ = 0;
  std::vector<Row> rows_;
  std::map<std::string, Seen> seen_;
  std::map<std::string, size_t> reasons_, before_, after_;
  Json dropped_ = Json::array();
};

// One judged kernel of a row: its verdict is the file that was named, and is about this text.
Json check_kernel(const Json& link, const fs::path& folder, const std::string& source,
                  bool must_pass) {
  Json found = link;
  const std::string path = (folder / link.at("evaluation").get<std::string>()).string();
  Json problems = Json::array();
  if (sha256(source) != link.at("sha256")) problems.push_back("the row has another kernel");
  const Result<std::string> text = read_file(path);
  if (!text.ok()) {
    problems.push_back("the verdict is missing: " + path);
  } else if (sha256(*text) != link.at("evaluation_sha256")) {
    problems.push_back("the verdict was changed: " + path);
  } else if (const Result<Json> envelope = parse_json(*text, path); envelope.ok()) {
    const agent::VerdictSummary verdict = agent::summarize(*envelope);
    if (verdict.kernel_sha256 != link.at("sha256"))
      problems.push_back("the verdict is about another kernel");
    if (must_pass != verdict.passed() && link.at("error_class") != "spill")
      problems.push_back("the verdict is " + verdict.status);
  } else {
    problems.push_back("the verdict is no JSON: " + path);
  }
  found["evaluation"] = path;
  found["problems"] = std::move(problems);
  return found;
}

}  // namespace

Result<Json> build_dataset(const std::vector<Pair>& pairs, const DatasetSettings& settings) {
  Builder builder(settings);
  for (const Pair& pair : pairs) TRY(builder.add(pair));
  builder.balance();
  builder.divide();
  return builder.write();
}

Result<Json> audit_row(const std::string& folder, const std::string& row_id) {
  const Json manifest = TRY(read_json(folder + "/manifest.json"));
  try {
    std::vector<std::string> ids;
    for (const Json& link : manifest.at("rows")) {
      ids.push_back(link.at("id"));
      if (ids.back() != row_id) continue;
      const std::string file = folder + "/" + link.at("side").get<std::string>() + ".jsonl";
      const std::vector<Json> rows = TRY(read_json_lines(file));
      for (const Json& row : rows) {
        if (row.at("id") != row_id) continue;
        const Json& messages = row.at("messages");
        const auto kernel_in = [&](const Json& message) {
          return agent::last_code_block(message.at("content").get<std::string>()).code;
        };
        Json found = {{"id", row_id},
                      {"file", file},
                      {"pair", link.at("pair")},
                      {"origin", link.at("origin")},
                      {"cause", link.at("cause")},
                      {"line", link.at("line")}};
        bool sound = sha256(to_line(row)) == link.at("sha256");
        found["row_unchanged"] = sound;
        found["fixed"] = check_kernel(link.at("fixed"), folder, kernel_in(messages.back()), true);
        sound = sound && found["fixed"]["problems"].empty();
        if (row.at("kind") == "fixit") {
          found["wrong"] = check_kernel(link.at("wrong"), folder, kernel_in(messages.at(2)), false);
          sound = sound && found["wrong"]["problems"].empty();
        }
        found["sound"] = sound;
        return found;
      }
      return Error("the row is in the manifest but not in its file: " + row_id + " in " + file,
                   "build the dataset again");
    }
    for (const Json& dropped : manifest.at("dropped"))
      if (dropped.at("id") == row_id)
        return Error("the row was dropped: " + row_id + ": " +
                     dropped.at("reason").get<std::string>());
    return Error("no such row: " + row_id, suggestion(row_id, ids, "rows"));
  } catch (const nlohmann::json::exception& error) {
    return Error(Diagnostic{.message = fmt::format("not a manifest of rows: {}", error.what()),
                            .hint = "name the folder that ptxbench sft build wrote",
                            .file = folder + "/manifest.json"});
  }
}

}  // namespace weft::sft
