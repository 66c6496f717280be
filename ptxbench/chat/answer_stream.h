// SPDX-License-Identifier: Apache-2.0

// Puts a reply together from the bytes of an answer to /chat/completions: server-sent events (HTML
// standard, section 9.2), or one JSON document from endpoints that do not stream. Which one it is,
// is read off the bytes: not every endpoint says it right in its headers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/chat/reply.h"

namespace weft::chat {

constexpr size_t kLongestAnswer = size_t{32} << 20;  // bytes

class AnswerStream {
 public:
  // False when no more is wanted: the answer is too long.
  bool add(std::string_view part);

  enum class Fault : uint8_t {
    None,
    Cut,     // it ended before the model did; asking again may help
    Server,  // an error that came inside the stream; asking again may help
    NotChat  // HTML or another JSON: this is no such endpoint
  };
  Fault fault() const { return fault_; }

  // The whole reply once all bytes are in. An error says what came instead; fault() is its kind.
  Result<Reply> finish();

 private:
  // False: an event that is no JSON.
  bool line(std::string_view line);
  bool event(const std::string& data);
  void take_choice(const Json& choice, const char* part);
  void take_usage(const Json& json);
  Error refuse(Fault fault, std::string message, std::string hint);

  std::string pending_;  // the line, or the document, that is not yet whole
  std::string first_;    // the first bytes, for the message
  enum class Form : uint8_t { Unknown, Events, Document } form_ = Form::Unknown;
  size_t bytes_ = 0;
  bool done_ = false;
  std::string finish_reason_, server_error_;
  std::optional<Usage> usage_;
  Reply reply_;
  Fault fault_ = Fault::None;
};

}  // namespace weft::chat
