// SPDX-License-Identifier: Apache-2.0

// The verbs below `ptxbench sft`, apart from the others: their header is read by every verb.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace weft::ptxbench {

void add_sft(CLI::App& app, int& exit_code);
// pairs, build and audit, below `sft`.
void add_sft_rows(CLI::App& app, int& exit_code);
// mine, repair and reason, below `sft`.
void add_sft_teacher(CLI::App& app, int& exit_code);

// Where tasks and prompts are, as options of a verb; the project's own where none is named.
struct Folders {
  std::string problems, prompts;

  void add_to(CLI::App& verb);
  void find();
};

}  // namespace weft::ptxbench
