// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/worker/shared_poison.h"

#include "ptxbench/judge/worker/driver_launch.h"
#include "ptxbench/judge/worker/timing_runtime.h"

namespace weft::judge {
namespace {

constexpr const char* kText = R"(
.version 7.8
.target sm_80
.address_size 64

.extern .shared .align 16 .b8 whole[];

.visible .entry spoil(.param .u32 bytes, .param .u32 word)
{
  .reg .u32 %at, %end, %word, %step, %base;
  .reg .pred %more;
  mov.u32 %base, whole;
  mov.u32 %at, %tid.x;
  shl.b32 %at, %at, 2;
  mov.u32 %step, %ntid.x;
  shl.b32 %step, %step, 2;
  ld.param.u32 %end, [bytes];
  ld.param.u32 %word, [word];
  add.u32 %at, %at, %base;
  add.u32 %end, %end, %base;
again:
  setp.lt.u32 %more, %at, %end;
  @!%more bra done;
  st.volatile.shared.u32 [%at], %word;
  add.u32 %at, %at, %step;
  bra again;
done:
  ret;
}
)";

constexpr int kMultiprocessors = 16, kLargestShared = 97;  // cudaDeviceAttr
constexpr uint32_t kThreads = 1024;

}  // namespace

Result<SharedPoison> SharedPoison::create(const Runtime& runtime) {
  SharedPoison made;
  made.runtime_ = &runtime;
  made.driver_ = TRY(Driver::open());
  const TimingRuntime queries = TRY(TimingRuntime::open());
  int multiprocessors = 0, bytes = 0;
  TRY(runtime.check(queries.attribute(&multiprocessors, kMultiprocessors, 0),
                    "cudaDeviceGetAttribute"));
  TRY(runtime.check(queries.attribute(&bytes, kLargestShared, 0), "cudaDeviceGetAttribute"));
  made.multiprocessors_ = static_cast<uint32_t>(multiprocessors);
  made.bytes_ = static_cast<uint32_t>(bytes);
  void* module = nullptr;
  const Driver& driver = made.driver_;
  TRY(driver.check(driver.load_module(&module, kText), "cuModuleLoadData"));
  TRY(driver.check(driver.find_function(&made.function_, module, "spoil"), "cuModuleGetFunction"));
  TRY(driver.check(driver.set_attribute(made.function_, kMaxDynamicShared, bytes),
                   "cuFuncSetAttribute"));
  return made;
}

Result<Done> SharedPoison::fill(uint8_t pattern) const {
  uint32_t bytes = bytes_, word = pattern * 0x01010101u;
  void* arguments[] = {&bytes, &word};
  // A block takes a multiprocessor's whole memory, so as many as there are run one on each.
  LaunchConfig config{};
  config.grid[0] = multiprocessors_;
  config.block[0] = kThreads;
  config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
  config.shared = bytes_;
  TRY(driver_.check(driver_.launch(&config, function_, arguments, nullptr), "cuLaunchKernelEx"));
  return runtime_->check(runtime_->synchronize(), "cudaDeviceSynchronize");
}

}  // namespace weft::judge
