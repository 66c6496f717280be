// SPDX-License-Identifier: Apache-2.0

// Recorded answers, from any of the forms in which they are kept:
//   a folder of a run, or trajectory.json files: the assistant's messages
//   *.jsonl that `ptxbench record` wrote: a question and its answer a line
//   story.json beside a kernel: answers told as edits of that kernel (tests/agent/README.md)
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/chat/reply.h"

namespace weft::chat {

struct Conversation {
  std::string model;   // empty: any
  std::string name;    // of the definition, which the first question must mention; empty: any
  std::string origin;  // file
  std::vector<Reply> answers;
};

struct Exchange {
  std::string key;  // of the messages before the answer
  Reply answer;
};

struct Recordings {
  std::vector<Conversation> conversations;
  std::vector<Exchange> exchanges;
};

// `path` is a file, or a folder that is searched. An error names the file that cannot be read.
Result<Recordings> read_recordings(const std::string& path);

// What the same messages have in common, whatever else a request says. `messages` is the request's
// list.
std::string messages_key(const Json& messages);

// A line of JSONL for read_recordings.
std::string recorded_line(const Json& request, const Reply& answer);

}  // namespace weft::chat
