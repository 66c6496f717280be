// SPDX-License-Identifier: Apache-2.0

// What claims share: an arm is a way to serve all portfolios; it is trained on the rows of a world
// and measured on its last rows. Arms are compared seed by seed: a seed is a world of its own and
// the start of the weights, and all arms of a seed see the same rows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/claims/world_rows.h"
#include "lattice/metrics/resampling.h"
#include "lattice/training/configuration.h"
#include "lattice/training/student.h"

namespace weft::lattice {

struct ClaimOptions {
  uint64_t seeds = 3;
  uint64_t impressions = 0;  // 0: the claim's own size
  // Told what is being done.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// What a claim says in the end. `rows` is a table for people, with its heading.
struct ClaimReport {
  bool holds = false;
  std::string verdict;
  std::vector<std::vector<std::string>> rows;
  Json json;
};

struct Arm {
  std::string name;
  std::string network;  // YAML of the network
  Portfolios portfolios = Portfolios::Merged;
  bool untied = false;               // each domain has its own group of weights
  bool sees_domain = true;           // as one more feature
  std::vector<std::string> without;  // features that it does not see
  double learning_rate = 2e-3, table_learning_rate = 0.05;
  std::vector<double> task_weights;  // empty: 1
};

struct ArmResult {
  std::vector<double> ne, auc;  // [objectives, domains]
  double validation_loss = 0;   // sum over tasks
  double flops = 0;             // of an impression, all its tasks answered
  uint64_t dense_parameters = 0;
  // Of an arm with a teacher: the share of the test rows that hit, and NE when the store is away
  // while serving, though it was there in training.
  double hit_rate = 0;
  std::vector<double> ne_away;
};

// The teacher of an arm: what of it the arm uses, and where that is kept.
struct ArmTeacher {
  std::shared_ptr<TeacherStore> store;
  StudentConfiguration student;
  TeacherUse use = TeacherUse::Both;
};

struct ArmOptions {
  uint64_t seed = 1;
  uint64_t batch_rows = 512;
  uint64_t passes = 1;
  const ArmTeacher* teacher = nullptr;
  std::optional<Learner>* keep = nullptr;  // where the trained model goes, of an arm with one
};

Result<ArmResult> run_arm(const WorldRows& rows, const Arm& arm, const ArmOptions& options);

// NE by which an arm may be worse and still be equal. It must surely be within it: data that could
// not tell is no proof of equality.
constexpr double kEqualNe = 0.002;

// One minus other, seed by seed.
SeedMean paired(const std::vector<double>& one, const std::vector<double>& other);
std::string text(const SeedMean& mean, int digits = 4);
double mean(const std::vector<double>& values);
// The interval is entirely below or above a bound; without one (a single seed) it is not known.
bool surely_below(const SeedMean& difference, double bound);

}  // namespace weft::lattice
