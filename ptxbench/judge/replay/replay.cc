// SPDX-License-Identifier: Apache-2.0

// Nothing in a recording is trusted: every range is looked up before a byte moves.
#include "ptxbench/judge/replay/replay.h"

#include <array>
#include <chrono>
#include <cstring>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "ptxbench/emulator/report_rows.h"
#include "ptxbench/judge/replay/module_digest.h"
#include "ptxbench/ptx/parse.h"

namespace weft::judge {
namespace {

using Kind = emulator::RecordedOperation::Kind;

emulator::Options options_of(const ReplayOrders& orders) {
  emulator::Options options;
  options.schedule_seed = orders.schedule_seed;
  options.workers = orders.workers;
  options.max_seconds = orders.launch_seconds;
  return options;
}

void drop_output(std::string_view, void*) {}

}  // namespace

Replay::Replay(const ReplayOrders& orders, const emulator::DeviceModel& model)
    : orders_(orders), machine_(model, options_of(orders)), memory_(machine_.memory()) {
  machine_.set_output(drop_output, nullptr);
}

Result<Done> Replay::run(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    TRY(perform(operation));
    if (fault_) return Done{};
  }
  return Done{};
}

Result<Done> Replay::write_tensors() const {
  for (const ReplayTensor& tensor : orders_.tensors) {
    if (!memory_.holds(tensor.address, tensor.bytes))
      return Error("the recording does not name the tensors' memory");
    TRY(write_file(tensor.output, {reinterpret_cast<const char*>(tensor.address), tensor.bytes}));
  }
  return Done{};
}

Json Replay::report(const std::string& problem) const {
  Json kernels = Json::array();
  for (const auto& [number, module] : modules_) {
    for (auto& [name, instructions] : emulator::executed_instructions(*module.program)) {
      const auto runs = runs_.find({number, name});
      const KernelRuns none;
      const KernelRuns& run = runs == runs_.end() ? none : runs->second;
      kernels.push_back({{"name", name},
                         {"module", module.digest},
                         {"launches", run.launches},
                         {"seconds", run.seconds},
                         {"instructions", std::move(instructions)}});
    }
  }
  Json report = {{"schema", "weft.emulate.report.v1"},
                 {"device", orders_.device},
                 {"kernels", std::move(kernels)},
                 {"fault", fault_ ? emulator::to_json(*fault_) : Json(nullptr)}};
  if (!problem.empty()) report["problem"] = problem;
  return report;
}

Result<Done> Replay::perform(const Operation& operation) {
  switch (operation.kind) {
    case Kind::Module:
      return load(operation);
    case Kind::Variable:
      return find_variable(operation);
    case Kind::Allocate:
      TRY(memory_.allocate(operation.target, operation.bytes));
      return fill_tensors(operation);
    case Kind::Free:
      memory_.free(operation.target);
      return Done{};
    case Kind::Write:
      return write(operation);
    case Kind::Copy:
      return copy(operation);
    case Kind::Fill:
      return fill(operation);
    case Kind::Launch:
      return launch(operation);
    case Kind::Unrepeatable:
      return Error(operation.text);
  }
  return Done{};
}

Result<Done> Replay::load(const Operation& operation) {
  LoadedModule module;
  const std::shared_ptr<const ptx::Module> text = TRY(ptx::parse(operation.text, "embedded.ptx"));
  module.program = TRY(machine_.load(text));
  module.digest = module_digest(operation.text);
  modules_[operation.module] = std::move(module);
  return Done{};
}

Result<Done> Replay::find_variable(const Operation& operation) {
  const auto module = modules_.find(operation.module);
  if (module == modules_.end()) return Error("the recording names a module that is not in it");
  const auto symbol = module->second.program->find_variable(operation.text);
  if (!symbol || symbol->size < operation.bytes)
    return Error(fmt::format("the recording names an unknown variable: {}", operation.text));
  variables_.push_back({operation.target, operation.bytes, symbol->address});
  return Done{};
}

