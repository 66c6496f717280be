// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/agent/prompt.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/near_match.h"
#include "base/text_file.h"

namespace weft::agent {
namespace {
namespace fs = std::filesystem;

std::string shape_text(const problems::Task& task, const problems::TensorSpec& spec) {
  if (spec.scalar()) return "scalar, passed as a plain value";
  std::string names, values;
  for (const std::string& axis : spec.shape) {
    names += (names.empty() ? "" : ", ") + axis;
    values += fmt::format("{}{}", values.empty() ? "" : ", ", task.axis(axis));
  }
  return fmt::format("[{}] = [{}]", names, values);
}

}  // namespace

Result<PromptBook> PromptBook::open(const std::string& folder) {
  PromptBook book;
  book.instructions_ =
      TRY(read_file(folder + "/system.md")) + "\n" + TRY(read_file(folder + "/contract.md"));
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder + "/packs", failure))
    if (entry.path().extension() == ".md")
      book.packs_[entry.path().stem().string()] = TRY(read_file(entry.path().string()));
  const std::string file = folder + "/tags.json";
  const Json tags = TRY(read_json(file));
  try {
    for (const auto& [tag, packs] : tags.items())
      book.tags_[tag] = packs.get<std::vector<std::string>>();
  } catch (const Json::exception& error) {
    return Error(Diagnostic{.message = std::string("tags are lists of packs: ") + error.what(),
                            .file = file});
  }
  for (const auto& [tag, packs] : book.tags_)
    for (const std::string& pack : packs)
      if (!book.packs_.contains(pack))
        return Error(Diagnostic{.message = fmt::format("tag {} names no pack: {}", tag, pack),
                                .hint = suggestion(pack, book.pack_names(), "packs"),
                                .file = file});
  return book;
}

std::vector<std::string> PromptBook::tags() const {
  std::vector<std::string> names;
  for (const auto& [name, packs] : tags_) names.push_back(name);
  return names;
}

std::vector<std::string> PromptBook::pack_names() const {
  std::vector<std::string> names;
  for (const auto& [name, text] : packs_) names.push_back(name);
  return names;
}

Result<std::vector<std::string>> PromptBook::packs(const std::string& tag) const {
  std::vector<std::string> chosen;
  const auto add = [&](const std::string& name) {
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(name);
  };
  for (size_t start = 0; start <= tag.size();) {
    const size_t end = std::min(tag.find('+', start), tag.size());
    const std::string word = tag.substr(start, end - start);
    start = end + 1;
    if (const auto named = tags_.find(word); named != tags_.end()) {
      for (const std::string& pack : named->second) add(pack);
    } else if (packs_.contains(word)) {
      add(word);
    } else {
      std::vector<std::string> known = tags();
      for (const std::string& pack : pack_names()) known.push_back(pack);
      return Error(fmt::format("no prompt tag or pack of this name: \"{}\"", word),
                   suggestion(word, known, "tags and packs"));
    }
  }
  return chosen;
}

Result<std::string> PromptBook::system(const std::string& tag) const {
  std::string text = instructions_;
  for (const std::string& name : TRY(packs(tag))) text += "\n" + packs_.at(name);
  return text;
}

std::string task_prompt(const problems::Task& task, std::string_view architecture) {
  const problems::Definition& definition = task.definition;
  std::string text = fmt::format(
      "Task: {}\n\n{}\n\nArchitecture: {}\n\nAxes:\n", definition.name, definition.description,
      architecture == "blackwell" ? "Blackwell, sm_100a" : "Hopper, sm_90a");
  for (const problems::Axis& axis : definition.axes)
    text += fmt::format("- {} = {}{}{}\n", axis.name, task.axis(axis.name),
                        axis.value ? " (constant)" : "",
                        axis.description.empty() ? "" : ": " + axis.description);
  const auto list = [&](const char* title, const std::vector<problems::TensorSpec>& specs) {
    text += fmt::format("\n{}, in this order:\n", title);
    for (const problems::TensorSpec& spec : specs)
      text += fmt::format("- {}: {} {}{}\n", spec.name, problems::name(spec.dtype),
                          shape_text(task, spec),
                          spec.description.empty() ? "" : ": " + spec.description);
  };
  list("Inputs", definition.inputs);
  list("Outputs, which run() writes", definition.outputs);
  if (!definition.constraints.empty()) {
    text += "\nAlways true:\n";
    for (const std::string& constraint : definition.constraints) text += "- " + constraint + "\n";
  }
  return text +
         "\nWrite the whole kernel.cu in one fenced block. It is judged at these sizes with fresh "
         "inputs "
         "every time.\n";
}

int64_t estimated_tokens(const std::string& text) {
  return static_cast<int64_t>(text.size() + 3) / 4;
}

}  // namespace weft::agent
