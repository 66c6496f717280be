// SPDX-License-Identifier: Apache-2.0

#include "lattice/evaluation/comparison_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/html_text.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>lattice: comparison</title><style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; color: #1a1a1a; }
svg { display: block; margin: .5rem 0 2rem; }
svg text { font: 12px system-ui, sans-serif; fill: #333; }
</style></head><body><h1>Comparison of models</h1>
)";
constexpr int kLeft = 300, kWidth = 620, kRow = 18;
constexpr std::array kColours = {"#0969da", "#bf3989", "#1a7f37", "#bc4c00", "#8250df",
                                 "#6e7781", "#9a6700", "#0550ae", "#cf222e"};

// A value with its interval; without one the bounds are the value.
struct Mark {
  double value, low, high;
};

std::optional<Mark> mark(const Json& line, const char* measure) {
  const auto found = line.find(measure);
  if (found == line.end() || !found->is_object() || !found->contains("value") ||
      !(*found)["value"].is_number())
    return std::nullopt;
  const double value = (*found)["value"];
  return Mark{value, found->value("low", value), found->value("high", value)};
}

std::string slice_name(const Json& line) {
  std::string text = line["task"];
  text += line["domain"].is_null() ? ", all domains" : ", " + line["domain"].get<std::string>();
  if (!line["window_seconds"].is_null())
    text += ", " + format_duration(line["window_seconds"].get<double>());
  return text;
}

// Numbers on a line from kLeft to kLeft + kWidth.
class Axis {
 public:
  void include(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  bool empty() const { return low_ > high_; }
  double at(double value) const {
    const double span = high_ > low_ ? high_ - low_ : 1;
    return kLeft + (value - low_) / span * kWidth;
  }
  // Five numbers below the plot.
  std::string ticks(int y) const {
    std::string svg;
    for (int k = 0; k <= 4; ++k) {
      const double value = low_ + (high_ - low_) * k / 4;
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.4g}</text>\n",
                         at(value), y, value);
    }
    return svg;
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

// A row of a plot: a slice's name (empty: still the one above), a model, and what it reached.
struct PlotRow {
  std::string slice;
  size_t model = 0;
  std::optional<Mark> mark;
  std::optional<double> reference;  // a dashed line
};

std::string plot(const std::string& title, const std::vector<PlotRow>& rows,
                 std::optional<double> origin) {
  Axis axis;
  if (origin) axis.include(*origin);
  for (const PlotRow& row : rows) {
    if (row.reference) axis.include(*row.reference);
    if (!row.mark) continue;
    axis.include(row.mark->low);
    axis.include(row.mark->high);
  }
  std::string text = "<h2>" + title + "</h2>\n";
  if (axis.empty()) return text + "<p>Nothing was measured.</p>\n";
  const int height = static_cast<int>(rows.size()) * kRow + 30;
  text +=
      fmt::format("<svg width=\"{}\" height=\"{}\" role=\"img\">\n", kLeft + kWidth + 60, height);
  if (origin)
    text +=
        fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1}\" stroke=\"#999\"/>\n",
                    axis.at(*origin), height - 22);
  for (size_t i = 0; i < rows.size(); ++i) {
    const PlotRow& row = rows[i];
    const int y = static_cast<int>(i) * kRow + kRow / 2 + 2;
    if (!row.slice.empty())
      text += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", y + 4, html_text(row.slice));
    if (row.reference)
      text += fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"#333\" "
          "stroke-dasharray=\"3 3\"/>\n",
          axis.at(*row.reference), y - kRow / 2, y + kRow / 2);
    if (!row.mark) {
      text += fmt::format("<text x=\"{}\" y=\"{}\">not measured</text>\n", kLeft, y + 4);
      continue;
    }
    const char* colour = kColours[row.model % kColours.size()];
    text += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"2\"/>\n"
        "<circle cx=\"{:.1f}\" cy=\"{}\" r=\"4\" fill=\"{}\"><title>{:.5g} [{:.5g}, "
        "{:.5g}]</title></circle>\n",
        axis.at(row.mark->low), axis.at(row.mark->high), y, y, colour, axis.at(row.mark->value), y,
        colour, row.mark->value, row.mark->low, row.mark->high);
  }
  return text + axis.ticks(height - 6) + "</svg>\n";
}

std::string legend(const std::vector<std::string>& names) {
  std::string text = "<p>";
  for (size_t i = 0; i < names.size(); ++i)
    text += fmt::format("<span style=\"color:{}\">&#9679;</span> {} &nbsp; ",
                        kColours[i % kColours.size()], html_text(names[i]));
  return text + "</p>\n";
}

