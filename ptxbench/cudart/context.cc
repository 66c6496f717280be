// SPDX-License-Identifier: Apache-2.0

// The stack of current contexts of each thread, and the primary context with its count.
#include "ptxbench/cudart/context.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "ptxbench/cudart/live.h"

namespace weft::cudart {
namespace {

std::atomic<uint64_t> next_id{1};

struct Context : Live<Context> {
  unsigned flags = 0;
  uint64_t id = next_id++;
};

std::atomic<bool> is_started{false};
std::atomic<int> primary_count{0};
thread_local std::vector<Context*> stack;

Context& primary() {
  static Context& context = *new Context;
  return context;
}

}  // namespace

void start() {
  is_started = true;
}
bool started() {
  return is_started;
}

void adopt_primary_context() {
  is_started = true;
  if (!stack.empty()) return;
  stack.push_back(&primary());
  int none = 0;
  primary_count.compare_exchange_strong(none, 1);
}

bool has_context() {
  while (!stack.empty() && Context::find(stack.back()) == nullptr) stack.pop_back();
  return !stack.empty();
}

bool is_context(const void* context) {
  return Context::find(context) != nullptr;
}

Status create_context(void** context, unsigned flags, int device) {
  if (context == nullptr) return Status::InvalidValue;
  if (device != 0) return Status::InvalidDevice;
  auto* made = new Context;
  made->flags = flags;
  stack.push_back(made);
  *context = made;
  return Status::Success;
}

Status destroy_context(void* context) {
  Context* found = Context::find(context);
  if (found == nullptr || found == &primary()) return Status::InvalidContext;
  if (!stack.empty() && stack.back() == found) stack.pop_back();
  delete found;
  return Status::Success;
}

Status push_context(void* context) {
  Context* found = Context::find(context);
  if (found == nullptr) return Status::InvalidContext;
  stack.push_back(found);
  return Status::Success;
}

Status pop_context(void** context) {
  if (!has_context()) return Status::InvalidContext;
  if (context != nullptr) *context = stack.back();
  stack.pop_back();
  return Status::Success;
}

Status set_context(void* context) {
  Context* found = Context::find(context);
  if (context != nullptr && found == nullptr) return Status::InvalidContext;
  if (!stack.empty()) stack.pop_back();
  if (found != nullptr) stack.push_back(found);
  return Status::Success;
}

Status get_context(void** context) {
  if (context == nullptr) return Status::InvalidValue;
  *context = has_context() ? stack.back() : nullptr;
  return Status::Success;
}

Status get_context_id(void* context, unsigned long long* id) {
  if (id == nullptr) return Status::InvalidValue;
  const Context* found = context != nullptr ? Context::find(context)
                         : has_context()    ? stack.back()
                                            : nullptr;
  if (found == nullptr) return Status::InvalidContext;
  *id = found->id;
  return Status::Success;
}

Status get_context_flags(unsigned* flags) {
  if (flags == nullptr) return Status::InvalidValue;
  if (!has_context()) return Status::InvalidContext;
  *flags = stack.back()->flags;
  return Status::Success;
}

Status set_context_flags(unsigned flags) {
  if (!has_context()) return Status::InvalidContext;
  stack.back()->flags = flags;
  return Status::Success;
}

Status retain_primary(void** context, int device) {
  if (context == nullptr) return Status::InvalidValue;
  if (device != 0) return Status::InvalidDevice;
  ++primary_count;
  *context = &primary();
  return Status::Success;
}

Status release_primary(int device) {
  if (device != 0) return Status::InvalidDevice;
  if (primary_count == 0) return Status::InvalidContext;
  --primary_count;
  return Status::Success;
}

Status get_primary_state(int device, unsigned* flags, int* active) {
  if (flags == nullptr || active == nullptr) return Status::InvalidValue;
  if (device != 0) return Status::InvalidDevice;
  *flags = primary().flags;
  *active = primary_count > 0;
  return Status::Success;
}

Status set_primary_flags(int device, unsigned flags) {
  if (device != 0) return Status::InvalidDevice;
  primary().flags = flags;
  return Status::Success;
}

}  // namespace weft::cudart
