// SPDX-License-Identifier: Apache-2.0

// Recorded answers as a chat endpoint: whole runs without a model, the same every time. It keeps no
// state: which conversation a request belongs to, and how far it is, is read off the request's
// messages, so a run may be killed, resumed and repeated against it. Where several recordings fit a
// first question, its `seed` chooses; a run sends the replica's number.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/http/route.h"
#include "ptxbench/chat/recordings.h"

namespace weft::chat {

class ReplayModel {
 public:
  explicit ReplayModel(Recordings recordings);

  // GET /v1/models and POST /v1/chat/completions. They refer to this object.
  std::vector<http::Route> routes() const;

 private:
  const Reply* find(const Json& request) const;
  http::Response answer(const http::Request& request) const;

  std::vector<Conversation> conversations_;
  std::map<std::string, std::vector<Reply>> exchanges_;
};

// An endpoint that passes questions on to another one and has every answer written down.
struct Recorder {
  std::string url;   // of the real endpoint's root
  std::string key;   // goes to it alone
  std::string file;  // JSONL, appended to
  double silence_seconds = 600;
};
std::vector<http::Route> recording_routes(const Recorder& recorder);

}  // namespace weft::chat
