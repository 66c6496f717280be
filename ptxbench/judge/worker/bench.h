// SPDX-License-Identifier: Apache-2.0

// The answering side of a bench (bench_orders.h): the same code for the candidate's process and
// the library's, so that both arms of a comparison are prepared, cooled and timed alike.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/bench_orders.h"
#include "ptxbench/judge/worker/program.h"

namespace weft::judge {

using Call = std::function<std::optional<CallFailure>()>;
// Binds what is called to one set of buffers.
using Bind = std::function<Result<Call>(const DeviceTensors&)>;
// What the process says of itself in its first answer: name, version, algorithm.
using Introduction = std::vector<std::pair<std::string, std::string>>;

// Ends when the judge says so or its pipe closes. `introduce` is asked once everything is bound.
// `empty` launches a kernel that does nothing; without it its time cannot be asked for.
Result<Done> serve_bench(const Orders& orders, const BenchOrders& bench, const Runtime& runtime,
                         void* stream, const Bind& bind,
                         const std::function<Introduction()>& introduce, const Call& empty = {});

}  // namespace weft::judge
