// SPDX-License-Identifier: Apache-2.0

// Runs a command so that it sees the system but cannot change it: no network, everything read-only
// but the folders it is given, an empty /tmp and home, its own process numbers. Uses weft-jail
// (base/jail), or bubblewrap where that is missing or does not work; the other way round for
// commands that need a device. Where neither works (namespaces are forbidden, as in some
// containers) the command runs under the plain limits, and the result says so and why.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"

namespace weft {

struct Sandbox {
  std::vector<std::string> writable;  // folders that the command may change
  std::vector<std::string> readable;  // files and folders to show although they would be hidden
  std::vector<std::string> hidden;    // more folders that appear empty
  std::vector<std::string> devices;   // under /dev, beside null, random and the like
  enum class View {
    System,    // all files but temporary and private ones
    Programs,  // the system's programs and libraries only; no configuration, nothing in /usr/local
  };
  View view = View::System;
};

// What a program needs of /dev to use NVIDIA's GPUs.
std::vector<std::string> gpu_devices();

struct SandboxSupport {
  bool available = false;
  std::string jailer;  // program that sets sandboxes up
  std::string kind;    // "bubblewrap" or "namespaces"
  std::string reason;  // why not, one sentence; empty when available
};

// Tried once, by running a command in a sandbox.
const SandboxSupport& sandbox_support(bool with_devices = false);

struct SandboxedOutcome {
  ProcessOutcome outcome;
  bool sandboxed = false;
  std::string reason;  // why not
};

// Paths are absolute. The command's working directory must be visible inside.
Result<SandboxedOutcome> run_sandboxed(const Command& command, const Sandbox& sandbox);

}  // namespace weft
