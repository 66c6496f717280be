// SPDX-License-Identifier: Apache-2.0

// A task of the queue: one solution, some workloads, one kind of question, and what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::service {

enum class Kind : uint8_t { Evaluate, Sanitize, Profile, Debug };
enum class State : uint8_t { Pending, Running, Completed, Failed, Cancelled };

// As they are spelt on the wire and in the stores.
std::string_view name(Kind kind);
std::string_view name(State state);
std::optional<Kind> kind_named(std::string_view name);
std::optional<State> state_named(std::string_view name);

inline bool ended(State state) {
  return state != State::Pending && state != State::Running;
}

// What is handed in.
struct Submission {
  std::string
      id;  // 32 hexadecimal digits of a hash over the question: the same question, the same id
  Kind kind = Kind::Evaluate;
  std::string definition;
  std::string solution;  // its name with eight digits of its hash
  std::string request;   // all that a device worker needs, JSON on one line
};

// Seconds are of the Unix clock; 0 means "not yet".
struct TaskRecord {
  std::string id;
  Kind kind = Kind::Evaluate;
  State state = State::Pending;
  std::string definition, solution;
  unsigned attempts = 0;  // times that a device worker took it
  unsigned deaths = 0;    // times that the worker died over it
  double created = 0, started = 0, finished = 0;
  std::string result;   // of a completed task, JSON on one line
  std::string error;    // of a failed or cancelled one
  std::string history;  // how attempts without a result ended, one line each
};

// A task in the hands of one device worker.
struct Claim {
  std::string id;
  std::string token;    // proves that the claim is still this one
  std::string request;  // of the submission
  unsigned attempt = 0;
  double created = 0;
};

}  // namespace weft::service
