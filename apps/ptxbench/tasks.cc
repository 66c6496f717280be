// SPDX-License-Identifier: Apache-2.0

// ptxbench tasks: what can be asked of a kernel.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/trust.h"
#include "apps/ptxbench/verbs.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/problems/catalogue.h"
#include "ptxbench/problems/reference.h"

namespace weft::ptxbench {
namespace {

using namespace problems;

struct Options {
  std::string folder;
  std::string name;
  bool all = false;
  std::string write;
  bool json = false;
  double operations = 0;
};

Result<Catalogue> open(const Options& options) {
  const std::string folder =
      options.folder.empty() ? judge::find_toolchain().problems : options.folder;
  if (folder.empty())
    return Error("the task folder is missing: problems/", "name it with --problems");
  return Catalogue::open(folder);
}

std::string axes_text(const Axes& axes) {
  std::string text;
  for (const auto& [name, value] : axes)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

int list(const Options& options) {
  const Result<Catalogue> catalogue = open(options);
  if (!catalogue.ok()) return fail(catalogue.error(), kUsage);
  std::vector<Row> rows = {{"task", "family", "workloads", "call"}};
  Json json = Json::array();
  for (const std::string& name : catalogue->names()) {
    const Result<Definition> definition = catalogue->definition(name);
    if (!definition.ok()) return fail(definition.error(), kUsage);
    const Result<std::vector<Workload>> workloads = catalogue->workloads(*definition);
    if (!workloads.ok()) return fail(workloads.error(), kUsage);
    std::string call;
    for (const auto* specs : {&definition->inputs, &definition->outputs}) {
      for (const TensorSpec& spec : *specs) call += (call.empty() ? "" : ", ") + spec.name;
    }
    rows.push_back({name, std::string(definition->tag("family")), std::to_string(workloads->size()),
                    "run(" + call + ")"});
    json.push_back(
        {{"name", name}, {"family", definition->tag("family")}, {"workloads", workloads->size()}});
  }
  if (options.json)
    print_json(json);
  else
    print(table(rows));
  return kPassed;
}

Json tensors_json(const std::vector<TensorSpec>& specs) {
  Json json = Json::object();
  for (const TensorSpec& spec : specs)
    json[spec.name] = {{"shape", spec.shape}, {"dtype", problems::name(spec.dtype)}};
  return json;
}

std::string tensors_text(const char* title, const std::vector<TensorSpec>& specs) {
  std::vector<Row> rows;
  for (const TensorSpec& spec : specs) {
    rows.push_back({"  " + spec.name,
                    fmt::format("{}[{}]", problems::name(spec.dtype), fmt::join(spec.shape, ", ")),
                    spec.description});
  }
  return fmt::format("{}\n{}", title, table(rows));
}

int show(const Options& options) {
  const Result<Catalogue> catalogue = open(options);
  if (!catalogue.ok()) return fail(catalogue.error(), kUsage);
  const Result<Definition> definition = catalogue->definition(options.name);
  if (!definition.ok()) return fail(definition.error(), kUsage);
  const Result<std::vector<Workload>> workloads = catalogue->workloads(*definition);
  if (!workloads.ok()) return fail(workloads.error(), kUsage);
  if (options.json) {
    Json list = Json::array();
    for (const Workload& workload : *workloads)
      list.push_back({{"uuid", workload.uuid}, {"axes", workload.axes}});
    Json axes = Json::object();
    for (const Axis& axis : definition->axes) {
      axes[axis.name] =
          axis.value ? Json{{"type", "const"}, {"value", *axis.value}} : Json{{"type", "var"}};
    }
    print_json({{"name", definition->name},
                {"op_type", definition->op_type},
                {"description", definition->description},
                {"tags", definition->tags},
                {"axes", axes},
                {"inputs", tensors_json(definition->inputs)},
                {"outputs", tensors_json(definition->outputs)},
                {"constraints", definition->constraints},
                {"workloads", list}});
    return kPassed;
  }
  std::string axes;
  for (const Axis& axis : definition->axes)
    axes += fmt::format("  {}{}\n", axis.name,
                        axis.value ? fmt::format(" = {}", *axis.value) : " (by workload)");
  std::vector<Row> rows;
  for (const Workload& workload : *workloads) {
    const Result<Task> task = resolve(*definition, workload, {});
    if (!task.ok()) return fail(task.error(), kUsage);
    const std::optional<double> operations = floating_point_operations(*task);
    rows.push_back({"  " + workload.uuid, axes_text(workload.axes),
                    fmt::format("{:.3g} MB", static_cast<double>(task->bytes()) / 1e6),
                    operations ? fmt::format("{:.4g} GFLOP", *operations / 1e9) : ""});
  }
  print(fmt::format(
      "{}\n{}\n\naxes\n{}{}{}constraints\n  {}\nrules\n  {}\nworkloads\n{}", definition->name,
      definition->description, axes, tensors_text("inputs", definition->inputs),
      tensors_text("outputs", definition->outputs), fmt::join(definition->constraints, "\n  "),
      fmt::join(definition->tags, "\n  "), table(rows)));
  return kPassed;
}

// lint and measure, which differ in what they do with the tasks.
int trust(const Options& options, int (*verb)(const Catalogue&, const TrustOptions&)) {
  const Result<Catalogue> catalogue = open(options);
  if (!catalogue.ok()) return fail(catalogue.error(), kUsage);
  if (options.name.empty() != options.all)
    return fail(Error("name one task, or all of them", "ptxbench tasks lint --all"), kUsage);
  return verb(*catalogue, {options.name, options.write, options.json, options.operations});
}

}  // namespace

void add_tasks(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* tasks = app.add_subcommand("tasks", "Lists the tasks, or shows one");
  tasks->footer(
      "Examples:\n  ptxbench tasks list\n  ptxbench tasks show gemm_n7168_k5120\n  ptxbench tasks "
      "show mha_bwd_d128_causal --json");
  tasks->add_option("--problems", options->folder,
                    "Task folder (default: the project's problems/)");
  tasks->add_flag("--json", options->json, "Print JSON");
  tasks->fallthrough();
  CLI::App* listing = tasks->add_subcommand("list", "One line a task (the default)");
  CLI::App* showing =
      tasks->add_subcommand("show", "Axes, tensors, rules and workloads of one task");
  showing->add_option("name", options->name, "Task")->required();
  CLI::App* linting = tasks->add_subcommand(
      "lint", "Admits workloads whose comparison rejects null kernels and whose inputs all matter");
  CLI::App* measuring = tasks->add_subcommand(
      "measure", "Measures what good implementations get wrong, against float64");
  for (CLI::App* verb : {linting, measuring}) {
    verb->add_option("name", options->name, "Task");
    verb->add_flag("--all", options->all, "All tasks");
    verb->add_option("--write", options->write,
                     "Task folder in which reports are stored beside the workloads");
    verb->add_option("--operations", options->operations,
                     "What one reference may cost; axes are shrunk until it does");
  }
  for (CLI::App* verb : {listing, showing, linting, measuring}) verb->fallthrough();
  tasks->callback([options, showing, linting, measuring, &exit_code] {
    if (linting->parsed())
      exit_code = trust(*options, lint);
    else if (measuring->parsed())
      exit_code = trust(*options, measure);
    else
      exit_code = showing->parsed() ? show(*options) : list(*options);
  });
}

}  // namespace weft::ptxbench
