// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#include "ptxbench/emulator/loader.h"
#include "ptxbench/emulator/scheduler.h"

namespace weft::emulator {

struct Machine::State {
  const DeviceModel* model = nullptr;
  Options options;
  std::unique_ptr<GlobalMemory> memory;
  std::mutex launch_mutex;
  uint64_t launches = 0;
  std::mutex output_mutex;
  void (*write)(std::string_view, void*) = nullptr;
  void* write_context = nullptr;
};

namespace {

uint32_t round_up(uint32_t value, uint32_t to) {
  return (value + to - 1) / to * to;
}

Result<Done> check(const DeviceModel& model, const Kernel& kernel, const Launch& launch,
                   const Extent& cluster, uint32_t shared) {
  const Extent& b = launch.block;
  const Extent& g = launch.grid;
  const uint64_t threads = b.count();
  const std::string& name = kernel.info.name;
  if (threads == 0 || threads > kernel.info.max_threads || b.x > 1024 || b.y > 1024 || b.z > 64)
    return Error(fmt::format("launch of {}: block of {} x {} x {} threads, the kernel allows {}",
                             name, b.x, b.y, b.z, kernel.info.max_threads),
                 "use a smaller block or other launch bounds");
  if (g.count() == 0 || g.x > 0x7fffffffu || g.y > 65'535 || g.z > 65'535)
    return Error(
        fmt::format("launch of {}: grid of {} x {} x {} blocks is outside the device's limits",
                    name, g.x, g.y, g.z));
  if (shared > model.shared_per_block_optin + model.reserved_shared_per_block)
    return Error(fmt::format("launch of {}: {} bytes of shared memory, the device has {}", name,
                             shared - model.reserved_shared_per_block,
                             model.shared_per_block_optin));
  if (cluster.count() == 0 || g.x % cluster.x != 0 || g.y % cluster.y != 0 || g.z % cluster.z != 0)
    return Error(fmt::format(
        "launch of {}: clusters of {} x {} x {} blocks do not divide the grid of {} x {} x {}",
        name, cluster.x, cluster.y, cluster.z, g.x, g.y, g.z));
  if (cluster.count() > model.max_cluster_size)
    return Error(fmt::format("launch of {}: clusters of {} blocks, the device allows {}", name,
                             cluster.count(), model.max_cluster_size));
  if (launch.parameters.size() < kernel.info.parameter_bytes)
    return Error(fmt::format("launch of {}: {} bytes of parameters, the kernel takes {}", name,
                             launch.parameters.size(), kernel.info.parameter_bytes));
  return Done{};
}

std::vector<uint32_t> thread_indices(const Extent& block) {
  const uint32_t threads = static_cast<uint32_t>(block.count());
  const uint32_t warps = (threads + kLanes - 1) / kLanes;
  std::vector<uint32_t> table(warps * 3 * kLanes);
  for (uint32_t t = 0; t < warps * kLanes; ++t) {
    uint32_t* row = table.data() + t / kLanes * 3 * kLanes + t % kLanes;
    row[0] = t % block.x;
    row[kLanes] = t / block.x % block.y;
    row[2 * kLanes] = t / block.x / block.y;
  }
  return table;
}

}  // namespace

void GridRun::record(Fault new_fault) {
  std::lock_guard lock(fault_mutex);
  if (!fault) fault = std::move(new_fault);
  stop.store(true);
}

void GridRun::print(std::string_view text) {
  Machine::State& state = machine->state();
  std::lock_guard lock(state.output_mutex);
  if (state.write != nullptr) {
    state.write(text, state.write_context);
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

Machine::Machine(const DeviceModel& model, Options options) : state_(std::make_unique<State>()) {
  state_->model = &model;
  state_->options = options;
  state_->memory = std::make_unique<GlobalMemory>(model.global_memory);
}

Machine::~Machine() = default;

const DeviceModel& Machine::model() const {
  return *state_->model;
}
const Options& Machine::options() const {
  return state_->options;
}
GlobalMemory& Machine::memory() {
  return *state_->memory;
}

void Machine::set_output(void (*write)(std::string_view, void*), void* context) {
  state_->write = write;
  state_->write_context = context;
}

Result<std::shared_ptr<Program>> Machine::load(std::shared_ptr<const ptx::Module> module) {
  return std::shared_ptr<Program>(TRY(
      load_program(std::move(module), *state_->memory, *state_->model, state_->options.checks)));
}

Result<std::optional<Fault>> Machine::run(const Launch& launch) {
  std::lock_guard launch_lock(state_->launch_mutex);
  const Kernel& kernel = *launch.kernel;
  ProgramImage& program = *kernel.program;
  Extent cluster = launch.cluster;
  if (cluster.count() == 1 && kernel.info.required_cluster) cluster = *kernel.info.required_cluster;
  const uint32_t dynamic_offset = round_up(kernel.static_shared, program.dynamic_shared_alignment);
  const uint32_t shared = round_up(dynamic_offset + launch.dynamic_shared, 16);
  TRY(check(*state_->model, kernel, launch, cluster, shared));

  GridRun grid;
  grid.machine = this;
  grid.memory = state_->memory.get();
  grid.kernel = &kernel;
  grid.grid = launch.grid;
  grid.block = launch.block;
  grid.cluster = cluster;
  grid.explicit_cluster = cluster.count() > 1 || kernel.info.required_cluster.has_value();
  grid.dynamic_shared = launch.dynamic_shared;
  grid.dynamic_shared_offset = dynamic_offset;
  grid.shared_bytes = shared;
  grid.id = ++state_->launches;
  grid.schedule_seed = state_->options.schedule_seed;
  grid.cluster_count = launch.grid.count() / cluster.count();
  grid.cooperative = launch.cooperative;
  grid.counting = state_->options.counting;
  grid.thread_indices = thread_indices(launch.block);
  const uint32_t resident = resident_blocks(
      *state_->model, kernel, static_cast<uint32_t>(launch.block.count()), launch.dynamic_shared);
  grid.resident_clusters =
      uint64_t{resident} * static_cast<uint64_t>(state_->model->multiprocessors) / cluster.count();
  if (launch.cooperative && grid.cluster_count > grid.resident_clusters)
    return Error(fmt::format("cooperative launch of {}: {} blocks, the device holds {} at once",
                             kernel.info.name, launch.grid.count(),
                             grid.resident_clusters * cluster.count()));
  if (state_->options.max_seconds > 0)
    grid.deadline = std::chrono::steady_clock::now() +
                    std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                        std::chrono::duration<double>(state_->options.max_seconds));

  // Kernels may take the address of their parameters: the copy is visible to them while they run.
  // Its alignment serves tensor maps (64 bytes).
  AlignedBytes parameters(std::max<size_t>(launch.parameters.size(), 64), 128);
  if (!launch.parameters.empty())
    std::memcpy(parameters.data(), launch.parameters.data(), launch.parameters.size());
  grid.parameters = {parameters.data(), parameters.size()};
  const uint64_t parameter_address = reinterpret_cast<uint64_t>(parameters.data());
  state_->memory->adopt(parameter_address, parameters.size(), Allocation::Kind::Parameters,
                        "kernel parameters");
  if (launch.cooperative) {
    grid.cooperative_workspace =
        state_->memory->allocate(1024, Allocation::Kind::Device, "cooperative launch workspace");
    if (grid.cooperative_workspace != 0)
      std::memset(reinterpret_cast<void*>(grid.cooperative_workspace), 0, 1024);
  }

  const unsigned hardware = std::max(1u, std::thread::hardware_concurrency());
  const unsigned asked = state_->options.workers == 0 ? hardware : state_->options.workers;
  const uint32_t workers = static_cast<uint32_t>(std::min<uint64_t>(asked, grid.cluster_count));
  auto work = [&](uint32_t number) {
    Worker worker(grid, number, workers);
    worker.run();
    program.add_counts(worker.tally());
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 1; i < workers; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& t : threads) t.join();

  state_->memory->forget(parameter_address);
  if (grid.cooperative_workspace != 0) state_->memory->free(grid.cooperative_workspace);
  return std::move(grid.fault);
}

const KernelInfo& info(const Kernel& kernel) {
  return kernel.info;
}

uint32_t resident_blocks(const DeviceModel& model, const Kernel& kernel, uint32_t threads,
                         uint32_t dynamic_shared) {
  if (threads == 0 || threads > 1024) return 0;
  const uint32_t shared = round_up(kernel.static_shared, 128) + dynamic_shared;
  if (shared > model.shared_per_block_optin + model.reserved_shared_per_block) return 0;
  const uint32_t warps = (threads + kLanes - 1) / kLanes;
  uint32_t blocks = std::min(model.max_blocks_per_multiprocessor,
                             model.max_threads_per_multiprocessor / (warps * kLanes));
  blocks = std::min(blocks, model.shared_per_multiprocessor / std::max(1u, shared));
  const uint32_t registers = round_up(kernel.info.registers, 8) * kLanes * warps;
  blocks = std::min(blocks, model.registers_per_multiprocessor / std::max(1u, registers));
  return std::max(1u, blocks);
}

}  // namespace weft::emulator
