// SPDX-License-Identifier: Apache-2.0

// Const axes may be overridden too: that is how a task is shrunk to what an emulator runs in
// seconds. The override stays visible in the task, so that a reduced verdict is never taken for the
// full one.
#include "ptxbench/problems/workload.h"

#include <charconv>

#include <fmt/format.h>

#include "base/near_match.h"
#include "ptxbench/problems/document.h"

namespace weft::problems {
namespace {

// One axis above this, or tensors above it in bytes, cannot be meant.
constexpr int64_t kLargestAxis = int64_t{1} << 32;
constexpr uint64_t kLargestTask = uint64_t{1} << 40;

Result<Workload> read_workload(const Document& document, const Definition& definition) {
  Node node(document);
  if (node.has("workload")) {
    TRY(node.only({"definition", "solution", "workload", "evaluation"}));
    const Node owner = TRY(node.member("definition"));
    const std::string name = TRY(owner.text());
    if (name != definition.name) {
      return owner.error(fmt::format("workload belongs to another definition: \"{}\"", name),
                         fmt::format("this file is read for {}", definition.name));
    }
    node = TRY(node.member("workload"));
  }
  TRY(node.only({"uuid", "axes", "inputs"}));
  Workload workload;
  workload.uuid = TRY(node.text("uuid"));
  const Node axes = TRY(node.member("axes"));
  for (const Node& axis : TRY(axes.members())) {
    if (definition.find_axis(axis.name()) == nullptr) {
      return axis.error(
          fmt::format("workload sets an axis that the definition lacks: \"{}\"", axis.name()),
          suggestion(axis.name(), definition.axis_names(), "axes"));
    }
    workload.axes[axis.name()] = TRY(axis.integer());
  }
  const Node inputs = TRY(node.member("inputs"));
  for (const TensorSpec& spec : definition.inputs) {
    const Node input = TRY(inputs.member(spec.name));
    const Node type = TRY(input.member("type"));
    const std::string kind = TRY(type.text());
    if (kind == "scalar" && spec.scalar()) {
      const Node value = TRY(input.member("value"));
      workload.scalars[spec.name] = TRY(value.number());
    } else if (kind != "random" || spec.scalar()) {
      return type.error(fmt::format("input kind is not supported: \"{}\" ({})", kind, spec.name),
                        "tensors are generated afresh for every trial: use \"random\"; an input "
                        "without a shape is a \"scalar\" with a value");
    }
  }
  return workload;
}

}  // namespace

Result<std::vector<Workload>> read_workloads(const std::string& text, const std::string& file,
                                             const Definition& definition) {
  std::vector<Workload> workloads;
  uint32_t line = 1;
  for (size_t start = 0; start < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string row = text.substr(start, end - start);
    start = end + 1;
    if (row.find_first_not_of(" \t\r") == row.npos) continue;
    const Document document = TRY(Document::parse(std::move(row), file, line));
    workloads.push_back(TRY(read_workload(document, definition)));
  }
  if (workloads.empty())
    return Error(fmt::format("no workload in file: {}", file), "one JSON object a line");
  return workloads;
}

Result<Overrides> parse_overrides(std::string_view text) {
  Overrides overrides;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = item.find('=');
    if (equals == item.npos || equals == 0) {
      return Error(fmt::format("axis override is not NAME=VALUE: \"{}\"", item),
                   "write --set M=256,K=512");
    }
    const std::string_view digits = item.substr(equals + 1);
    int64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || code != std::errc() || end != digits.data() + digits.size()) {
      return Error(fmt::format("axis value is not an integer: \"{}\"", item),
                   "write --set M=256,K=512");
    }
    overrides.emplace_back(std::string(item.substr(0, equals)), value);
  }
  return overrides;
}

Result<Task> resolve(Definition definition, Workload workload, Overrides overrides) {
  Axes axes;
  for (const Axis& axis : definition.axes) {
    if (axis.value) axes[axis.name] = *axis.value;
  }
  for (const auto& [name, value] : workload.axes) axes[name] = value;
  for (const auto& [name, value] : overrides) {
    if (definition.find_axis(name) == nullptr) {
      return Error(fmt::format("unknown axis: \"{}\" (task {})", name, definition.name),
                   suggestion(name, definition.axis_names(), "axes of this task"));
    }
    axes[name] = value;
  }
  for (const Axis& axis : definition.axes) {
    const auto found = axes.find(axis.name);
    if (found == axes.end()) {
      return Error(fmt::format("axis has no value: \"{}\" (task {})", axis.name, definition.name),
                   fmt::format("choose a workload or add --set {}=...", axis.name));
    }
    if (found->second < 1 || found->second > kLargestAxis) {
      return Error(fmt::format("illegal value for axis {}: {}", axis.name, found->second),
                   fmt::format("axes are whole numbers from 1 to {}", kLargestAxis));
    }
  }
  for (const std::string& constraint : definition.constraints) {
    const int64_t holds = TRY(evaluate(constraint, axes));
    if (holds == 0) {
      std::string values;
      for (const auto& [name, value] : axes) values += fmt::format(" {}={}", name, value);
      return Error(
          fmt::format("axis values break the constraint of {}: {}", definition.name, constraint),
          fmt::format("the values are{}", values));
    }
  }
  Task task{std::move(definition), std::move(workload), std::move(overrides), std::move(axes)};
  if (task.bytes() > kLargestTask) {
    return Error(fmt::format("tensors of task {} would need {} GiB", task.definition.name,
                             task.bytes() >> 30),
                 "shrink an axis with --set");
  }
  return task;
}

std::vector<int64_t> Task::shape(const TensorSpec& spec) const {
  std::vector<int64_t> extents;
  for (const std::string& name : spec.shape) extents.push_back(axis(name));
  return extents;
}

int64_t Task::axis(std::string_view name) const {
  const auto found = axes.find(name);
  INVARIANT(found != axes.end());
  return found->second;
}

uint64_t Task::bytes() const {
  uint64_t total = 0;
  for (const auto* specs : {&definition.inputs, &definition.outputs}) {
    for (const TensorSpec& spec : *specs) {
      uint64_t size = byte_size(spec.dtype);
      for (const int64_t extent : shape(spec)) {
        if (__builtin_mul_overflow(size, static_cast<uint64_t>(extent), &size)) return UINT64_MAX;
      }
      if (__builtin_add_overflow(total, size, &total)) return UINT64_MAX;
    }
  }
  return total;
}

}  // namespace weft::problems