Result<Done> Replay::fill_tensors(const Operation& allocation) {
  for (const ReplayTensor& tensor : orders_.tensors) {
    if (tensor.address - allocation.target >= allocation.bytes) continue;
    if (!memory_.holds(tensor.address, tensor.bytes))
      return Error("the recording does not name the tensors' memory");
    auto* data = reinterpret_cast<char*>(tensor.address);
    if (tensor.input.empty()) {
      std::memset(data, orders_.poison, tensor.bytes);
      continue;
    }
    const std::string bytes = TRY(read_file(tensor.input));
    if (bytes.size() != tensor.bytes) return Error("a tensor's file has another size");
    std::memcpy(data, bytes.data(), bytes.size());
  }
  return Done{};
}

uint64_t Replay::here(uint64_t address) const {
  for (const MovedVariable& variable : variables_)
    if (address - variable.recorded < variable.bytes)
      return variable.here + (address - variable.recorded);
  return address;
}

char* Replay::row(uint64_t address, uint64_t bytes) const {
  const uint64_t moved = here(address);
  return memory_.holds(moved, bytes) ? reinterpret_cast<char*>(moved) : nullptr;
}

Result<Done> Replay::write(const Operation& operation) {
  char* target = row(operation.target, operation.data.size());
  if (target == nullptr) return Error("the recording writes outside the device's memory");
  std::memcpy(target, operation.data.data(), operation.data.size());
  return Done{};
}

Result<Done> Replay::copy(const Operation& operation) {
  for (uint64_t z = 0; z < operation.slices; ++z) {
    for (uint64_t y = 0; y < operation.rows; ++y) {
      char* target = row(operation.target + z * operation.target_slice + y * operation.target_pitch,
                         operation.bytes);
      const char* source =
          row(operation.source + z * operation.source_slice + y * operation.source_pitch,
              operation.bytes);
      if (target == nullptr || source == nullptr)
        return Error("the recording copies outside the device's memory");
      std::memmove(target, source, operation.bytes);
    }
  }
  return Done{};
}

Result<Done> Replay::fill(const Operation& operation) {
  if (operation.element != 1 && operation.element != 2 && operation.element != 4)
    return Error("the recording fills elements of an unknown size");
  for (uint64_t z = 0; z < operation.slices; ++z) {
    for (uint64_t y = 0; y < operation.rows; ++y) {
      char* target = row(operation.target + z * operation.target_slice + y * operation.target_pitch,
                         operation.bytes * operation.element);
      if (target == nullptr) return Error("the recording fills outside the device's memory");
      for (uint64_t i = 0; i < operation.bytes; ++i)
        std::memcpy(target + i * operation.element, &operation.value, operation.element);
    }
  }
  return Done{};
}

Result<Done> Replay::launch(const Operation& operation) {
  const auto module = modules_.find(operation.module);
  const emulator::Kernel* kernel =
      module == modules_.end() ? nullptr : module->second.program->find_kernel(operation.text);
  if (kernel == nullptr)
    return Error(fmt::format("the recording launches an unknown kernel: {}", operation.text));
  std::string parameters = operation.data;
  for (size_t i = 0; i + 8 <= parameters.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, parameters.data() + i, 8);
    word = here(word);
    std::memcpy(parameters.data() + i, &word, 8);
  }
  const auto extent = [](const std::array<uint64_t, 3>& from) {
    return emulator::Extent{static_cast<uint32_t>(from[0]), static_cast<uint32_t>(from[1]),
                            static_cast<uint32_t>(from[2])};
  };
  const auto start = std::chrono::steady_clock::now();
  fault_ = TRY(machine_.run({.kernel = kernel,
                             .grid = extent(operation.grid),
                             .block = extent(operation.block),
                             .cluster = extent(operation.cluster),
                             .dynamic_shared = static_cast<uint32_t>(operation.shared),
                             .cooperative = operation.cooperative != 0,
                             .parameters = std::as_bytes(std::span(parameters))}));
  KernelRuns& run = runs_[{operation.module, operation.text}];
  ++run.launches;
  run.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Done{};
}

}  // namespace weft::judge
