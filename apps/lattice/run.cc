// SPDX-License-Identifier: Apache-2.0

// lattice run: every step that the configuration names, in the order of the list of verbs, each in
// a folder of its own. Steps that are finished are not done again.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"

namespace weft::lattice {
namespace {

Result<bool> has_section(const std::string& file, const std::string& name) {
  if (file.empty()) return false;
  const YamlDocument document = TRY(read_yaml(file));
  return document.root.find(name) != nullptr;
}

}  // namespace

Result<Outcome> run_run(const StepOptions& options) {
  const std::string out = out_folder(options, "run");
  StepOptions common = options;
  if (common.input.empty()) common.input = base_folder(options);
  Json steps = Json::array();
  Outcome outcome;
  bool ended = false;
  for (const Verb& verb : verbs()) {
    if (ended || !verb.in_run ||
        !(TRY(has_section(options.configuration, verb.section)) ||
          TRY(has_section(common.fallback, verb.section))))
      continue;
    StepOptions step = common;
    step.out = out + "/" + verb.name;
    if (!verb.reads.empty() && std::filesystem::exists(out + "/" + verb.reads))
      step.input = out + "/" + verb.reads;
    const Outcome done = TRY(verb.work(step));
    outcome.text += (outcome.text.empty() ? "" : "\n") + verb.name + "\n" + done.text;
    if (done.exit_code != kPassed) outcome.exit_code = done.exit_code;
    Json step_summary = TRY(parse_json(done.json, verb.name));
    steps.push_back({{"step", verb.name},
                     {"folder", step.out},
                     {"exit_code", int(done.exit_code)},
                     {"summary", std::move(step_summary)}});
    // A world brings the sections of the steps that read it; a zip's labels are named to those that
    // join them.
    ended = verb.name == options.until;
    if (verb.name == "world") common.fallback = step.out + "/lattice.yaml";
    if (verb.name == "zip") common.set.push_back("data.zipped=" + step.out);
  }
  if (!steps.empty() && !options.until.empty() && !ended)
    return Error("the configuration has no step named " + options.until,
                 "its steps are in the folder " + out);
  if (steps.empty())
    return Error(Diagnostic{.message = "the configuration names no step",
                            .hint = "give it a section such as world or data",
                            .file = options.configuration});
  outcome.json = to_text({{"steps", steps}});
  return outcome;
}

}  // namespace weft::lattice
