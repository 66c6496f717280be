// SPDX-License-Identifier: Apache-2.0

// Driver contexts. All of them share the one device and its memory; what is kept apart is which is
// current in which thread, because programs ask.
#pragma once

#include "ptxbench/cudart/status.h"

namespace weft::cudart {

// cuInit, or the first call of the runtime.
void start();
bool started();
// The runtime makes the primary context current in every thread that uses it.
void adopt_primary_context();
bool has_context();

Status create_context(void** context, unsigned flags, int device);
Status destroy_context(void* context);
Status push_context(void* context);
Status pop_context(void** context);
Status set_context(void* context);
Status get_context(void** context);
Status get_context_id(void* context, unsigned long long* id);
Status get_context_flags(unsigned* flags);
Status set_context_flags(unsigned flags);
bool is_context(const void* context);

Status retain_primary(void** context, int device);
Status release_primary(int device);
Status get_primary_state(int device, unsigned* flags, int* active);
Status set_primary_flags(int device, unsigned flags);

}  // namespace weft::cudart
