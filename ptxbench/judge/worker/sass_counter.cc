// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/worker/sass_counter.h"

#ifdef WEFT_HAVE_CUPTI

#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/vendor_library.h"

namespace weft::judge {
namespace {

constexpr std::array<const char*, 2> kMetrics = {"smsp__sass_inst_executed",
                                                 "smsp__sass_thread_inst_executed_pred_on"};

struct Cupti {
  decltype(&cuptiProfilerInitialize) initialize = nullptr;
  decltype(&cuptiDeviceGetChipName) chip_name = nullptr;
  decltype(&cuptiSassMetricsGetProperties) properties = nullptr;
  decltype(&cuptiSassMetricsSetConfig) configure = nullptr;
  decltype(&cuptiSassMetricsEnable) enable = nullptr;
  decltype(&cuptiSassMetricsGetDataProperties) extent = nullptr;
  decltype(&cuptiSassMetricsFlushData) flush = nullptr;
  decltype(&cuptiSassMetricsDisable) disable = nullptr;
  decltype(&cuptiSassMetricsUnsetConfig) unconfigure = nullptr;
  decltype(&cuptiGetResultString) text = nullptr;

  static Result<Cupti> open() {
    const VendorLibrary library = TRY(VendorLibrary::open({"libcupti.so.13", "libcupti.so"}));
    Cupti cupti;
    TRY(library.find("cuptiProfilerInitialize", cupti.initialize));
    TRY(library.find("cuptiDeviceGetChipName", cupti.chip_name));
    TRY(library.find("cuptiSassMetricsGetProperties", cupti.properties));
    TRY(library.find("cuptiSassMetricsSetConfig", cupti.configure));
    TRY(library.find("cuptiSassMetricsEnable", cupti.enable));
    TRY(library.find("cuptiSassMetricsGetDataProperties", cupti.extent));
    TRY(library.find("cuptiSassMetricsFlushData", cupti.flush));
    TRY(library.find("cuptiSassMetricsDisable", cupti.disable));
    TRY(library.find("cuptiSassMetricsUnsetConfig", cupti.unconfigure));
    TRY(library.find("cuptiGetResultString", cupti.text));
    return cupti;
  }
  Result<Done> check(CUptiResult code, const char* call) const {
    if (code == CUPTI_SUCCESS) return Done{};
    const char* said = nullptr;
    text(code, &said);
    return Error(fmt::format("{}: {}", call, said == nullptr ? "unknown error" : said),
                 "counters may be forbidden here (NVreg_RestrictProfilingToAdminUsers)");
  }
};

}  // namespace

struct SassCounter::State {
  Cupti cupti;
  std::array<uint64_t, kMetrics.size()> ids{};
};

SassCounter::SassCounter(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<SassCounter> SassCounter::start() {
  auto state = std::make_unique<State>();
  state->cupti = TRY(Cupti::open());
  const Cupti& cupti = state->cupti;
  CUpti_Profiler_Initialize_Params initialize = {CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
                                                 nullptr};
  TRY(cupti.check(cupti.initialize(&initialize), "cuptiProfilerInitialize"));
  CUpti_Device_GetChipName_Params chip = {CUpti_Device_GetChipName_Params_STRUCT_SIZE, nullptr, 0,
                                          nullptr};
  TRY(cupti.check(cupti.chip_name(&chip), "cuptiDeviceGetChipName"));
  std::array<CUpti_SassMetrics_Config, kMetrics.size()> configs{};
  for (size_t i = 0; i < kMetrics.size(); ++i) {
    CUpti_SassMetrics_GetProperties_Params metric{};
    metric.structSize = CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE;
    metric.pChipName = chip.pChipName;
    metric.pMetricName = kMetrics[i];
    TRY(cupti.check(cupti.properties(&metric), "cuptiSassMetricsGetProperties"));
    state->ids[i] = metric.metric.metricId;
    configs[i] = {metric.metric.metricId, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
  }
  CUpti_SassMetricsSetConfig_Params configuration{};
  configuration.structSize = CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE;
  configuration.numOfMetricConfig = configs.size();
  configuration.pConfigs = configs.data();
  TRY(cupti.check(cupti.configure(&configuration), "cuptiSassMetricsSetConfig"));
  CUpti_SassMetricsEnable_Params enable{};
  enable.structSize = CUpti_SassMetricsEnable_Params_STRUCT_SIZE;
  TRY(cupti.check(cupti.enable(&enable), "cuptiSassMetricsEnable"));
  return SassCounter(std::move(state));
}

Result<std::vector<SassCount>> SassCounter::finish() {
  const Cupti& cupti = state_->cupti;
  CUpti_SassMetricsGetDataProperties_Params extent{};
  extent.structSize = CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE;
  TRY(cupti.check(cupti.extent(&extent), "cuptiSassMetricsGetDataProperties"));
  // One record for each instruction and metric.
  const size_t records = extent.numOfPatchedInstructionRecords;
  std::vector<CUpti_SassMetrics_Data> data(records);
  std::vector<CUpti_SassMetrics_InstanceValue> values(records * extent.numOfInstances);
  for (size_t i = 0; i < records; ++i) {
    data[i].structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE;
    data[i].pInstanceValues = &values[i * extent.numOfInstances];
  }
  std::map<std::pair<std::string, uint32_t>, SassCount> counts;
  if (records > 0) {
    CUpti_SassMetricsFlushData_Params flush{};
    flush.structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE;
    flush.numOfPatchedInstructionRecords = records;
    flush.numOfInstances = extent.numOfInstances;
    flush.pMetricsData = data.data();
    TRY(cupti.check(cupti.flush(&flush), "cuptiSassMetricsFlushData"));
    for (const CUpti_SassMetrics_Data& record : data) {
      SassCount& count = counts[{record.functionName, record.pcOffset}];
      count.function = record.functionName;
      count.offset = record.pcOffset;
      for (size_t i = 0; i < extent.numOfInstances; ++i) {
        const CUpti_SassMetrics_InstanceValue& value = record.pInstanceValues[i];
        (value.metricId == state_->ids[0] ? count.warps : count.threads) += value.value;
      }
    }
  }
  CUpti_SassMetricsDisable_Params disable{};
  disable.structSize = CUpti_SassMetricsDisable_Params_STRUCT_SIZE;
  TRY(cupti.check(cupti.disable(&disable), "cuptiSassMetricsDisable"));
  CUpti_SassMetricsUnsetConfig_Params unset{};
  unset.structSize = CUpti_SassMetricsUnsetConfig_Params_STRUCT_SIZE;
  TRY(cupti.check(cupti.unconfigure(&unset), "cuptiSassMetricsUnsetConfig"));
  std::vector<SassCount> all;
  for (auto& [place, count] : counts) all.push_back(std::move(count));
  return all;
}

#else

namespace weft::judge {

struct SassCounter::State {};
SassCounter::SassCounter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Result<SassCounter> SassCounter::start() {
  return Error("built without CUPTI's headers", "install the CUDA toolkit and build again");
}
Result<std::vector<SassCount>> SassCounter::finish() {
  return std::vector<SassCount>{};
}

#endif

SassCounter::SassCounter(SassCounter&&) noexcept = default;
SassCounter::~SassCounter() = default;

}  // namespace weft::judge
