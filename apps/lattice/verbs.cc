// SPDX-License-Identifier: Apache-2.0

#include "apps/lattice/verbs.h"

namespace weft::lattice {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> kVerbs = {
      {.name = "run",
       .what = "Does every step that the configuration names, and goes on where it stopped",
       .examples = "  lattice run examples/ads-small/lattice.yaml --out runs/ads-small\n"
                   "  lattice run examples/adult/lattice.yaml --out runs/adult",
       .work = run_run},
      {.name = "world",
       .what = "Writes a synthetic ads log whose truth is known",
       .examples = "  lattice world --out runs/world\n"
                   "  lattice world --set world.impressions=100000 --out runs/small",
       .work = run_world,
       .section = "world",
       .in_run = true},
      {.name = "inspect",
       .what = "Shows types, ranges, missing values and labels of the tables, and audits for leaks",
       .examples = "  lattice inspect examples/adult/lattice.yaml\n"
                   "  lattice inspect runs/world/lattice.yaml --json",
       .work = run_inspect,
       .section = "data"},
      {.name = "partition",
       .what = "Groups portfolios that one model should serve, and says why",
       .examples = "  lattice partition runs/world/lattice.yaml --out runs/partition",
       .work = run_partition,
       .section = "partition",
       .in_run = true,
       .reads = "world"},
      {.name = "zip",
       .what = "Labels each impression under one attribution window",
       .examples = "  lattice zip runs/world/lattice.yaml --out runs/zip",
       .work = run_zip,
       .section = "zip",
       .in_run = true,
       .reads = "world"},
      {.name = "ingest",
       .what = "Turns tables into training shards",
       .examples =
           "  lattice ingest examples/adult/lattice.yaml --out runs/adult\n"
           "  lattice ingest runs/world/lattice.yaml --set data.zipped=runs/zip --out runs/shards",
       .work = run_ingest,
       .section = "data",
       .in_run = true,
       .reads = "world"},
#ifdef WEFT_TORCH
      {.name = "train",
       .what = "Trains networks on shards, and goes on from a checkpoint",
       .examples = "  lattice train examples/adult/lattice.yaml --in runs/adult/ingest\n"
                   "  lattice train examples/adult/lattice.yaml --in runs/adult/ingest "
                   "--set train.seed=2 --out runs/second",
       .work = run_train,
       .section = "train",
       .in_run = true,
       .reads = "ingest"},
      {.name = "teach",
       .what = "Writes what a trained model knows of (user, item) pairs into a store for students",
       .examples =
           "  lattice teach --in runs/ads-small/train --set teach.model=large "
           "--out runs/teacher\n"
           "  lattice train FILE --in runs/shards --set train.teacher.store=runs/teacher/store",
       .work = run_teach,
       .section = "teach",
       .in_run = true,
       .reads = "train"},
      {.name = "evaluate",
       .what = "Measures trained models by task, domain and window, with intervals",
       .examples = "  lattice evaluate examples/adult/lattice.yaml --in runs/adult/train",
       .work = run_evaluate,
       .section = "evaluate",
       .in_run = true,
       .reads = "train"},
      {.name = "compare",
       .what = "Compares evaluations of the same rows, paired",
       .examples =
           "  lattice compare runs/adult/evaluate runs/second/evaluate --out runs/comparison",
       .work = run_compare,
       .takes = Takes::Runs},
      {.name = "select",
       .what = "Chooses features for all tasks at once, by permutation importance and fronts",
       .examples = "  lattice select --in runs/ads-small/train --set select.budget=12",
       .work = run_select,
       .section = "select",
       .in_run = true,
       .reads = "train"},
      {.name = "claim",
       .what = "Measures a claim of the paper on synthetic worlds: 1 to 6",
       .examples = "  lattice claim 4\n  lattice claim 1 --set claim.seeds=5",
       .work = run_claim,
       .takes = Takes::Runs,
       .section = "claim"},
#endif
      {.name = "sketch",
       .what = "Plans how the ranks that train a network hold its blocks and tables",
       .examples = "  lattice sketch plan --profile profile.json --memory 80GB --out plan.json",
       .work = run_sketch,
       .takes = Takes::Words,
       .words = "plan",
       .options = {{"profile", "What was measured of blocks, links and tables (JSON)"},
                   {"memory", "Of one rank: 80GB, 64GiB"},
                   {"out", "Where the plan goes (default: nowhere)"}}},
      {.name = "store",
       .what = "Looks into a teacher's store, asks it for a pair, drops what is too old",
       .examples = "  lattice store inspect runs/teacher\n"
                   "  lattice store get runs/teacher --user 7 --item 11 --as-of "
                   "2025-01-31T12:30:00Z\n"
                   "  lattice store expire runs/teacher",
       .work = run_store,
       .takes = Takes::Words,
       .words = "inspect, get or expire, and the store's folder",
       .options = {{"user", "Whose entry: a whole number"},
                   {"item", "Of which item: a whole number"},
                   {"as-of", "The event's moment (default: now)"}}},
      {.name = "doctor",
       .what = "Checks this machine and changes nothing",
       .examples = "  lattice doctor",
       .work = run_doctor,
       .takes = Takes::Nothing},
  };
  return kVerbs;
}

}  // namespace weft::lattice
