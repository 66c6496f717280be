// SPDX-License-Identifier: Apache-2.0

// The file is closed by whoever stops the recording; a process that dies leaves what it has got.
#include "ptxbench/cudart/recorder.h"

#include <fstream>
#include <mutex>
#include <vector>

#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/module.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/emulator/recording.h"

namespace weft::cudart {
namespace {

using emulator::RecordedOperation;
using Kind = RecordedOperation::Kind;

// A recording holds what the host hands to the device during one call. More than this is no
// argument and no table any more.
constexpr uint64_t kMostBytes = uint64_t{256} << 20;
// Host memory that kernels can reach is written down before every launch, up to this size.
constexpr uint64_t kMostPinnedBytes = uint64_t{16} << 20;

struct Recorder {
  std::mutex mutex;
  std::ofstream file;
  bool active = false;
  uint64_t written = 0;
  std::vector<const emulator::Program*> programs;  // already in the file, by their number
};

Recorder& recorder() {
  static Recorder& instance = *new Recorder;
  return instance;
}

void write(Recorder& state, const RecordedOperation& operation) {
  if (state.written > kMostBytes) return;
  const std::string bytes = emulator::to_bytes(operation);
  state.written += bytes.size();
  if (state.written > kMostBytes) {
    RecordedOperation end;
    end.text = "more than 256 MiB from the host in one call";
    state.file << emulator::to_bytes(end);
    return;
  }
  state.file << bytes;
}

void write_allocation(Recorder& state, const emulator::Allocation& allocation) {
  RecordedOperation operation;
  operation.kind = Kind::Allocate;
  operation.target = allocation.address;
  operation.bytes = allocation.size;
  write(state, operation);
}

bool is_host_kind(AllocationKind kind) {
  return kind == AllocationKind::Pinned || kind == AllocationKind::Registered ||
         kind == AllocationKind::Managed;
}

// What the host may have written without a call.
void write_pinned(Recorder& state) {
  for (const uint64_t address : owned_addresses()) {
    const auto allocation = machine().memory().find(address);
    if (!allocation || !is_host_kind(allocation->kind)) continue;
    RecordedOperation operation;
    operation.kind = Kind::Write;
    operation.target = address;
    if (allocation->size > kMostPinnedBytes) {
      operation.kind = Kind::Unrepeatable;
      operation.text = "more than 16 MiB of host memory that kernels can reach";
    } else {
      operation.data.assign(reinterpret_cast<const char*>(address), allocation->size);
    }
    write(state, operation);
  }
}

void write_module(Recorder& state, const emulator::Program& program, uint64_t number) {
  const ptx::Module& module = program.module();
  RecordedOperation operation;
  operation.kind = Kind::Module;
  operation.module = number;
  operation.text = module.text == nullptr ? "" : *module.text;
  write(state, operation);
  for (const ptx::Variable& variable : module.variables) {
    const auto symbol = program.find_variable(variable.name);
    if (!symbol) continue;
    RecordedOperation place;
    place.kind = Kind::Variable;
    place.module = number;
    place.text = variable.name;
    place.target = symbol->address;
    place.bytes = symbol->size;
    write(state, place);
  }
}

void write_modules(Recorder& state) {
  each_loaded_program([&](const emulator::Program& program, const RunsByKernel&) {
    for (const emulator::Program* known : state.programs)
      if (known == &program) return;
    write_module(state, program, state.programs.size());
    state.programs.push_back(&program);
  });
}

// Whether the bytes lie in memory that a repetition has too.
bool in_device_memory(const void* pointer) {
  const auto allocation = machine().memory().find(reinterpret_cast<uint64_t>(pointer));
  return allocation && !is_host_kind(allocation->kind);
}

RecordedOperation rows_of(Kind kind, const RowRange& target, const RowCount& count) {
  RecordedOperation operation;
  operation.kind = kind;
  operation.target = reinterpret_cast<uint64_t>(target.first);
  operation.target_pitch = target.pitch;
  operation.target_slice = target.slice;
  operation.bytes = count.width;
  operation.rows = count.rows;
  operation.slices = count.slices;
  return operation;
}

}  // namespace

void record_to(const char* file) {
  Recorder& state = recorder();
  const std::lock_guard lock(state.mutex);
  if (state.active) state.file.close();
  state.active = false;
  if (file == nullptr || ready() != Status::Success) return;
  state.file.clear();
  state.file.open(file, std::ios::binary | std::ios::trunc);
  state.active = static_cast<bool>(state.file);
  state.written = 0;
  state.programs.clear();
  for (const uint64_t address : owned_addresses())
    if (const auto allocation = machine().memory().find(address))
      write_allocation(state, *allocation);
}

void note_allocation(uint64_t address) {
  Recorder& state = recorder();
  const std::lock_guard lock(state.mutex);
  if (!state.active) return;
  if (const auto allocation = machine().memory().find(address))
    write_allocation(state, *allocation);
}

void note_release(uint64_t address) {
  Recorder& state = recorder();
  const std::lock_guard lock(state.mutex);
  if (!state.active) return;
  RecordedOperation operation;
  operation.kind = Kind::Free;
  operation.target = address;
  write(state, operation);
}

void note_copy(const RowRange& target, const RowRange& source, const RowCount& count) {
  Recorder& state = recorder();
  const std::lock_guard lock(state.mutex);
  if (!state.active || !in_device_memory(target.first)) return;
  write_modules(state);
  if (in_device_memory(source.first)) {
    RecordedOperation operation = rows_of(Kind::Copy, target, count);
    operation.source = reinterpret_cast<uint64_t>(source.first);
    operation.source_pitch = source.pitch;
    operation.source_slice = source.slice;
    return write(state, operation);
  }
  for (size_t z = 0; z < count.slices; ++z) {
    for (size_t y = 0; y < count.rows; ++y) {
      RecordedOperation operation;
      operation.kind = Kind::Write;
      operation.target =
          reinterpret_cast<uint64_t>(target.first) + z * target.slice + y * target.pitch;
      operation.data.assign(
          static_cast<const char*>(source.first) + z * source.slice + y * source.pitch,
          count.width);
      write(state, operation);
    }
  }
}

void note_fill(const RowRange& target, const RowCount& count, uint32_t value, size_t element) {
  Recorder& state = recorder();
  const std::lock_guard lock(state.mutex);
  if (!state.active) return;
  write_modules(state);
  RecordedOperation operation = rows_of(Kind::Fill, target, count);
  operation.value = value;
  operation.element = element;
  write(state, operation);
}

void note_launch(const PreparedLaunch& launch) {
  Recorder& state = recorder();
  const std::lock_guard lock(state.mutex);
  if (!state.active) return;
  write_modules(state);
  write_pinned(state);
  RecordedOperation operation;
  operation.kind = Kind::Launch;
  operation.text = launch.kernel->name;
  for (size_t i = 0; i < state.programs.size(); ++i)
    if (state.programs[i] == launch.kernel->module->program()) operation.module = i;
  operation.data.assign(reinterpret_cast<const char*>(launch.parameters.data()),
                        launch.parameters.size());
  operation.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  operation.block = {launch.block.x, launch.block.y, launch.block.z};
  operation.cluster = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
  operation.shared = launch.shared_bytes;
  operation.cooperative = launch.cooperative;
  write(state, operation);
}

void note_unrepeatable(std::string_view what) {
  Recorder& state = recorder();
  const std::lock_guard lock(state.mutex);
  if (!state.active) return;
  RecordedOperation operation;
  operation.text = what;
  write(state, operation);
}

}  // namespace weft::cudart
