// SPDX-License-Identifier: Apache-2.0

// A learner's state as a safetensors file, whole or not at all. The metadata says which schema and
// network it belongs to; another one is an error, never a guess.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "lattice/learning/learner.h"

namespace weft::lattice {

struct ModelIdentity {
  std::string schema;   // of the shards
  std::string network;  // the resolved configuration on one line
  std::string tasks;    // names of tasks and windows, on one line
};

enum class Keep : uint8_t { Everything, ServedOnly };

// `progress` is kept as it is: where the training stands.
Result<Done> save(const std::string& path, Learner& learner, const ModelIdentity& identity,
                  const Json& progress, Keep keep);
// Fills the learner; returns what was kept as progress.
Result<Json> load(const std::string& path, Learner& learner, const ModelIdentity& identity,
                  Keep keep);
// The metadata without the tensors.
Result<ModelIdentity> identity_of(const std::string& path);

}  // namespace weft::lattice
