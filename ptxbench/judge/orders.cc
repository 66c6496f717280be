// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/orders.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "ptxbench/problems/document.h"

namespace weft::judge {
namespace {

using problems::Document;
using problems::Node;

Json launch_json(const ResolvedLaunch& launch) {
  Json arguments = Json::array();
  for (const ResolvedLaunch::Argument& argument : launch.arguments) {
    arguments.push_back({{"kind", static_cast<int>(argument.kind)},
                         {"value", argument.value},
                         {"number", argument.number}});
  }
  return {{"kernel", launch.kernel}, {"grid", launch.grid},
          {"block", launch.block},   {"cluster", launch.cluster},
          {"shared", launch.shared}, {"arguments", std::move(arguments)}};
}

Result<int64_t> integer(const Node& node, std::string_view name) {
  const Node value = TRY(node.member(name));
  return value.integer();
}

Result<std::vector<int64_t>> integers(const Node& node, std::string_view name) {
  const Node list = TRY(node.member(name));
  std::vector<int64_t> values;
  for (const Node& element : TRY(list.elements())) values.push_back(TRY(element.integer()));
  return values;
}

Result<std::vector<std::string>> texts(const Node& node, std::string_view name) {
  const Node list = TRY(node.member(name));
  std::vector<std::string> values;
  for (const Node& element : TRY(list.elements())) values.push_back(TRY(element.text()));
  return values;
}

Result<std::array<uint32_t, 3>> triple(const Node& node, std::string_view name) {
  const std::vector<int64_t> values = TRY(integers(node, name));
  if (values.size() != 3) return node.error("three numbers are expected");
  return std::array<uint32_t, 3>{static_cast<uint32_t>(values[0]), static_cast<uint32_t>(values[1]),
                                 static_cast<uint32_t>(values[2])};
}

Result<ResolvedLaunch> read_launch(const Node& node) {
  ResolvedLaunch launch;
  launch.kernel = TRY(node.text("kernel"));
  launch.grid = TRY(triple(node, "grid"));
  launch.block = TRY(triple(node, "block"));
  launch.cluster = TRY(triple(node, "cluster"));
  launch.shared = static_cast<uint32_t>(TRY(integer(node, "shared")));
  const Node arguments = TRY(node.member("arguments"));
  for (const Node& item : TRY(arguments.elements())) {
    ResolvedLaunch::Argument argument{};
    argument.kind = static_cast<LaunchArgument::Kind>(TRY(integer(item, "kind")));
    argument.value = TRY(integer(item, "value"));
    const Node number = TRY(item.member("number"));
    argument.number = TRY(number.number());
    launch.arguments.push_back(argument);
  }
  return launch;
}

Result<TensorOrder> read_tensor(const Node& node) {
  TensorOrder tensor;
  tensor.name = TRY(node.text("name"));
  tensor.code = static_cast<uint8_t>(TRY(integer(node, "code")));
  tensor.bits = static_cast<uint8_t>(TRY(integer(node, "bits")));
  tensor.shape = TRY(integers(node, "shape"));
  tensor.bytes = static_cast<uint64_t>(TRY(integer(node, "bytes")));
  tensor.output = TRY(integer(node, "output")) != 0;
  if (node.has("scalar")) {
    const Node scalar = TRY(node.member("scalar"));
    tensor.scalar = TRY(scalar.number());
  }
  return tensor;
}

}  // namespace

std::string Orders::input_file(size_t tensor) const {
  return fmt::format("{}/{}.bin", inputs, tensor);
}
std::string Orders::output_file(size_t tensor) const {
  return fmt::format("{}/{}.bin", outputs, tensor);
}

std::string to_text(const Orders& orders) {
  Json tensors = Json::array();
  for (const TensorOrder& tensor : orders.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"code", tensor.code},
                       {"bits", tensor.bits},
                       {"shape", tensor.shape},
                       {"bytes", tensor.bytes},
                       {"output", tensor.output ? 1 : 0},
                       {"scalar", tensor.scalar ? Json(*tensor.scalar) : Json()}});
  }
  Json launches = Json::array();
  for (const ResolvedLaunch& launch : orders.launches) launches.push_back(launch_json(launch));
  return weft::to_text(Json{{"candidate", orders.candidate},
                            {"ptx", orders.ptx ? 1 : 0},
                            {"inputs", orders.inputs},
                            {"outputs", orders.outputs},
                            {"calls", orders.calls},
                            {"reports", orders.reports},
                            {"tensors", std::move(tensors)},
                            {"guard_bytes", orders.guard_bytes},
                            {"launches", std::move(launches)}});
}

