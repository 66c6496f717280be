// SPDX-License-Identifier: Apache-2.0

// Loads a PTX candidate through the driver API and launches its kernels as its description says.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/text_file.h"
#include "ptxbench/judge/worker/driver_launch.h"
#include "ptxbench/judge/worker/program.h"

namespace weft::judge {
namespace {

constexpr uint32_t kDefaultShared = 48 << 10;
constexpr uint64_t kPortableCluster = 8;

struct Prepared {
  ResolvedLaunch launch;
  void* function = nullptr;
  std::vector<std::array<std::byte, 8>> values;  // one an argument, little end first
};

std::array<std::byte, 8> value_of(const ResolvedLaunch::Argument& argument,
                                  const DeviceTensors& tensors) {
  std::array<std::byte, 8> bytes{};
  if (argument.kind == LaunchArgument::Kind::Tensor) {
    void* data = tensors.data(static_cast<size_t>(argument.value));
    std::memcpy(bytes.data(), &data, sizeof data);
  } else if (argument.kind == LaunchArgument::Kind::Float32) {
    const auto number = static_cast<float>(argument.number);
    std::memcpy(bytes.data(), &number, sizeof number);
  } else {
    std::memcpy(bytes.data(), &argument.value, sizeof argument.value);  // i32: its low half
  }
  return bytes;
}

Result<Done> launch_one(const Driver& driver, Prepared& prepared, void* stream) {
  const ResolvedLaunch& launch = prepared.launch;
  LaunchAttribute attribute;
  std::copy(launch.cluster.begin(), launch.cluster.end(), attribute.value);
  const bool clustered = launch.cluster != std::array<uint32_t, 3>{1, 1, 1};
  LaunchConfig config{};
  std::copy(launch.grid.begin(), launch.grid.end(), config.grid);
  std::copy(launch.block.begin(), launch.block.end(), config.block);
  config.shared = launch.shared;
  config.stream = stream;
  config.attributes = clustered ? &attribute : nullptr;
  config.attribute_count = clustered ? 1 : 0;
  std::vector<void*> arguments;
  for (auto& value : prepared.values) arguments.push_back(value.data());
  return driver.check(driver.launch(&config, prepared.function, arguments.data(), nullptr),
                      "launch of " + launch.kernel);
}

class PtxProgram final : public Program {
 public:
  static Result<std::unique_ptr<Program>> load(const Orders& orders, void* stream) {
    auto program = std::make_unique<PtxProgram>();
    program->stream_ = stream;
    program->driver_ = TRY(Driver::open());
    const Driver& driver = program->driver_;
    const std::string text = TRY(read_file(orders.candidate));
    void* module = nullptr;
    TRY(driver.check(driver.load_module(&module, text.c_str()), "cuModuleLoadData"));
    for (const ResolvedLaunch& launch : orders.launches) {
      Prepared one{launch, nullptr, {}};
      TRY(driver.check(driver.find_function(&one.function, module, launch.kernel.c_str()),
                       "kernel " + launch.kernel));
      if (launch.shared > kDefaultShared) {
        TRY(driver.check(
            driver.set_attribute(one.function, kMaxDynamicShared, static_cast<int>(launch.shared)),
            "cuFuncSetAttribute"));
      }
      if (uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2] > kPortableCluster) {
        TRY(driver.check(driver.set_attribute(one.function, kNonPortableCluster, 1),
                         "cuFuncSetAttribute"));
      }
      program->prepared_.push_back(std::move(one));
    }
    return std::unique_ptr<Program>(std::move(program));
  }

  void bind(const DeviceTensors& tensors) override {
    for (Prepared& one : prepared_) {
      one.values.clear();
      for (const ResolvedLaunch::Argument& argument : one.launch.arguments)
        one.values.push_back(value_of(argument, tensors));
    }
  }
  std::optional<CallFailure> call() override {
    for (Prepared& one : prepared_) {
      const Result<Done> launched = launch_one(driver_, one, stream_);
      if (!launched.ok()) return CallFailure{"LaunchError", launched.error().message()};
    }
    return std::nullopt;
  }
  void inspect(WorkerReport&) const override {}  // kernels get no descriptions

 private:
  Driver driver_;
  void* stream_ = nullptr;
  std::vector<Prepared> prepared_;
};

}  // namespace

Result<std::unique_ptr<Program>> load_ptx(const Orders& orders, void* stream) {
  return PtxProgram::load(orders, stream);
}

}  // namespace weft::judge
