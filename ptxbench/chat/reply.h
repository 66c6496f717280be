// SPDX-License-Identifier: Apache-2.0

// What a model answered, and how its answer ended: a limit that cut the code, a limit that was
// spent on reasoning, and a conversation that no longer fits are three things, and call for three
// reactions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::chat {

enum class Ending : uint8_t {
  Complete,
  Cut,              // the token limit came inside the answer
  OnlyReasoning,    // the token limit came before the answer began
  ContextOverflow,  // the conversation is longer than the model can read
  Filtered,         // the endpoint withheld it
};

// "complete", "cut", "only_reasoning", "context_overflow", "filtered"
std::string_view ending_name(Ending ending);

// Stands for an answer without text when the conversation goes on: endpoints refuse empty messages.
constexpr std::string_view kNoText = "[no answer]";

struct Usage {
  int64_t prompt = 0, completion = 0;  // tokens; completion counts reasoning too
  int64_t reasoning = 0;
  bool estimated = false;  // the endpoint reported none: four bytes a token
};

struct Reply {
  Ending ending = Ending::Complete;
  std::string content, reasoning;
  Usage usage;
};

}  // namespace weft::chat