Result<Orders> read_orders(std::string text, const std::string& file) {
  const Document document = TRY(Document::parse(std::move(text), file));
  const Node root(document);
  Orders orders;
  orders.candidate = TRY(root.text("candidate"));
  orders.ptx = TRY(integer(root, "ptx")) != 0;
  orders.inputs = TRY(root.text("inputs"));
  orders.outputs = TRY(root.text("outputs"));
  orders.calls = TRY(root.text("calls"));
  orders.reports = TRY(root.text("reports"));
  const Node tensors = TRY(root.member("tensors"));
  for (const Node& tensor : TRY(tensors.elements()))
    orders.tensors.push_back(TRY(read_tensor(tensor)));
  orders.guard_bytes = static_cast<uint64_t>(TRY(integer(root, "guard_bytes")));
  const Node launches = TRY(root.member("launches"));
  for (const Node& launch : TRY(launches.elements()))
    orders.launches.push_back(TRY(read_launch(launch)));
  return orders;
}

std::string to_line(const CallOrder& call) {
  return Json{{"poison", call.poison},
              {"guard", call.guard},
              {"move", call.move ? 1 : 0},
              {"recording", call.recording}}
      .dump();
}

Result<CallOrder> read_call(std::string line) {
  const Document document = TRY(Document::parse(std::move(line), "call"));
  const Node root(document);
  CallOrder call;
  call.poison = static_cast<uint8_t>(TRY(integer(root, "poison")));
  call.guard = static_cast<uint8_t>(TRY(integer(root, "guard")));
  call.move = TRY(integer(root, "move")) != 0;
  call.recording = TRY(root.text("recording"));
  return call;
}

std::string to_line(const WorkerReport& report) {
  Json damage = Json::array();
  for (const GuardDamage& item : report.damage) {
    damage.push_back(
        {{"tensor", item.tensor}, {"behind", item.behind ? 1 : 0}, {"distance", item.distance}});
  }
  // Messages come from the candidate and need not be UTF-8.
  return Json{{"stage", report.stage},        {"failed", report.failed ? 1 : 0},
              {"kind", report.kind},          {"message", report.message},
              {"damage", std::move(damage)},  {"reshaped", report.reshaped},
              {"retyped", report.retyped},    {"threads_left", report.threads_left},
              {"addresses", report.addresses}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<WorkerReport> read_worker_report(std::string line) {
  const Document document = TRY(Document::parse(std::move(line), "report"));
  const Node root(document);
  WorkerReport report;
  report.stage = TRY(root.text("stage"));
  report.failed = TRY(integer(root, "failed")) != 0;
  report.kind = TRY(root.text("kind"));
  report.message = TRY(root.text("message"));
  const Node damage = TRY(root.member("damage"));
  for (const Node& item : TRY(damage.elements())) {
    GuardDamage one;
    one.tensor = TRY(item.text("tensor"));
    one.behind = TRY(integer(item, "behind")) != 0;
    one.distance = static_cast<uint64_t>(TRY(integer(item, "distance")));
    report.damage.push_back(std::move(one));
  }
  report.reshaped = TRY(texts(root, "reshaped"));
  report.retyped = TRY(texts(root, "retyped"));
  report.threads_left = static_cast<int>(TRY(integer(root, "threads_left")));
  for (const int64_t address : TRY(integers(root, "addresses")))
    report.addresses.push_back(static_cast<uint64_t>(address));
  return report;
}

}  // namespace weft::judge
