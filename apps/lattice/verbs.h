// SPDX-License-Identifier: Apache-2.0

// The verbs of lattice, one file each. A verb does its work and says what came out of it; main.cc
// alone reads the command line and prints. verbs.cc lists them: a new verb is a file and a row.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::lattice {

// What every verb returns to the shell.
enum ExitCode : int {
  kPassed = 0,
  kFailed = 1,       // ran, and what it checked is not so
  kUsage = 2,        // the command line, a configuration or a file it names
  kEnvironment = 3,  // something is missing on this machine
  kInternal = 4,     // our own bug
};

struct StepOptions {
  std::string configuration;      // a YAML file; may be empty
  std::string fallback;           // another, for the sections that the first has not; may be empty
  std::string input;              // folder that relative files start from; empty: the YAML file's
  std::string out;                // the run folder; empty: runs/VERB
  std::vector<std::string> set;   // "world.seed=7"
  std::vector<std::string> runs;  // run folders to look at, or the claim, for verbs that take them
  std::string until;              // the last step of a run; empty: all
  unsigned workers = 0;
  std::map<std::string, std::string> named;  // the verb's own options that were given
  std::vector<std::string> command;          // as typed
};

struct Outcome {
  std::string json;  // for programs
  std::string text;  // the same for people
  ExitCode exit_code = kPassed;
};

// Words: what to do, and with what, as `store get FOLDER`; they come in `runs`.
enum class Takes : uint8_t { Configuration, Runs, Words, Nothing };

// Of one verb: --NAME VALUE.
struct VerbOption {
  std::string name, what;
};

struct Verb {
  std::string name, what, examples;
  Result<Outcome> (*work)(const StepOptions&);
  Takes takes = Takes::Configuration;
  std::string section = {};  // of the configuration that it reads; empty: none of its own
  // For the steps that `run` takes, in the order of the list: the step whose run folder is its
  // --in ("" for the folder of the configuration). `run` leaves a step out whose section is
  // nowhere.
  bool in_run = false;
  std::string reads = {};
  std::string words = {};  // of Takes::Words, for the help
  std::vector<VerbOption> options = {};
};

// In the order in which people meet them.
const std::vector<Verb>& verbs();

Result<Outcome> run_claim(const StepOptions& options);
Result<Outcome> run_compare(const StepOptions& options);
Result<Outcome> run_doctor(const StepOptions& options);
Result<Outcome> run_evaluate(const StepOptions& options);
Result<Outcome> run_ingest(const StepOptions& options);
Result<Outcome> run_inspect(const StepOptions& options);
Result<Outcome> run_partition(const StepOptions& options);
Result<Outcome> run_run(const StepOptions& options);
Result<Outcome> run_select(const StepOptions& options);
Result<Outcome> run_sketch(const StepOptions& options);
Result<Outcome> run_store(const StepOptions& options);
Result<Outcome> run_teach(const StepOptions& options);
Result<Outcome> run_train(const StepOptions& options);
Result<Outcome> run_world(const StepOptions& options);
Result<Outcome> run_zip(const StepOptions& options);

}  // namespace weft::lattice
