// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/bench_orders.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "ptxbench/problems/document.h"

namespace weft::judge {

using problems::Node;

std::string to_text(const BenchOrders& orders) {
  return weft::to_text(Json{{"ask", orders.ask},
                            {"answer", orders.answer},
                            {"outputs", orders.outputs},
                            {"contents", orders.contents},
                            {"sets", orders.sets},
                            {"axes", orders.axes},
                            {"family", orders.family},
                            {"causal", orders.causal ? 1 : 0}});
}

Result<BenchOrders> read_bench_orders(std::string text, const std::string& file) {
  const problems::Document document = TRY(problems::Document::parse(std::move(text), file));
  const Node root(document);
  const auto integer = [&root](std::string_view name) -> Result<int64_t> {
    const Node value = TRY(root.member(name));
    return value.integer();
  };
  BenchOrders orders;
  orders.ask = TRY(root.text("ask"));
  orders.answer = TRY(root.text("answer"));
  orders.outputs = TRY(root.text("outputs"));
  const Node contents = TRY(root.member("contents"));
  for (const Node& folder : TRY(contents.elements())) orders.contents.push_back(TRY(folder.text()));
  orders.sets = static_cast<unsigned>(TRY(integer("sets")));
  const Node axes = TRY(root.member("axes"));
  for (const Node& axis : TRY(axes.elements())) {
    AxisPositions positions;
    for (const Node& position : TRY(axis.elements()))
      positions.push_back(static_cast<int>(TRY(position.integer())));
    orders.axes.push_back(std::move(positions));
  }
  orders.family = TRY(root.text("family"));
  orders.causal = TRY(integer("causal")) != 0;
  if (orders.contents.empty() || orders.sets == 0)
    return root.error("a bench needs contents and sets of buffers");
  return orders;
}

}  // namespace weft::judge
