// SPDX-License-Identifier: Apache-2.0

#include "lattice/training/checkpoint.h"

#include <cstring>
#include <map>

#include <nlohmann/json.hpp>

#include "base/safetensors.h"

namespace weft::lattice {
namespace {

Error refused(const std::string& path, const std::string& message, const std::string& hint) {
  return Error(Diagnostic{.message = message, .hint = hint, .file = path});
}

std::string text(const std::map<std::string, std::string>& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

}  // namespace

Result<Done> save(const std::string& path, Learner& learner, const ModelIdentity& identity,
                  const Json& progress, Keep keep) {
  std::map<std::string, TensorView> tensors;
  for (const StateTensor& one : learner.state())
    if (keep == Keep::Everything || one.served)
      tensors[one.name] = {
          "F32",
          one.shape,
          {reinterpret_cast<const char*>(one.values.data()), one.values.size_bytes()}};
  return write_safetensors(path, tensors,
                           {{"format", "lattice model 1"},
                            {"schema", identity.schema},
                            {"network", identity.network},
                            {"tasks", identity.tasks},
                            {"steps", std::to_string(learner.steps())},
                            {"progress", to_line(progress)}});
}

Result<ModelIdentity> identity_of(const std::string& path) {
  const Safetensors file = TRY(Safetensors::open(path));
  if (text(file.metadata(), "format") != "lattice model 1")
    return refused(path, "the file is not a model of lattice", "");
  return ModelIdentity{text(file.metadata(), "schema"), text(file.metadata(), "network"),
                       text(file.metadata(), "tasks")};
}

Result<Json> load(const std::string& path, Learner& learner, const ModelIdentity& identity,
                  Keep keep) {
  const ModelIdentity found = TRY(identity_of(path));
  if (found.schema != identity.schema)
    return refused(path, "the model was trained on data of another schema: " + found.schema,
                   "the data has " + identity.schema + "; train on this data");
  if (found.network != identity.network)
    return refused(path, "the model has another network: " + found.network,
                   "asked for was " + identity.network);
  if (found.tasks != identity.tasks)
    return refused(path, "the model has other tasks: " + found.tasks,
                   "asked for were " + identity.tasks);
  const Safetensors file = TRY(Safetensors::open(path));
  const std::vector<StateTensor> state = learner.state();
  for (const StateTensor& one : state) {  // all are looked at before one is changed
    if (keep == Keep::ServedOnly && !one.served) continue;
    const TensorView view = TRY(file.tensor(one.name));
    if (view.type != "F32" || view.shape != one.shape)
      return refused(path, "a tensor of the model has another type or shape: " + one.name, "");
  }
  for (const StateTensor& one : state) {
    if (keep == Keep::ServedOnly && !one.served) continue;
    const TensorView view = TRY(file.tensor(one.name));
    std::memcpy(one.values.data(), view.bytes.data(), view.bytes.size());
  }
  learner.set_steps(std::strtoull(text(file.metadata(), "steps").c_str(), nullptr, 10));
  return parse_json(text(file.metadata(), "progress"), path);
}

}  // namespace weft::lattice
