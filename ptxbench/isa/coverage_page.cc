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

// Why a row only parses: the first entry whose words all stand in the row.
struct Reason {
  std::string_view first, second, why;
};
constexpr Reason kReasons[] = {
    {"tcgen05.shift", "", "the manual does not say which neighbour a row takes its values from"},
    {"tcgen05.mma", ".ashift",
     "the manual does not say which neighbour a row takes its values from"},
    {"cvta", ".u32", "the emulated devices have 64-bit addresses"},
    {".async", ".mmio", "there is no device on the bus to write to"},
    {"im2col::w", "",
     "the manual draws, and does not write, how the window moves; nothing seen uses it"},
    {"sync.aligned", "kind::", "of sm_120a, which is not emulated"},
    {"tcgen05.ld.red", "", "of sm_103a, which is not emulated"},
    {"2dms", "", "CUDA makes no textures with several samples"},
    {"tex", "[a, c]", "textures apart from samplers, which CUDA's compilers never write"},
    {"tld4", "[a, c]", "textures apart from samplers, which CUDA's compilers never write"},
};
std::string_view reason_of(const Form& form) {
  const auto holds = [&](std::string_view word) {
    return form.syntax.find(word) != std::string_view::npos;
  };
  for (const Reason& reason : kReasons)
    if (holds(reason.first) && holds(reason.second)) return reason.why;
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

std::string page(std::string& missing_reasons) {
  std::string out =
      "# Instruction coverage\n\nWritten by `isa_coverage_page` from the tables in `ptxbench/isa`; "
      "do not edit.\n"
      "*executes*: the emulator gives the form its meaning. *parses*: the parser knows it, running "
      "it is a fault, for the reason given.\n"
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
             std::string(status_word(form.status));
      if (form.status == Status::Parses) {
        const std::string_view reason = reason_of(form);
        if (reason.empty()) missing_reasons += "\n" + std::string(form.syntax);
        out += ": " + std::string(reason);
      }
      out += " |\n";
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
  std::string missing_reasons;
  const std::string text = weft::isa::page(missing_reasons);
  if (!missing_reasons.empty()) {
    std::fprintf(stderr, "rows that only parse and have no reason (kReasons):%s\n",
                 missing_reasons.c_str());
    return 1;
  }
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
