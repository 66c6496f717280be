// SPDX-License-Identifier: Apache-2.0

// What a candidate really executed: the target instructions by kernel and line, and the share of
// the arithmetic that they did. Our addition to the envelope.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace weft::wire {

// One instruction of a family, with what it did over all launches and trials.
struct InstructionUse {
  std::string opcode;  // whole: "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16"
  std::string group;   // "wgmma", "tcgen05" or "tma"
  uint32_t ptx_line = 0;
  std::string source_file;
  uint32_t source_line = 0;
  uint64_t warps = 0;  // warp executions with a true predicate
  uint64_t lanes = 0;
};

struct KernelUse {
  std::string name;
  uint64_t launches = 0;
  double seconds = 0;  // of emulation
  uint64_t wgmma_warps = 0, tcgen05_warps = 0, tma_warps = 0, mbarrier_warps = 0;
  double target_operations = 0;        // floating-point operations by wgmma or tcgen05.mma
  double other_tensor_operations = 0;  // by mma.sync
  double scalar_operations = 0;
  std::vector<InstructionUse> targets;
};

// Where the first failure lies, as the emulator saw it.
struct FaultRecord {
  std::string kind, message, kernel;
  std::vector<int64_t> block, thread;
  uint32_t ptx_line = 0;
  std::string instruction, source_file;
  uint32_t source_line = 0;
  uint64_t address = 0;
  std::vector<std::string> notes;
  std::string text;  // formatted, several lines
};

struct StageRecord {
  std::string stage;           // "screen", "build", "sanitize", "correctness", "audit", "timing"
  std::optional<bool> passed;  // absent: not reached
  double seconds = 0;
  std::string evidence;  // of the failure; empty when passed
};

struct Audit {
  std::string family = "H";  // "H": wgmma and TMA transfers; "B": tcgen05 and these
  std::optional<bool> target_instructions_executed;  // from executed counts only
  std::optional<double> share;                       // 0 ... 1
  // "absent", "decorative", "partial", "full", "unverified"; ptxbench/judge/audit.h says when.
  std::string share_class;
  // Share of the output's elements that changed without the results of wgmma or tcgen05.mma, and of
  // bulk and tensor copies; absent where that was not tried.
  std::optional<double> products_effect, copies_effect;
  double share_threshold = 0;  // of "full"
  // Where the counts come from: "emulator", "cupti sass metrics" (by a GPU),
  // "emulator on the same PTX".
  std::string method;
  std::string reason;  // why the three above are absent
  // Products and transfers are the family's instructions; waits and arrivals are not.
  uint64_t wgmma_warps = 0, tcgen05_warps = 0, tma_warps = 0, mbarrier_warps = 0;
  double target_operations = 0, other_tensor_operations = 0, scalar_operations = 0;
  std::optional<double> workload_operations;  // by the usual count, all trials together
  std::vector<KernelUse> kernels;
  std::optional<FaultRecord> fault;
  std::vector<StageRecord> stages;
};

// "wgmma" or "tcgen05": what multiplies in a family.
std::string_view tensor_instruction(std::string_view family);

Json to_json(const Audit& audit);
Json to_json(const FaultRecord& fault);

}  // namespace weft::wire
