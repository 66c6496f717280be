// SPDX-License-Identifier: Apache-2.0

// Repair pairs become chat rows that public trainers load as they are: KernelGen, three messages
// (system, task, answer), and Fixit, five (system, task, wrong kernel, what the judge said,
// answer).
//
//   train.jsonl, validation.jsonl   {"id", "messages": [{"role", "content"}], ...}, one row a line
//   *.parquet                       the same rows, where the build has DuckDB
//   manifest.json                   counts, settings, hashes, every dropped row with its reason,
//   and
//                                   for every row the pair and the verdicts that it came from
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/sft/bpe_tokenizer.h"
#include "ptxbench/sft/pair.h"
#include "ptxbench/sft/selection.h"

namespace weft::sft {

struct DatasetSettings {
  std::string output;  // folder
  bool fixit = true, kernelgen = true;
  std::map<std::string, std::string> inputs;  // files that decide the rows, with their hashes
  // The system's and the task's message, for a definition at these axes.
  std::function<Result<std::string>(const Pair&pair)> system, task;
  const BpeTokenizer* tokenizer = nullptr;  // null: tokens are not counted
  size_t most_tokens = 0;                   // of a row; needs a tokenizer; 0: no limit
  double near_duplicate = 0.9;
  HeldOut held_out;
  size_t most_per_cell = 0;       // rows of one kind, definition and error class; 0: no limit
  double validation_share = 0.1;  // all rows with one right kernel go to one side
  // Writes a Parquet file of a file of rows; empty: none is written.
  std::function<Result<Done>(const std::string& rows, const std::string& parquet)> parquet;
};

// The manifest.
Result<Json> build_dataset(const std::vector<Pair>& pairs, const DatasetSettings& settings);

// From a row back to its verdicts: what was found on the way, with "sound": whether every link
// holds (the row's text, its kernels' hashes, the envelopes and what they say).
Result<Json> audit_row(const std::string& folder, const std::string& row_id);

}  // namespace weft::sft
