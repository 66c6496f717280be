// SPDX-License-Identifier: Apache-2.0

// Writes docs/isa_coverage.md from the tables: isa_coverage_page FILE. With --check it compares
// instead and fails when the page is stale.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

std::string_view status_word(Status status) {
  switch (status) {
    case Status::Executes:
      return "executes";
    case Status::Parses:
      return "parses";
    case Status::Refused:
      return "refused";
  }
  return "";
}

std::string version_text(int tenfold) {
  return std::to_string(tenfold / 10) + "." + std::to_string(tenfold % 10);
}

// A bar inside a table cell ends the cell unless it is escaped.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string page() {
  std::string out =
      "# Instruction coverage\n\nWritten by `isa_coverage_page` from the tables in `ptxbench/isa`; "
      "do not edit.\n"
      "*executes*: the emulator gives the form its meaning. *parses*: the parser knows it, running "
      "it is a fault.\n"
      "The notation is that of `ptxbench/isa/form.h`.\n\n| chapter | forms | execute |\n| --- | "
      "--- | --- |\n";
  std::size_t forms = 0, executing = 0;
  for (const Chapter& chapter : chapters()) {
    std::size_t here = 0;
    for (const Form& form : chapter.forms) here += form.status == Status::Executes;
    out += "| " + std::string(chapter.name) + " | " + std::to_string(chapter.forms.size()) + " | " +
           std::to_string(here) + " |\n";
    forms += chapter.forms.size();
    executing += here;
  }
  out += "| **all** | " + std::to_string(forms) + " | " + std::to_string(executing) + " |\n";
  for (const Chapter& chapter : chapters()) {
    out += "\n## " + std::string(chapter.name) +
           "\n\n| form | types | PTX | target | |\n| --- | --- | --- | --- | --- |\n";
    for (const Form& form : chapter.forms) {
      out += "| `" + cell(form.syntax) + "` | " + std::string(form.types) + " | " +
             version_text(form.since) + " | " + std::string(form.targets) + " | " +
             std::string(status_word(form.status)) + " |\n";
    }
  }
  return out;
}

}  // namespace
}  // namespace weft::isa

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::strcmp(argv[1], "--check") == 0;
  if (argc != 2 && !check) {
    std::fprintf(stderr, "usage: isa_coverage_page [--check] FILE\n");
    return 2;
  }
  const std::string text = weft::isa::page();
  const char* path = argv[argc - 1];
  if (!check) {
    std::ofstream(path) << text;
    return 0;
  }
  std::stringstream kept;
  kept << std::ifstream(path).rdbuf();
  if (kept.str() == text) return 0;
  std::fprintf(stderr, "%s is stale; run: isa_coverage_page %s\n", path, path);
  return 1;
}
