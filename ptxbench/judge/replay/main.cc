// SPDX-License-Identifier: Apache-2.0

// ptxbench-replay ORDERS.json: repeats a recording on a fresh emulated device with other inputs.
// None of the candidate's host code is in this process, so what it counts is what the device really
// did, and an output that comes out right was made by the device.
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "ptxbench/judge/replay/replay.h"

namespace weft::judge {
namespace {

Result<Done> replay(const std::string& path) {
  std::string text = TRY(read_file(path));
  const ReplayOrders orders = TRY(read_replay_orders(std::move(text), path));
  const emulator::DeviceModel* model = emulator::find_device_model(orders.device);
  if (model == nullptr) return Error(fmt::format("unknown device model: {}", orders.device));
  const auto replay = std::make_unique<Replay>(orders, *model);
  const std::string bytes = TRY(read_file(orders.recording));
  const Result<std::vector<emulator::RecordedOperation>> operations =
      emulator::read_recording(bytes);
  Result<Done> ran = operations.ok() ? replay->run(*operations) : operations.error();
  if (ran.ok() && !replay->fault()) ran = replay->write_tensors();
  // Names come from the candidate and need not be UTF-8.
  return write_file(orders.report, replay->report(ran.ok() ? "" : ran.error().message())
                                       .dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace
}  // namespace weft::judge

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: ptxbench-replay ORDERS.json (started by ptxbench eval)\n");
    return 2;
  }
  const weft::Result<weft::Done> done = weft::judge::replay(arguments[1]);
  if (done.ok()) return 0;
  std::fprintf(stderr, "%s\n", weft::format(done.error()).c_str());
  return 1;
}
