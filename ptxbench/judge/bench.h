// SPDX-License-Identifier: Apache-2.0

// The asking side of a bench (bench_orders.h): a process of its own, sandboxed, that holds a kernel
// on a GPU. What it answers is read as text of an untrusted writer; when it answers is taken by our
// own clock.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/judge/bench_orders.h"
#include "ptxbench/judge/orders.h"

namespace weft::judge {

struct BenchSettings {
  std::string program;                // the worker or the library's process
  std::vector<std::string> launcher;  // a program with its options that starts it; may be empty
  std::string folder;                 // scratch of this process alone; is made
  Orders orders;                      // candidate, tensors and launches
  BenchOrders bench;                  // contents, sets, axes; the pipes are filled in
  std::vector<std::string> readable;  // files and folders that it must see
  std::string library_path;           // where it finds the CUDA libraries
  unsigned device = 0;
  double seconds = 120;  // of its whole life
};

struct Answer {
  Json json;
  double seconds = 0;  // from the request until the answer, by our clock
};

class Bench {
 public:
  // Returns at once; the first ask() waits until the process is ready.
  static Result<std::unique_ptr<Bench>> start(BenchSettings settings);
  virtual ~Bench() = default;

  // Waits for what the process says of itself.
  virtual Result<Json> introduction() = 0;
  // An error when the process is gone, is silent for too long, or says that it failed.
  virtual Result<Answer> ask(const Json& request) = 0;
  // Prepares the calls, then runs them back to back: the seconds are those of the calls alone.
  virtual Result<Answer> batch(const Json& calls) = 0;
  // Ends the process and returns what it printed.
  virtual std::string finish() = 0;

  virtual const std::string& outputs() const = 0;  // folder of dumps
};

// Members of an answer, whatever the writer put there: a member that is missing or of another type
// is nothing.
std::string text_in(const Json& json, const char* name);
double number_in(const Json& json, const char* name);
std::vector<double> numbers_in(const Json& json, const char* name);

}  // namespace weft::judge
