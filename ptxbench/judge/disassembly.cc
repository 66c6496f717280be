// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/disassembly.h"

#include <charconv>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "base/sandbox.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

constexpr double kToolSeconds = 120;
constexpr uint64_t kKeptListing = uint64_t{256} << 20;

// `line` after `prefix`, or nothing.
std::string_view after(std::string_view line, std::string_view prefix) {
  const size_t at = line.find(prefix);
  return at == line.npos ? std::string_view() : line.substr(at + prefix.size());
}

// "/*0a80*/   @!P0 HGMMA.64x256x16.F32.BF16 R24, ..." -> offset and opcode.
bool read_instruction(std::string_view line, uint32_t& offset, std::string& opcode) {
  const size_t start = line.find_first_not_of(" \t");
  if (start == line.npos || line.compare(start, 2, "/*") != 0) return false;
  const size_t end = line.find("*/", start);
  if (end == line.npos) return false;
  const char* first = line.data() + start + 2;
  const char* last = line.data() + end;
  const auto parsed = std::from_chars(first, last, offset, 16);
  if (parsed.ec != std::errc() || parsed.ptr != last) return false;
  std::string_view rest = line.substr(end + 2);
  for (;;) {
    const size_t word = rest.find_first_not_of(" \t{");
    if (word == rest.npos) return false;
    rest.remove_prefix(word);
    const size_t length = std::min(rest.find_first_of(" \t;"), rest.size());
    if (rest[0] != '@') {
      opcode = rest.substr(0, length);
      return !opcode.empty() && opcode[0] != '/';
    }
    rest.remove_prefix(length);
  }
}

Result<ProcessOutcome> run_tool(std::vector<std::string> arguments, const std::string& folder,
                                const Toolchain& toolchain, const std::string& object) {
  Command command;
  command.arguments = std::move(arguments);
  command.working_directory = folder;
  command.kept_output_bytes = kKeptListing;
  command.limits.seconds = kToolSeconds;
  std::error_code ignored;
  const fs::path cuda = fs::weakly_canonical(toolchain.nvcc, ignored).parent_path().parent_path();
  const SandboxedOutcome ran =
      TRY(run_sandboxed(command, {.writable = {folder}, .readable = {cuda.string(), object}}));
  return ran.outcome;
}

}  // namespace

Disassembly parse_disassembly(std::string_view text) {
  Disassembly all;
  std::map<uint32_t, MachineInstruction>* function = nullptr;
  MachineInstruction place;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find(".section") != line.npos) {
      const std::string_view name = after(line, ".text.");
      function = name.empty() ? nullptr : &all[std::string(name.substr(0, name.find(',')))];
      place = {};
      continue;
    }
    if (const std::string_view file = after(line, "//## File \""); !file.empty()) {
      place.source_file = file.substr(0, file.find('"'));
      const std::string_view number = after(file, "line ");
      place.source_line = 0;
      std::from_chars(number.data(), number.data() + number.size(), place.source_line);
      continue;
    }
    uint32_t offset = 0;
    if (function != nullptr && read_instruction(line, offset, place.opcode))
      (*function)[offset] = place;
  }
  return all;
}

Result<Disassembly> disassemble(const std::string& object, const Toolchain& toolchain,
                                const std::string& folder) {
  const fs::path tools = fs::path(toolchain.nvcc).parent_path();
  const std::string extractor = (tools / "cuobjdump").string();
  const std::string disassembler = (tools / "nvdisasm").string();
  for (const std::string& tool : {extractor, disassembler}) {
    if (find_program(tool).empty())
      return Error("the toolkit's disassembler is missing: " + tool,
                   "install the CUDA toolkit's cuobjdump and nvdisasm");
  }
  std::error_code failure;
  fs::create_directories(folder, failure);
  std::vector<std::string> images;
  if (fs::path(object).extension() == ".cubin") {
    images.push_back(object);
  } else {
    const ProcessOutcome extracted =
        TRY(run_tool({extractor, "-xelf", "all", object}, folder, toolchain, object));
    if (!extracted.passed()) return Error("cuobjdump " + extracted.describe());
    for (const auto& entry : fs::directory_iterator(folder, failure))
      if (entry.path().extension() == ".cubin") images.push_back(entry.path().string());
  }
  Disassembly all;
  for (const std::string& image : images) {
    const ProcessOutcome shown =
        TRY(run_tool({disassembler, "-c", "-g", image}, folder, toolchain, image));
    if (!shown.passed()) return Error("nvdisasm " + shown.describe());
    all.merge(parse_disassembly(shown.output));
  }
  if (all.empty()) return Error("no machine code is in the candidate");
  return all;
}

}  // namespace weft::judge
