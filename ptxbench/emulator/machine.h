// SPDX-License-Identifier: Apache-2.0

// The emulator's front door: a device, programs loaded on it, and launches. cudart and tests use
// this header and nothing deeper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptxbench/emulator/checks.h"
#include "ptxbench/emulator/device_model.h"
#include "ptxbench/emulator/fault.h"
#include "ptxbench/emulator/global_memory.h"
#include "ptxbench/ptx/ast.h"

namespace weft::emulator {

struct Options {
  uint64_t schedule_seed = 0;  // perturbs warp order and completion times; 0 is the plain order
  unsigned workers = 0;        // host threads; 0: one per core
  double max_seconds = 0;      // per launch; 0: no limit
  bool counting = true;        // false only to measure what counting costs
  Checks checks;
};

struct Extent {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

// How often one PTX instruction ran, over all launches since load or reset.
struct InstructionCount {
  const ptx::Instruction* instruction = nullptr;
  uint64_t warps = 0;  // warp executions with at least one lane whose predicate was true
  uint64_t lanes = 0;  // lanes whose predicate was true
  // Arithmetic of an instruction whose opcode does not tell it (tcgen05.mma); a multiply-add is
  // two.
  std::optional<uint64_t> operations;
};

// One that has no meaning here: reaching it is a fault.
struct UnsupportedInstruction {
  const ptx::Instruction* instruction = nullptr;
  std::string function, what;
};

class Kernel;   // an entry function, prepared
class Program;  // a loaded module

// What cudaFuncGetAttributes wants to know.
struct KernelInfo {
  std::string name;
  uint32_t static_shared = 0;     // bytes
  uint32_t local_per_thread = 0;  // bytes
  uint32_t parameter_bytes = 0;
  std::vector<uint32_t> parameter_offsets;  // by parameter
  std::vector<uint32_t> parameter_sizes;
  uint32_t max_threads = 1024;  // .maxntid / .reqntid or the device limit
  uint32_t registers = 0;       // an estimate: PTX registers are virtual
  std::optional<Extent> required_cluster;
};

struct Launch {
  const Kernel* kernel = nullptr;
  Extent grid, block;
  Extent cluster;                         // 1,1,1: no cluster unless the kernel requires one
  uint32_t dynamic_shared = 0;            // bytes
  bool cooperative = false;               // all blocks must be resident at once
  std::span<const std::byte> parameters;  // laid out as KernelInfo says
};

class Machine {
 public:
  Machine(const DeviceModel& model, Options options);
  ~Machine();

  const DeviceModel& model() const;
  const Options& options() const;
  GlobalMemory& memory();

  // Prepares a parsed module: lays out its variables in device memory and lowers every function.
  // The module must outlive the program (it is shared).
  Result<std::shared_ptr<Program>> load(std::shared_ptr<const ptx::Module> module);

  // Runs a grid to its end. The error is a launch that the device would refuse (block too large,
  // too much shared memory, cluster that does not divide the grid); a fault is what the kernel did
  // wrong. Safe to call from several host threads; launches run one after the other.
  Result<std::optional<Fault>> run(const Launch& launch);

  // Where vprintf and __assertfail of kernels write; stdout by default.
  void set_output(void (*write)(std::string_view text, void* context), void* context);

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

class Program {
 public:
  virtual ~Program() = default;
  virtual const ptx::Module& module() const = 0;
  virtual const Kernel* find_kernel(std::string_view name) const = 0;
  virtual std::vector<const Kernel*> kernels() const = 0;
  // Address and bytes of a module-scope .global or .const variable.
  struct Symbol {
    uint64_t address = 0;
    uint64_t size = 0;
  };
  virtual std::optional<Symbol> find_variable(std::string_view name) const = 0;
  // Every instruction of every function with a body, in order of the module.
  virtual std::vector<InstructionCount> counts() const = 0;
  virtual void reset_counts() = 0;
  // In order of the module.
  virtual std::vector<UnsupportedInstruction> unsupported() const = 0;
};

const KernelInfo& info(const Kernel& kernel);
// Blocks of this size that one multiprocessor holds at once; 0 when the device refuses the block.
uint32_t resident_blocks(const DeviceModel& model, const Kernel& kernel, uint32_t threads,
                         uint32_t dynamic_shared);

}  // namespace weft::emulator
