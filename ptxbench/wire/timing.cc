// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/wire/timing.h"

#include <nlohmann/json.hpp>

namespace weft::wire {
namespace {

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json samples_json(const Samples& samples) {
  return {{"median_ms", samples.median_ms},
          {"p10_ms", samples.p10_ms},
          {"p90_ms", samples.p90_ms},
          {"spread", samples.spread},
          {"wall_ms_a_call", or_null(samples.wall_ms)},
          {"samples_ns", samples.nanoseconds}};
}

Json condition_json(const DeviceCondition& condition) {
  return {{"sm_mhz", condition.sm_mhz},
          {"memory_mhz", condition.memory_mhz},
          {"celsius", condition.celsius},
          {"watts", condition.watts},
          {"throttled", condition.throttled}};
}

}  // namespace

Json to_json(const Timing& timing) {
  Json json = {{"timer", timing.timer},
               {"cache", "cold L2 before every sample"},
               {"candidate", samples_json(timing.candidate)}};
  if (timing.library) {
    json["library"] = samples_json(*timing.library);
    json["library"]["name"] = timing.library_record.name;
    json["library"]["version"] = timing.library_record.version;
    json["library"]["algorithm"] = timing.library_record.algorithm;
    json["library"]["precision"] = timing.library_record.precision;
    json["ratio"] = {{"median", timing.ratio_median},  {"low", timing.ratio_low},
                     {"high", timing.ratio_high},      {"confidence", timing.ratio_confidence},
                     {"faster", timing.ratio_low > 1}, {"paired", timing.ratios}};
  } else {
    json["library"] = nullptr;
    json["library_reason"] = timing.library_reason;
  }
  json["roofline_floor_ms"] = or_null(timing.floor_ms);
  if (!timing.floor_ms) json["roofline_reason"] = timing.floor_reason;
  json["empty_kernel_ms"] = or_null(timing.empty_kernel_ms);
  json["overhead_bound"] = timing.overhead_bound;
  json["timed_outputs_checked"] = timing.outputs_checked;
  json["device"] = {{"before", condition_json(timing.before)},
                    {"after", condition_json(timing.after)}};
  json["notes"] = timing.notes;
  return json;
}

}  // namespace weft::wire
