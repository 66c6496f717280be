// SPDX-License-Identifier: Apache-2.0

// The candidate as something to call: a shared object that exports __tvm_ffi_run, or PTX with
// launches.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "ptxbench/judge/orders.h"
#include "ptxbench/judge/worker/runtime.h"
#include "ptxbench/judge/worker/tensors.h"

namespace weft::judge {

// What a call failed with: the kind that the candidate raised ("ValueError") or "" when it was
// ours.
struct CallFailure {
  std::string kind, message;
};

class Program {
 public:
  virtual ~Program() = default;
  // The tensors of the calls from here on.
  virtual void bind(const DeviceTensors& tensors) = 0;
  virtual std::optional<CallFailure> call() = 0;
  // What the last call did to the descriptions of the tensors that it was given.
  virtual void inspect(WorkerReport& report) const = 0;
};

// Loaded before any input lies where the process could read it: what runs on loading sees nothing.
Result<std::unique_ptr<Program>> load_shared_object(const Orders& orders);
Result<std::unique_ptr<Program>> load_ptx(const Orders& orders, void* stream);

// The stream that TVMFFIEnvGetStream answers.
void set_current_stream(void* stream);

}  // namespace weft::judge
