// SPDX-License-Identifier: Apache-2.0

// Training and prediction of Lattice's network on the CPU, in samples a second: 24 tables of
// 100,000 rows, 2 dense groups, a history of 50 events, width 64, 3 layers, 4 domains in 2 groups,
// 2 tasks of which one has 3 windows; about 64 MFLOP forward a sample.
//
// A training step is the trainer's own (forward, loss, backward, Adam, row-wise Adagrad). The limit
// is a large fp32 matrix product by the better of OpenBLAS and oneDNN, in turns with the steps,
// because other programs share the machine: the best turn of each counts. Before that the network's
// logits and the derivatives of its weights are compared with the same network in float64, which
// goes through other code (tensor operations instead of our loops).
//
//   bench_lattice_speed [batch rows] [turns] [mean length of histories] [threads]

#include <ATen/Parallel.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>

#include "lattice/learning/learner.h"
#include "lattice/networks/network.h"

namespace {

using namespace weft;
using namespace weft::lattice;

constexpr const char* kNetwork =
    "{kind: lattice, width: 64, layers: 3, heads: 2, feed: 4, mixtures: 24, fm_tokens: 16, "
    "linear_tokens: 16, fm_hidden: 2048, head: 128}";
constexpr uint64_t kTables = 24, kTableRows = 100'000, kDense = 8, kLength = 50, kDomains = 4;

// With one thread processor time counts, which other programs hardly change.
int threads = static_cast<int>(std::thread::hardware_concurrency());
double seconds() {
  timespec now;
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

ShardIndex schema() {
  ShardIndex index;
  for (uint64_t t = 0; t < kTables; ++t)
    index.tables.push_back({"table" + std::to_string(t), kTableRows});
  for (uint64_t c = 0; c < kDense; ++c) index.dense.push_back("dense" + std::to_string(c));
  index.labels = {{"click", false}, {"buy", true}};
  for (uint64_t d = 0; d < kDomains; ++d) index.domains.push_back("domain" + std::to_string(d));
  index.windows = {5400, 86'400, 604'800};
  index.sequences = {{"item", 0}, {"action", 1}};
  index.sequence_length = kLength;
  return index;
}

Batch make(uint64_t rows, uint64_t mean_length, uint64_t seed) {
  std::mt19937_64 random(seed);
  Batch batch;
  batch.rows = rows;
  const auto id = [&] { return static_cast<int32_t>(1 + random() % (kTableRows - 1)); };
  for (uint64_t i = 0; i < kTables * rows; ++i) batch.categorical.push_back(id());
  batch.sequence_offsets.push_back(0);
  for (uint64_t i = 0; i < rows; ++i) {
    for (uint64_t c = 0; c < kDense; ++c) {
      batch.dense.push_back(static_cast<float>(random() % 2001) / 1000.0f - 1.0f);
      batch.dense_present.push_back(1);
    }
    for (int t = 0; t < 2; ++t) {
      batch.label.push_back(random() % 10 == 0);
      batch.label_known.push_back(1);
    }
    batch.domain.push_back(static_cast<int32_t>(random() % kDomains));
    batch.window.push_back(static_cast<uint8_t>(random() % 3));
    // Full, or even between nothing and twice the mean.
    const uint64_t length =
        mean_length >= kLength ? kLength : std::min(kLength, random() % (2 * mean_length + 1));
    batch.sequence_offsets.push_back(batch.sequence_offsets.back() + static_cast<int64_t>(length));
  }
  const auto events = static_cast<uint64_t>(batch.sequence_offsets.back());
  for (uint64_t i = 0; i < 2 * events; ++i) batch.sequence.push_back(id());
  for (uint64_t i = 0; i < events; ++i)
    batch.sequence_age.push_back(static_cast<float>(random() % 1'000'000));
  return batch;
}

// The answer: fp32 against float64, logits and derivatives, on histories of all lengths.
bool right(const YamlDocument& document) {
  NetworkInputs inputs;
  for (uint64_t t = 0; t < kTables; ++t) inputs.categorical.push_back({"t", 1000});
  inputs.dense_columns = kDense;
  inputs.dense_groups = {{"a", {0, 1, 2, 3}}, {"b", {4, 5, 6, 7}}};
  inputs.sequence = {.columns = {{"item", 0}, {"action", 1}}, .length = kLength};
  inputs.tasks = {{"click", 0, {0.1}}, {"buy", 1, {0.1, 0.1, 0.1}}};
  inputs.domains = {{"a", 0}, {"b", 1}, {"c", 0}, {"d", 1}};
  Batch batch = make(24, 20, 5);
  for (int32_t& value : batch.categorical) value %= 1000;
  for (int32_t& value : batch.sequence) value %= 1000;
  const BatchView view{.rows = batch.rows,
                       .categorical = batch.categorical,
                       .dense = batch.dense,
                       .dense_present = batch.dense_present,
                       .domain = batch.domain,
                       .sequence_offsets = batch.sequence_offsets,
                       .sequence = batch.sequence,
                       .sequence_age = batch.sequence_age};
  at::Tensor tables;
  std::vector<at::Tensor> logits;
  std::vector<std::vector<at::Tensor>> slopes;
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    const auto network = make_network(document, document.root, {.inputs = inputs, .type = type});
    if (!network.ok()) return std::puts(format(network.error()).c_str()), false;
    Network& made = *network.value();
    // Tables are drawn in their own precision, so one takes the other's.
    if (tables.defined()) made.tables().weight().copy_(tables);
    tables = made.tables().weight();
    Pass pass;
    const at::Tensor result =
        made.forward(make_batch(view, inputs, made.tables()).value().to(type), pass);
    (result * at::arange(result.numel(), result.options()).sin().view_as(result)).sum().backward();
    logits.push_back(result.detach().to(at::kDouble));
    slopes.emplace_back();
    for (const auto& named : made.parameters().all())
      slopes.back().push_back(named.value.grad().to(at::kDouble));
  }
  double worst = (logits[0] - logits[1]).abs().max().item<double>();
  for (size_t i = 0; i < slopes[0].size(); ++i) {
    const double size = slopes[0][i].norm().item<double>() + 1e-3;
    worst = std::max(worst, (slopes[0][i] - slopes[1][i]).norm().item<double>() / size);
  }
  std::printf("fp32 against float64: largest difference of logits and derivatives %.1e\n", worst);
  return worst < 1e-3;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1024;
  const int turns = argc > 2 ? std::atoi(argv[2]) : 5;
  const uint64_t length = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : kLength;
  if (argc > 4) threads = std::atoi(argv[4]);
  const YamlDocument document = parse_yaml(kNetwork, "network").value();
  if (!right(document)) return std::puts("WRONG"), 1;

  auto created = Learner::create(schema(), document, document.root,
                                 {.tasks = {{"click", {0.1}}, {"buy", {0.1, 0.1, 0.1}}},
                                  .domain_groups = {0, 1, 0, 1},
                                  .dense_tokens = 2});
  if (!created.ok()) return std::puts(format(created.error()).c_str()), 1;
  Learner learner = std::move(created.value());
  at::set_num_threads(threads);
  const LossFunction loss =
      loss_of(Objective({{.name = "click"}, {.name = "buy", .windowed = true}}, 3, {}), {0, 1});
  const double forward = learner.flops_per_sample();
  std::printf(
      "%.1f MFLOP forward a sample with full histories, %.1f M dense weights, %.0f M in tables\n",
      forward * 1e-6, static_cast<double>(learner.dense_parameters()) * 1e-6,
      static_cast<double>(learner.table_parameters()) * 1e-6);

  const at::Tensor a = at::randn({1024, 2048}), b = at::randn({2048, 2048});
  double limit = 0, train = 0, predict = 0;
  const auto timed = [](const auto& work) {
    const double begin = seconds();
    work();
    return seconds() - begin;
  };
  const auto measure_limit = [&] {
    const at::NoGradGuard still;
    Pass pass;
    const double flops = 2 * 1024 * 2048 * 2048.0;
    limit = std::max(
        {limit, flops / timed([&] { at::mm(a, b); }), flops / timed([&] { product(a, b, pass); })});
  };
  for (int turn = 0; turn < turns; ++turn) {
    const Batch batch = make(rows, length, 100 + static_cast<uint64_t>(turn));
    measure_limit();
    const double count = static_cast<double>(rows);
    train = std::max(train, count / timed([&] { (void)learner.step(batch, loss); }));
    measure_limit();
    predict = std::max(predict, count / timed([&] { (void)learner.logits(batch); }));
  }
  // Backward is two products for each one of forward.
  std::printf(
      "histories of %s%llu events, batches of %llu, %d threads, matrix product %.0f GFLOP/s\n",
      length >= kLength ? "" : "on average ", static_cast<unsigned long long>(length),
      static_cast<unsigned long long>(rows), at::get_num_threads(), limit * 1e-9);
  std::printf("training   %7.0f samples/s", train);
  if (length >= kLength) std::printf(", %.2f of the limit", train * 3 * forward / limit);
  std::printf("\nprediction %7.0f samples/s", predict);
  if (length >= kLength) std::printf(", %.2f of the limit", predict * forward / limit);
  std::puts("");
  return 0;
}
