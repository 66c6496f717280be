// SPDX-License-Identifier: Apache-2.0

// References share OpenBLAS, whose number of workers is a process-wide setting, so they run one
// after the other.
#include "ptxbench/problems/reference.h"

#include <fstream>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "ptxbench/problems/family.h"

namespace weft::problems {
namespace {

std::mutex reference_mutex;

// What the kernel says could be allocated without swapping. Nothing where it does not say.
std::optional<double> available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    double kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

Result<Done> check_memory(const Task& task, Sums sums) {
  const double needed = reference_bytes(task, sums).value_or(0);
  const std::optional<double> available = available_bytes();
  if (!available || needed <= *available) return Done{};
  return Error(fmt::format("the reference of {} needs {:.1f} GiB, of which {:.1f} are free",
                           task.definition.name, needed / 0x1p30, *available / 0x1p30),
               "shrink an axis with --set, or use a machine with more memory");
}

}  // namespace

Result<Expected> reference(const Task& task, const std::vector<Tensor>& inputs, Sums sums) {
  const Family* family = TRY(family_of(task.definition));
  TRY(check_memory(task, sums));
  const std::lock_guard lock(reference_mutex);
  return family->reference(task, inputs, {sums, nullptr});
}

Result<Expected> modelled(const Task& task, const std::vector<Tensor>& inputs, const Model& model) {
  const Family* family = TRY(family_of(task.definition));
  TRY(check_memory(task, Sums::Float32));
  const std::lock_guard lock(reference_mutex);
  return family->reference(task, inputs, {Sums::Float32, &model});
}

Result<Done> derive_inputs(const Task& task, std::vector<Tensor>& inputs) {
  const Family* family = TRY(family_of(task.definition));
  if (family->derive == nullptr) {
    return Error(
        fmt::format("derived inputs are not defined for this family: \"{}\"", family->name),
        "remove the tag derived:");
  }
  TRY(check_memory(task, Sums::Float32));
  const std::lock_guard lock(reference_mutex);
  family->derive(task, inputs);
  return Done{};
}

std::optional<double> floating_point_operations(const Task& task) {
  const Result<const Family*> family = family_of(task.definition);
  if (!family.ok() || (*family)->operations == nullptr) return std::nullopt;
  // How many keys there are is then known to the contents alone.
  for (const TensorSpec& spec : task.definition.inputs)
    if (spec.name == "kv_last_page_len") return std::nullopt;
  return (*family)->operations(task);
}

std::optional<double> reference_cost(const Task& task) {
  const Result<const Family*> family = family_of(task.definition);
  if (!family.ok()) return std::nullopt;
  return (*family)->cost(task);
}

std::optional<double> reference_bytes(const Task& task, Sums sums) {
  const Result<const Family*> family = family_of(task.definition);
  if (!family.ok()) return std::nullopt;
  return (*family)->elements(task) * (sums == Sums::Float64 ? 8 : 4);
}

}  // namespace weft::problems
