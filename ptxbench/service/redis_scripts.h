// SPDX-License-Identifier: Apache-2.0

// The steps of the Redis queue. Redis runs a script as one step, so that no other server sees half
// of it. Keys: 1 the task (a hash), 2 the stream of waiting tasks, 3 the counts by state (a hash).
#pragma once

namespace weft::service::redis_scripts {

// id kind definition solution request now limit -> "fresh", "known" or "full"
extern const char* const kSubmit;
// token now entry taken_over deaths_limit channel -> {request, attempts, created}; nothing when the
// entry is no longer to be judged. `taken_over` is 1 when another worker had the entry and let its
// lease run out.
extern const char* const kStart;
// token worker -> 1 when the claim is still this one
extern const char* const kRenew;
// token state result error now channel -> 1 when written
extern const char* const kEnd;
// token how deaths_limit now channel id; an empty `how` is no death
extern const char* const kRelease;
// now channel -> the state afterwards, or nothing
extern const char* const kCancel;

}  // namespace weft::service::redis_scripts
