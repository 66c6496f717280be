// SPDX-License-Identifier: Apache-2.0

// The candidate as something to call: a shared object that exports __tvm_ffi_run, or PTX with
// launches.
#pragma once

#include <functional>
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

using Call = std::function<std::optional<CallFailure>()>;

Result<Call> load_shared_object(const Orders& orders, const DeviceTensors& tensors);
Result<Call> load_ptx(const Orders& orders, const DeviceTensors& tensors, void* stream);

// The stream that TVMFFIEnvGetStream answers.
void set_current_stream(void* stream);

}  // namespace weft::judge
