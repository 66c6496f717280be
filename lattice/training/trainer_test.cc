// SPDX-License-Identifier: Apache-2.0

// A task whose rule is known, on rows in memory. What a stopped training must equal is the one that
// was never stopped.
#include "lattice/training/trainer.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/mix.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "lattice/training/batch_rows.h"
#include "lattice/training/rates.h"

namespace weft::lattice {
namespace {

ShardIndex schema() {
  ShardIndex index;
  index.tables = {{"color", 10}, {"shop", 40}};
  index.dense = {"price", "age"};
  index.labels = {{"click", false}, {"buy", true}};
  index.domains = {"feed", "search"};
  index.windows = {3600, 86400};
  index.sequences = {{"seen", 1}};
  index.sequence_length = 3;
  index.schema = "abc";
  return index;
}

// "click" follows price and color, "buy" the opposite of price; both are noisy.
Batch rows(size_t count, uint64_t seed) {
  Batch batch;
  batch.rows = count;
  batch.categorical.resize(2 * count);
  batch.sequence_offsets = {0};
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = mix(seed, i);
    const auto color = static_cast<int32_t>(1 + bits % 9);
    const float price = static_cast<float>((bits >> 8) % 1000) / 250 - 2;
    batch.categorical[i] = color;
    batch.categorical[count + i] = static_cast<int32_t>(1 + (bits >> 20) % 30);
    batch.dense.insert(batch.dense.end(), {price, static_cast<float>((bits >> 30) % 3) - 1});
    batch.dense_present.insert(batch.dense_present.end(), {1, 1});
    const auto draw = [&](double logit, uint64_t salt) {
      return static_cast<double>(mix(bits, salt) % 10'000) / 10'000 < 1 / (1 + std::exp(-logit))
                 ? 1.0f
                 : 0.0f;
    };
    batch.label.push_back(draw(1.5 * price + (color < 4 ? 1.5 : -0.5), 1));
    batch.label.push_back(draw(-1.5 * price - 1, 2));
    batch.label_known.insert(batch.label_known.end(), {1, 1});
    batch.domain.push_back((bits >> 40) % 3 == 0);
    batch.window.push_back((bits >> 44) % 2);
    batch.id.push_back(1000 + i);
    for (uint64_t e = 0; e < i % 3; ++e) {
      batch.sequence.push_back(static_cast<int32_t>(1 + (bits >> (48 + e)) % 30));
      batch.sequence_age.push_back(static_cast<float>(60 * (e + 1)));
    }
    batch.sequence_offsets.push_back(static_cast<int64_t>(batch.sequence_age.size()));
  }
  return batch;
}

Learner learner(uint64_t seed = 1) {
  const YamlDocument document =
      parse_yaml("{kind: mlp, width: 8, hidden: [16], head: [8]}", "network").value();
  return Learner::create(schema(), document, document.root,
                         {.seed = seed,
                          .tasks = {{"click", {0.4}}, {"buy", {0.3, 0.3}}},
                          .dense = {.learning_rate = 0.01},
                          .table_learning_rate = 0.05})
      .value();
}

Training training(const BatchSource& source) {
  Training t;
  t.options = {.batch_rows = 100, .passes = 3, .log_every = 7, .checkpoint_every = 10};
  t.tasks = {"click", "buy"};
  t.loss = loss_of(Objective({{.name = "click"}, {.name = "buy", .windowed = true}}, 2,
                             {.weight = 0.05, .least_rows = 8}),
                   {0, 1});
  t.source = &source;
  t.identity = {"abc", "mlp", "click, buy"};
  return t;
}

std::vector<std::vector<float>> state_of(Learner& one) {
  std::vector<std::vector<float>> all;
  for (const StateTensor& tensor : one.state())
    all.emplace_back(tensor.values.begin(), tensor.values.end());
  return all;
}

RunFolder open_run(const std::string& path) {
  return RunFolder::open(path, {.verb = "train", .configuration = {{"a", 1}}}).value();
}

TEST(Trainer, LearnsARule) {
  const MemorySource source(rows(4000, 1)), held_out(rows(2000, 2));
  Learner one = learner();
  Training t = training(source);
  t.validation = &held_out;
  const TrainingOutcome outcome = train(one, t).value();
  EXPECT_EQ(outcome.steps, 120u);
  EXPECT_EQ(outcome.rows, 12'000u);
  const std::vector<TaskSums> sums = measure(one, held_out, t.loss, t.options).value();
  // The background scores about 0.68 and 0.62; half of the way to certainty is far above noise.
  EXPECT_LT(sums[0].loss / 2000, 0.52);
  EXPECT_LT(sums[1].loss / 2000, 0.52);
  EXPECT_NEAR(sums[0].predicted / sums[0].positives, 1, 0.1);
}

TEST(Trainer, GoesOnBitForBitWhereItWasKilled) {
  const MemorySource source(rows(1000, 1)), held_out(rows(300, 2));
  const TemporaryDirectory folder = TemporaryDirectory::create("train").value();
  Training t = training(source);
  t.validation = &held_out;
  Learner whole = learner();
  RunFolder run = open_run(folder.file("whole"));
  t.run = &run;
  // What a kill leaves behind: the folder as it is between two checkpoints.
  t.progress = [&](const TrainingProgress& now) {
    if (now.step == 14)
      std::filesystem::copy(folder.file("whole"), folder.file("killed"),
                            std::filesystem::copy_options::recursive);
  };
  train(whole, t).value();

  RunFolder again = open_run(folder.file("killed"));
  Training rest = training(source);
  rest.validation = &held_out;
  rest.run = &again;
  Learner other = learner(9);  // other weights, so that nothing is equal by accident
  uint64_t first_step = 0;
  rest.progress = [&](const TrainingProgress& now) {
    if (first_step == 0) first_step = now.step;
  };
  const TrainingOutcome outcome = train(other, rest).value();
  EXPECT_EQ(first_step, 10u);  // from the checkpoint at 10; from the start it would be 7
  EXPECT_EQ(outcome.steps, whole.steps());
  EXPECT_EQ(state_of(other), state_of(whole));
  EXPECT_EQ(read_file(folder.file("killed/model.safetensors")).value(),
            read_file(folder.file("whole/model.safetensors")).value());
}

TEST(Trainer, AnInterruptLeavesACheckpointToGoOnFrom) {
  const MemorySource source(rows(1000, 1));
  const TemporaryDirectory folder = TemporaryDirectory::create("train").value();
  Learner whole = learner();
  train(whole, training(source)).value();

  std::atomic<bool> stop = false;
  Training t = training(source);
  RunFolder run = open_run(folder.file("run"));
  t.run = &run;
  t.stop = &stop;
  t.progress = [&](const TrainingProgress& now) { stop = now.step == 7; };
  Learner one = learner();
  const TrainingOutcome stopped = train(one, t).value();
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_EQ(stopped.steps, 8u);
  t.stop = nullptr;
  Learner other = learner(9);
  EXPECT_FALSE(train(other, t).value().interrupted);
  EXPECT_EQ(state_of(other), state_of(whole));
}

TEST(Trainer, KeepsTheBestPassAndLosesPatience) {
  // Labels of the validation contradict those of the training, so every pass makes it worse.
  Batch opposite = rows(300, 1);
  for (float& label : opposite.label) label = 1 - label;
  const MemorySource source(rows(1000, 1)), held_out(std::move(opposite));
  Training t = training(source);
  t.options.passes = 9;
  t.options.patience = 2;
  t.validation = &held_out;
  Learner one = learner();
  const TrainingOutcome outcome = train(one, t).value();
  EXPECT_EQ(outcome.best_pass, 1u);
  EXPECT_EQ(outcome.steps, 30u);
  Learner first = learner();
  t.options.passes = 1;
  train(first, t).value();
  const Batch probe = rows(50, 3);
  EXPECT_EQ(one.logits(probe).value(), first.logits(probe).value());
}

TEST(Checkpoint, OfAnotherSchemaNetworkOrTasksIsRefused) {
  const TemporaryDirectory folder = TemporaryDirectory::create("train").value();
  const std::string path = folder.file("model.safetensors");
  Learner one = learner();
  const ModelIdentity identity = {"abc", "mlp", "click, buy"};
  ASSERT_TRUE(save(path, one, identity, {}, Keep::ServedOnly).ok());
  EXPECT_TRUE(load(path, one, identity, Keep::ServedOnly).ok());
  const auto refusal = [&](const ModelIdentity& other) {
    const Result<Json> loaded = load(path, one, other, Keep::ServedOnly);
    return loaded.ok() ? "accepted" : loaded.error().message();
  };
  EXPECT_EQ(refusal({"xyz", "mlp", "click, buy"}),
            "the model was trained on data of another schema: abc");
  EXPECT_EQ(refusal({"abc", "dlrm", "click, buy"}), "the model has another network: mlp");
  EXPECT_EQ(refusal({"abc", "mlp", "click"}), "the model has other tasks: click, buy");
  // Moments are missing from what is served; a cut file has less than its header says.
  EXPECT_FALSE(load(path, one, identity, Keep::Everything).ok());
  const std::string bytes = read_file(path).value();
  ASSERT_TRUE(write_file(path, bytes.substr(0, bytes.size() - 8)).ok());
  EXPECT_FALSE(load(path, one, identity, Keep::ServedOnly).ok());
}

TEST(Learner, NamesTheFeatureAndTheRowThatAreNotFinite) {
  const MemorySource source(rows(100, 1));
  Learner one = learner();
  const std::vector<std::vector<float>> before = state_of(one);
  Batch batch = rows(100, 1);
  batch.dense[2 * 37 + 1] = NAN;
  const Result<Loss> loss = one.step(batch, training(source).loss);
  ASSERT_FALSE(loss.ok());
  EXPECT_EQ(loss.error().message(),
            "a value is not a finite number: feature age of the row with id 1037 at step 1");
  EXPECT_EQ(state_of(one), before);
  // An embedding that has overflowed, found through a row that reads it.
  for (const StateTensor& tensor : one.state())
    if (tensor.name == "tables")
      for (size_t i = 0; i < 8; ++i) tensor.values[(1 + 5) * 8 + i] = INFINITY;  // color 5
  const Result<Loss> broken = one.step(rows(100, 1), training(source).loss);
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message().find("feature color with table row 5, the row with id"),
            std::string::npos)
      << broken.error().message();
}

TEST(Learner, TouchesOnlyTheRowsSeen) {
  const MemorySource source(rows(100, 1));
  Learner one = learner();
  const std::vector<std::vector<float>> before = state_of(one);
  const Batch batch = rows(100, 1);
  ASSERT_TRUE(one.step(batch, training(source).loss).ok());
  std::vector<bool> seen(51);
  for (size_t i = 0; i < 100; ++i) {
    seen[1 + static_cast<size_t>(batch.categorical[i])] = true;
    seen[11 + static_cast<size_t>(batch.categorical[100 + i])] = true;
  }
  for (const int32_t id : batch.sequence) seen[11 + static_cast<size_t>(id)] = true;
  const std::vector<StateTensor> state = one.state();
  for (size_t t = 0; t < state.size(); ++t) {
    if (state[t].name != "tables") continue;
    ASSERT_EQ(state[t].shape, (std::vector<uint64_t>{51, 8}));
    for (size_t row = 0; row < 51; ++row)
      EXPECT_EQ(!std::equal(state[t].values.begin() + static_cast<std::ptrdiff_t>(row * 8),
                            state[t].values.begin() + static_cast<std::ptrdiff_t>(row * 8 + 8),
                            before[t].begin() + static_cast<std::ptrdiff_t>(row * 8)),
                seen[row])
          << row;
  }
}

TEST(BatchRows, TakingAndJoiningGiveTheRowsBack) {
  const Batch all = rows(30, 4);
  const std::vector<uint32_t> head = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, tail = {10, 11, 12, 13};
  const std::vector<uint32_t> both = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  const std::vector<Batch> parts = {take_rows(all, head), take_rows(all, tail)};
  const Batch joined = join(parts), taken = take_rows(all, both);
  EXPECT_EQ(joined.categorical, taken.categorical);
  EXPECT_EQ(joined.sequence, taken.sequence);
  EXPECT_EQ(joined.sequence_offsets, taken.sequence_offsets);
  EXPECT_EQ(joined.dense, taken.dense);
  EXPECT_EQ(joined.label, taken.label);
  const std::vector<uint32_t> one = {11};
  const Batch row = take_rows(all, one);
  EXPECT_EQ(row.categorical, (std::vector<int32_t>{all.categorical[11], all.categorical[41]}));
  EXPECT_EQ(row.id[0], 1011u);
  EXPECT_EQ(row.sequence_offsets, (std::vector<int64_t>{0, 2}));  // 11 % 3 events
  EXPECT_EQ(row.sequence[0], all.sequence[static_cast<size_t>(all.sequence_offsets[11])]);
}

TEST(BatchSource, APassHasEachRowOnceAndADomainItsOwn) {
  const MemorySource source(rows(95, 1));
  std::vector<uint64_t> ids;
  Batch batch;
  for (Batches next = source.pass({.batch_rows = 20, .seed = 3}); next(batch);)
    ids.insert(ids.end(), batch.id.begin(), batch.id.end());
  EXPECT_EQ(ids.size(), 95u);
  EXPECT_FALSE(std::is_sorted(ids.begin(), ids.end()));
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
  uint64_t searched = 0;
  for (Batches next = of_domain(source.pass({.batch_rows = 20}), 1, 20); next(batch);) {
    EXPECT_EQ(std::count(batch.domain.begin(), batch.domain.end(), 1),
              static_cast<std::ptrdiff_t>(batch.rows));
    searched += batch.rows;
  }
  EXPECT_EQ(searched, static_cast<uint64_t>(
                          std::count(source.all().domain.begin(), source.all().domain.end(), 1)));
}

TEST(Rates, ByHand) {
  Batch batch;
  batch.rows = 4;
  batch.label = {1, 0, 0, 1, 0, 1, 1, 1};
  batch.label_known = {1, 1, 1, 1, 1, 1, 0, 1};
  batch.domain = {0, 0, 1, 1};
  batch.window = {0, 1, 1, 1};
  const Rates rates = count_rates(MemorySource(batch), schema());
  EXPECT_DOUBLE_EQ(*rates.rate(-1, 0, 0), 1.0 / 3);  // the last click is unknown
  EXPECT_DOUBLE_EQ(*rates.rate(0, 0, 0), 0.5);
  EXPECT_DOUBLE_EQ(*rates.rate(-1, 1, 0), 0);
  EXPECT_DOUBLE_EQ(*rates.rate(-1, 1, 1), 1);
  EXPECT_FALSE(rates.rate(1, 1, 0).has_value());
  EXPECT_EQ(rates.starting_rates(-1, 1, true), (std::vector<double>{1e-4, 1 - 1e-4}));
  EXPECT_DOUBLE_EQ(rates.share(1), 0.5);
  EXPECT_EQ(*Rates::from_json(rates.to_json()).rate(0, 0, 0), 0.5);
}

}  // namespace
}  // namespace weft::lattice
