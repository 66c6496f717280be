// SPDX-License-Identifier: Apache-2.0

// lattice train: networks learn from shards. Ctrl-C leaves a checkpoint; the same command goes on.
#include <atomic>
#include <csignal>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"
#include "lattice/training/train_run.h"

namespace weft::lattice {
namespace {

std::atomic<bool> stop_wanted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler writes it

void want_stop(int) {
  stop_wanted = true;
  std::signal(SIGINT, SIG_DFL);  // the second Ctrl-C ends at once
}

std::string count(double number) {
  return number >= 1e6 ? fmt::format("{:.2f} M", number / 1e6) : fmt::format("{:.0f}", number);
}

std::string report(const Json& summary, const std::string& path) {
  std::vector<Row> rows = {{"model", "for", "dense weights", "FLOPs a row", "rows", "seconds",
                            "rows/s", "validation loss"}};
  for (const Json& model : summary["models"])
    for (const Json& part : model["parts"]) {
      std::string tasks;
      for (const Json& task : part["tasks"])
        tasks += (tasks.empty() ? "" : ", ") + task.get<std::string>();
      const double seconds = part["seconds"];
      rows.push_back({model["name"], tasks, count(part["dense_parameters"]),
                      count(part["flops_per_sample"]), part["rows"].dump(),
                      fmt::format("{:.1f}", seconds),
                      fmt::format("{:.0f}", part["rows"].get<double>() / seconds),
                      part["validation_loss"].is_null()
                          ? "-"
                          : fmt::format("{:.5f} (pass {})", part["validation_loss"].get<double>(),
                                        part["best_pass"].dump())});
    }
  return table(rows) + path + "\n";
}

}  // namespace

Result<Outcome> run_train(const StepOptions& options) {
  const YamlDocument document = TRY(load_configuration(options, "train"));
  const TrainConfiguration train =
      TRY(read_training(document, section(document, "train"), base_folder(options)));
  const uint64_t total = TRY(rows_to_train(train));
  std::signal(SIGINT, want_stop);
  const Json summary = TRY(
      perform_step(options, "train",
                   {.configuration = to_json(train),
                    .inputs = {train.data + "/index.json"},
                    .seed = train.loop.seed},
                   total, [&](RunFolder& run, const Advance& advance) {
                     return train_models(train, run,
                                         {.stop = &stop_wanted,
                                          .progress = advance,
                                          .workers = options.workers == 0 ? 2 : options.workers});
                   }));
  std::signal(SIGINT, SIG_DFL);
  return Outcome{.json = to_text(summary), .text = report(summary, out_folder(options, "train"))};
}

}  // namespace weft::lattice
