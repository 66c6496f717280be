// SPDX-License-Identifier: Apache-2.0

// lattice doctor: checks the machine and changes nothing.
#include <unistd.h>

#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"
#include "base/table/database.h"

namespace weft::lattice {
namespace {

struct Check {
  std::string name;
  bool good = false;
  std::string detail;  // what was found, or what to do
};

Check engine() {
  Result<table::Database> database = table::Database::open({.threads = 1});
  if (!database.ok()) return {"DuckDB", false, database.error().message()};
  const auto parquet =
      database->row("SELECT count(*) FROM duckdb_functions() WHERE function_name = 'read_parquet'");
  const bool reads = parquet.ok() && parquet->front() != "0";
  return {"DuckDB", reads,
          reads ? table::engine_version() : "this DuckDB was built without Parquet"};
}

std::vector<Check> examine() {
  std::vector<Check> checks = {engine()};
  const double gigabytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e9;
  checks.push_back({"machine", gigabytes >= 2,
                    fmt::format("{} cores, {:.0f} GB of memory",
                                std::thread::hardware_concurrency(), gigabytes)});
  std::error_code failed;
  const std::filesystem::space_info space = std::filesystem::space(".", failed);
  const double available = failed ? 0 : static_cast<double>(space.available) / 1e9;
  checks.push_back(
      {"disk", available >= 5,
       fmt::format("{:.0f} GB free here; 50 million impressions need about 20", available)});
  return checks;
}

}  // namespace

Result<Outcome> run_doctor(const StepOptions&) {
  bool healthy = true;
  std::vector<Row> rows;
  Json list = Json::array();
  for (const Check& check : examine()) {
    healthy = healthy && check.good;
    rows.push_back({check.name, check.good ? "ok" : "MISSING", check.detail});
    list.push_back({{"check", check.name},
                    {"state", check.good ? "ok" : "missing"},
                    {"detail", check.detail}});
  }
  return Outcome{.json = to_text({{"healthy", healthy}, {"checks", list}}),
                 .text = table(rows),
                 .exit_code = healthy ? kPassed : kEnvironment};
}

}  // namespace weft::lattice
