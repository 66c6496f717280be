// SPDX-License-Identifier: Apache-2.0

// The table of driver functions, from exports.def, and the CUDA versions since which the later
// versions of a function are the one that its plain name means.
#include "ptxbench/cudart/entry_point.h"

#include <string>
#include <unordered_map>

extern "C" {
#define SERVED(name) void name();
#define FORWARDED(name, target) void name();
#define REFUSED(name)
#include "ptxbench/cudart/driver/exports.def"
#undef SERVED
#undef FORWARDED
#undef REFUSED
}

namespace weft::cudart {
namespace {

using Table = std::unordered_map<std::string_view, void*>;

const Table& functions() {
  static const Table& table = *new Table{
#define SERVED(name) {#name, reinterpret_cast<void*>(&name)},
#define FORWARDED(name, target) {#name, reinterpret_cast<void*>(&name)},
#define REFUSED(name)
#include "ptxbench/cudart/driver/exports.def"
#undef SERVED
#undef FORWARDED
#undef REFUSED
  };
  return table;
}

// The versions that came after CUDA 5: programs may well ask for what was before.
int since(std::string_view name) {
  static const std::unordered_map<std::string_view, int>& versions =
      *new std::unordered_map<std::string_view, int>{
          {"cuCtxCreate_v3", 11040},
          {"cuCtxCreate_v4", 12050},
          {"cuCtxGetDevice_v2", 13000},
          {"cuCtxSynchronize_v2", 13000},
          {"cuDeviceGetUuid_v2", 11040},
          {"cuDevicePrimaryCtxRelease_v2", 11000},
          {"cuDevicePrimaryCtxReset_v2", 11000},
          {"cuDevicePrimaryCtxSetFlags_v2", 11000},
          {"cuEventElapsedTime_v2", 12080},
          {"cuGetProcAddress_v2", 12000},
          {"cuGraphAddDependencies_v2", 12030},
          {"cuGraphAddKernelNode_v2", 12000},
          {"cuGraphExecKernelNodeSetParams_v2", 12000},
          {"cuGraphExecUpdate_v2", 12000},
          {"cuGraphGetEdges_v2", 12030},
          {"cuGraphInstantiate_v2", 11000},
          {"cuGraphKernelNodeGetParams_v2", 12000},
          {"cuGraphKernelNodeSetParams_v2", 12000},
          {"cuGraphNodeGetDependencies_v2", 12030},
          {"cuGraphNodeGetDependentNodes_v2", 12030},
          {"cuGraphRemoveDependencies_v2", 12030},
          {"cuMemAdvise_v2", 12020},
          {"cuMemPrefetchAsync_v2", 12020},
          {"cuStreamBeginCapture_v2", 10010},
          {"cuStreamGetCaptureInfo_v2", 11030},
          {"cuStreamGetCaptureInfo_v3", 12030},
          {"cuStreamUpdateCaptureDependencies_v2", 12030},
      };
  const auto found = versions.find(name);
  return found != versions.end() ? found->second : 0;
}

}  // namespace

EntryPoint find_driver_function(std::string_view name, int version) {
  bool too_new = false;
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    const std::string full = std::string(name) + suffix;
    const auto found = functions().find(full);
    if (found == functions().end()) continue;
    if (since(full) <= version) return {found->second, EntryPoint::Result::Success};
    too_new = true;
  }
  return {nullptr,
          too_new ? EntryPoint::Result::VersionNotSufficient : EntryPoint::Result::NotFound};
}

}  // namespace weft::cudart
