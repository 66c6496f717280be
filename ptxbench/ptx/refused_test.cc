// SPDX-License-Identifier: Apache-2.0

// Walks tests/ptx/refused: each file states in its header the diagnostics that refuse it, exactly.
//   //! error 9:3: unknown instruction: foo
//   //! hint no opcode of PTX has this name
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "ptxbench/ptx/parse.h"

namespace weft::ptx {
namespace {

TEST(Refused, EachProgramEndsInItsDiagnostics) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/ptx/refused")) {
    if (entry.path().extension() != ".ptx") continue;
    ++files;
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path());
    std::string text, expected;
    for (std::string line; std::getline(file, line);) {
      text += line + "\n";
      if (line.starts_with("//! ")) expected += line.substr(4) + "\n";
    }
    const auto parsed = parse(text, entry.path().filename().string());
    EXPECT_FALSE(parsed.ok());
    if (parsed.ok()) continue;
    std::string actual;
    for (const Diagnostic& diagnostic : parsed.error().diagnostics) {
      actual += "error " + std::to_string(diagnostic.position.line) + ":" +
                std::to_string(diagnostic.position.column) + ": " + diagnostic.message + "\n";
      if (!diagnostic.hint.empty()) actual += "hint " + diagnostic.hint + "\n";
    }
    EXPECT_EQ(actual, expected);
  }
  EXPECT_GE(files, 15);
}

}  // namespace
}  // namespace weft::ptx
