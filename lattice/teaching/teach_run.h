// SPDX-License-Identifier: Apache-2.0

// A trained network as a teacher: it runs over rows in order of time and writes, for the pair of
// each row, what it knows of it into a store. Reading is ahead of it and writing behind it, each in
// threads of their own.
//
//   store/          the store, unless the configuration names another
//   progress.json   how far it came; a second start goes on from there
//   metrics.jsonl   one line now and then
//
// An entry says when it was computed: its row's moment and `delay`. Rows from before the newest
// thing that the teacher learned from are left out (their students may not ask), and so are rows
// after `until`.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/distillation/teacher_store.h"
#include "lattice/schema/fields.h"
#include "lattice/schema/run_folder.h"

namespace weft::lattice {

// The map under "teach".
struct TeachConfiguration {
  std::string models;               // run folder of a train
  std::string model;                // by name; empty: its only one
  std::string data;                 // run folder of an ingest; empty: what the model was trained on
  std::vector<std::string> splits;  // none: all
  std::string store;                // its address; empty: in the run folder
  std::string version;              // empty: name and fingerprint of the model
  std::string user = "user_id", item = "item_id";
  EmbeddingFormat format = EmbeddingFormat::Fp16;
  // Retention 0: as long as the data lasts, and a lifetime; a replay is looked up late.
  StoreLimits limits;
  double delay_seconds = 60;  // between a row and its entry: the teacher is asynchronous
  int64_t until = INT64_MAX;  // rows after it are not taught
  uint64_t batch_rows = 1024;
};

Result<TeachConfiguration> read_teach(const YamlDocument& document, const YamlNode& node,
                                      const std::string& base);
Json to_json(const TeachConfiguration& configuration);

struct TeachHooks {
  const std::atomic<bool>* stop = nullptr;  // set by Ctrl-C
  std::function<void(const std::string& stage, uint64_t rows)> progress = [](const std::string&,
                                                                             uint64_t) {};
  unsigned workers = 2;
};

// How many rows there are.
Result<uint64_t> rows_to_teach(const TeachConfiguration& configuration);

// The summary: the teacher, what was written, rows a second of this start, and what look-ups of the
// rows themselves found before they were written: the hit rate of a student beside it, by age.
Result<Json> teach(const TeachConfiguration& configuration, RunFolder& run,
                   const TeachHooks& hooks);

}  // namespace weft::lattice