std::optional<double> best_ne(const Json& best, const Json& line) {
  if (!best.is_array()) return std::nullopt;
  const std::string window = line["window_seconds"].is_null()
                                 ? "ever"
                                 : format_duration(line["window_seconds"].get<double>());
  for (const Json& one : best)
    if (one["domain"] == line["domain"] && one["task"] == line["task"] && one["window"] == window &&
        one["ne"].is_number())
      return one["ne"].get<double>();
  return std::nullopt;
}

std::vector<PlotRow> slice_rows(const Json& models, const char* measure, const Json& best) {
  std::vector<PlotRow> rows;
  if (models.empty()) return rows;
  for (size_t i = 0; i < models[0]["slices"].size(); ++i) {
    bool first = true;
    for (size_t m = 0; m < models.size(); ++m) {
      const Json& line = models[m]["slices"][i];
      if (!line.value("served", true)) continue;
      rows.push_back({first ? slice_name(line) : "", m, mark(line, measure), best_ne(best, line)});
      first = false;
    }
  }
  return rows;
}

std::vector<PlotRow> difference_rows(const Json& differences, const char* measure) {
  std::vector<PlotRow> rows;
  for (size_t d = 0; d < differences.size(); ++d)
    for (const Json& line : differences[d]["slices"])
      rows.push_back({slice_name(line), d + 1, mark(line, measure), std::nullopt});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const PlotRow& a, const PlotRow& b) { return a.slice < b.slice; });
  for (size_t i = rows.size(); i-- > 1;)
    if (rows[i].slice == rows[i - 1].slice) rows[i].slice.clear();
  return rows;
}

// Cheaper and better is up to the left. One dot a model.
std::string cost_plot(const Json& models) {
  constexpr int kHeight = 260;
  struct Dot {
    size_t model;
    double flops, ne;
  };
  std::vector<Dot> dots;
  Axis across, upward;
  for (size_t m = 0; m < models.size(); ++m) {
    double sum = 0;
    int count = 0;
    for (const Json& line : models[m]["slices"])
      if (const auto one = mark(line, "ne"); one && line.value("served", true))
        sum += one->value, ++count;
    const Json& flops = models[m]["flops_per_impression"];
    if (count == 0 || !flops.is_number() || flops.get<double>() <= 0) continue;
    dots.push_back({m, std::log10(flops.get<double>()), sum / count});
    across.include(dots.back().flops);
    upward.include(dots.back().ne);
  }
  std::string text = "<h2>Mean NE (up is better) against log10 of FLOPs an impression</h2>\n";
  if (dots.empty()) return text + "<p>Nothing was measured.</p>\n";
  text +=
      fmt::format("<svg width=\"{}\" height=\"{}\" role=\"img\">\n", kLeft + kWidth + 60, kHeight);
  for (const Dot& dot : dots) {
    const double y = 20 + (upward.at(dot.ne) - kLeft) / kWidth * (kHeight - 70);
    text += fmt::format(
        "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"6\" fill=\"{2}\"/><text x=\"{3:.1f}\" "
        "y=\"{4:.1f}\" text-anchor=\"end\">{5} {6:.4f}</text>\n",
        across.at(dot.flops), y, kColours[dot.model % kColours.size()], across.at(dot.flops) - 10,
        y + 4, html_text(models[dot.model]["name"].get<std::string>()), dot.ne);
  }
  return text + across.ticks(kHeight - 8) + "</svg>\n";
}

}  // namespace

std::string comparison_page(const Json& report) {
  const Json& models = report["models"];
  const Json best = report.value("best_possible", Json());
  const Json& differences = report["differences"];
  std::vector<std::string> names;
  for (const Json& model : models)
    names.push_back(model["name"].get<std::string>() +
                    (model.contains("run") ? " (" + model["run"].get<std::string>() + ")" : ""));
  std::string page = kHead + legend(names);
  page += plot("NE (lower is better)", slice_rows(models, "ne", best), std::nullopt);
  page += plot("AUC (higher is better)", slice_rows(models, "auc", Json()), std::nullopt);
  if (!differences.empty()) {
    page += plot("NE minus that of " + html_text(names[0]) + " (left is better)",
                 difference_rows(differences, "ne"), 0.0);
    page += plot("AUC minus that of " + html_text(names[0]) + " (right is better)",
                 difference_rows(differences, "auc"), 0.0);
  }
  return page + cost_plot(models) + "</body></html>\n";
}

}  // namespace weft::lattice
