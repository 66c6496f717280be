// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/replay/replay_orders.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "ptxbench/problems/document.h"

namespace weft::judge {
namespace {

using problems::Document;
using problems::Node;

// Addresses are below 2^63, so a signed integer holds them.
Result<uint64_t> number(const Node& node, std::string_view name) {
  const Node value = TRY(node.member(name));
  return static_cast<uint64_t>(TRY(value.integer()));
}

}  // namespace

std::string to_text(const ReplayOrders& orders) {
  Json tensors = Json::array();
  for (const ReplayTensor& tensor : orders.tensors) {
    tensors.push_back({{"address", tensor.address},
                       {"bytes", tensor.bytes},
                       {"input", tensor.input},
                       {"output", tensor.output}});
  }
  return weft::to_text(Json{{"recording", orders.recording},
                            {"report", orders.report},
                            {"device", orders.device},
                            {"schedule_seed", orders.schedule_seed},
                            {"workers", orders.workers},
                            {"launch_seconds", orders.launch_seconds},
                            {"poison", orders.poison},
                            {"tensors", std::move(tensors)}});
}

Result<ReplayOrders> read_replay_orders(std::string text, const std::string& file) {
  const Document document = TRY(Document::parse(std::move(text), file));
  const Node root(document);
  ReplayOrders orders;
  orders.recording = TRY(root.text("recording"));
  orders.report = TRY(root.text("report"));
  orders.device = TRY(root.text("device"));
  orders.schedule_seed = TRY(number(root, "schedule_seed"));
  orders.workers = static_cast<unsigned>(TRY(number(root, "workers")));
  const Node seconds = TRY(root.member("launch_seconds"));
  orders.launch_seconds = TRY(seconds.number());
  orders.poison = static_cast<uint8_t>(TRY(number(root, "poison")));
  const Node tensors = TRY(root.member("tensors"));
  for (const Node& tensor : TRY(tensors.elements())) {
    auto& added = orders.tensors.emplace_back();
    added.address = TRY(number(tensor, "address"));
    added.bytes = TRY(number(tensor, "bytes"));
    added.input = TRY(tensor.text("input"));
    added.output = TRY(tensor.text("output"));
  }
  return orders;
}

}  // namespace weft::judge
