// SPDX-License-Identifier: Apache-2.0

// lattice: from event logs to one model of many domains and objectives. This file alone sees the
// library for command lines.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/lattice/verbs.h"

namespace weft::lattice {
namespace {

struct Command {
  StepOptions options;
  bool json = false;
};

int perform(const Verb& verb, const Command& command) {
  const Result<Outcome> outcome = verb.work(command.options);
  if (!outcome.ok()) {
    std::fprintf(stderr, "%s\n", format(outcome.error()).c_str());
    return kUsage;
  }
  const std::string& text = command.json ? outcome->json : outcome->text;
  std::fwrite(text.data(), 1, text.size(), stdout);
  return outcome->exit_code;
}

void add_verb(CLI::App& app, const Verb& verb, int count, char** arguments, int& exit_code) {
  const auto command = std::make_shared<Command>();
  StepOptions& options = command->options;
  options.command.assign(arguments, arguments + count);
  CLI::App* sub = app.add_subcommand(verb.name, verb.what);
  sub->footer("Examples:\n" + verb.examples);
  sub->add_flag("--json", command->json, "Print JSON");
  if (verb.takes == Takes::Runs)
    sub->add_option(verb.section.empty() ? "runs" : verb.section, options.runs,
                    verb.section.empty() ? "Run folders" : "Which")
        ->required();
  if (verb.takes == Takes::Words) sub->add_option("words", options.runs, verb.words)->required();
  for (const VerbOption& option : verb.options)
    sub->add_option_function<std::string>(
        "--" + option.name,
        [&options, name = option.name](const std::string& value) { options.named[name] = value; },
        option.what);
  if (verb.takes == Takes::Configuration) {
    sub->add_option("configuration", options.configuration,
                    "A YAML file; without one, defaults apply");
    sub->add_option("--in", options.input,
                    "Folder that relative files start from (default: the configuration's)");
  }
  if (verb.name == "run")
    sub->add_option("--until", options.until, "The last step: --until ingest");
  if (!verb.section.empty() || verb.takes == Takes::Configuration)
    sub->add_option("--set", options.set, "Set a value: --set world.seed=7; may be repeated")
        ->allow_extra_args(false);
  if (verb.takes == Takes::Configuration || verb.takes == Takes::Runs) {
    sub->add_option("--out", options.out,
                    verb.name == "compare" ? "Folder for plots, comparison.html (default: none)"
                                           : "The run's folder (default: runs/" + verb.name + ")");
    sub->add_option("--workers", options.workers,
                    "Threads (default: one a core); results do not depend on it");
  }
  sub->callback([&verb, command, &exit_code] { exit_code = perform(verb, *command); });
}

}  // namespace
}  // namespace weft::lattice

int main(int count, char** arguments) {
  using namespace weft::lattice;
  CLI::App app("One model space for many domains and objectives.", "lattice");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 passed, 1 failed the check, 2 usage or input, 3 environment, 4 internal.\n"
      "Start with:  lattice run examples/ads-small/lattice.yaml");
  int exit_code = kPassed;
  for (const Verb& verb : verbs()) add_verb(app, verb, count, arguments, exit_code);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kPassed : kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lattice: internal error: %s\n", error.what());
    return kInternal;
  }
  return exit_code;
}
