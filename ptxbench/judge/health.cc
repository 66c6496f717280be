// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/health.h"

#include <cstring>

#include "base/text_file.h"

namespace weft::judge {
namespace {

constexpr double kPatience = 60;  // seconds for a kernel that takes none
constexpr int64_t kElements = 64;

// y[i] = x[i] + 1
constexpr const char* kKernel = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry probe(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<2>;
    .reg .f32 %f<1>;
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [x];
    ld.param.u64 %d1, [y];
    mov.u32 %r0, %tid.x;
    mad.wide.u32 %d0, %r0, 4, %d0;
    mad.wide.u32 %d1, %r0, 4, %d1;
    ld.global.f32 %f0, [%d0];
    add.rn.f32 %f0, %f0, 0f3F800000;
    st.global.f32 [%d1], %f0;
    ret;
}
)";

problems::Task probe_task() {
  problems::Task task;
  task.definition.name = "probe";
  task.definition.inputs = {{"x", {"n"}, problems::DType::Float32, ""}};
  task.definition.outputs = {{"y", {"n"}, problems::DType::Float32, ""}};
  task.axes["n"] = kElements;
  return task;
}

ResolvedLaunch probe_launch() {
  ResolvedLaunch launch;
  launch.kernel = "probe";
  launch.block = {static_cast<uint32_t>(kElements), 1, 1};
  launch.arguments = {{LaunchArgument::Kind::Tensor, 0, 0}, {LaunchArgument::Kind::Tensor, 1, 0}};
  return launch;
}

}  // namespace

Result<Health> probe_device(const Toolchain& toolchain, const EmulationSettings& emulation,
                            const std::string& folder) {
  const problems::Task task = probe_task();
  const std::string kernel = folder + "/kernel/probe.ptx";
  TRY(write_file(kernel, kKernel));
  const std::unique_ptr<Session> session = TRY(Session::start({.candidate = kernel,
                                                               .ptx = true,
                                                               .launches = {probe_launch()},
                                                               .folder = folder,
                                                               .emulation = emulation,
                                                               .limits = {.seconds = kPatience},
                                                               .cancel = nullptr},
                                                              task, toolchain));
  std::vector<problems::Tensor> inputs;
  inputs.emplace_back("x", problems::DType::Float32, std::vector<int64_t>{kElements});
  std::vector<float> values(kElements), expected(kElements);
  for (int64_t i = 0; i < kElements; ++i) {
    values[i] = static_cast<float>(i);
    expected[i] = static_cast<float>(i + 1);
  }
  std::memcpy(inputs[0].bytes.data(), values.data(), inputs[0].bytes.size());
  const CallOutcome call = TRY(session->call({.inputs = &inputs, .poison = 0xff, .guard = 0xff}));
  TRY(session->finish());
  if (call.failure) return Health{false, call.failure->evidence};
  if (std::memcmp(call.bytes[1].data(), expected.data(), call.bytes[1].size()) != 0)
    return Health{false, "a kernel of our own gave wrong numbers"};
  return Health{true, ""};
}

}  // namespace weft::judge
