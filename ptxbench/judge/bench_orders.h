// SPDX-License-Identifier: Apache-2.0

// A bench: a process that holds a kernel (the candidate's, or a library's) on a GPU answers the
// judge's requests, one line of JSON each, over two named pipes. The judge decides what is called
// when and with which contents; nothing about it can be known beforehand.
//
//   {"ask": "count"}                        executed machine instructions of one call -> a file
//   {"ask": "profile"}                      one call between cudaProfilerStart and -Stop
//   {"ask": "time", "calls": [CALL...]}     each call alone, cold L2 -> nanoseconds of each
//   {"ask": "batch", "calls": [CALL...]}    prepares; then {"ask": "go"} runs them back to back
//   {"ask": "dump", "set": 0}               outputs of that set of buffers -> files
//   {"ask": "end"}
//
// CALL is {"set": s, "content": c, "rotations": [r...]}: content c (the inputs of that trial) goes
// into the buffers of set s, rotated by r along each of the bench's axes. An axis is one along
// which the task's function commutes with rotation (rows of a product, heads of an attention), so
// the outputs must come back rotated by the same amounts: every call can have inputs that were
// never seen before while its right answer is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::judge {

// Where a rotated axis lies in a tensor; -1: not in it.
using AxisPositions = std::vector<int>;

struct BenchOrders {
  std::string ask, answer;            // the pipes
  std::string outputs;                // folder for dumps and counts
  std::vector<std::string> contents;  // folders with input files
  unsigned sets = 0;                  // of buffers, used in turn
  std::vector<AxisPositions> axes;
  // For the library's process: what to compute.
  std::string family;
  bool causal = false;
};

struct BenchCall {
  unsigned set = 0, content = 0;
  std::vector<int64_t> rotations;
};

std::string to_text(const BenchOrders& orders);
Result<BenchOrders> read_bench_orders(std::string text, const std::string& file);

}  // namespace weft::judge
