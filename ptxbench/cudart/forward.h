// SPDX-License-Identifier: Apache-2.0

// How exports.def becomes code: a name that means the same as another jumps there, whatever its
// parameters are, and a name that is not served says so.
#pragma once

#if defined(__x86_64__)
#define WEFT_JUMP "jmp"
#elif defined(__aarch64__)
#define WEFT_JUMP "b"
#else
#error "say how to jump on this processor"
#endif

#define FORWARD(name, target)              \
  asm(".text\n"                            \
      ".globl " #name                      \
      "\n"                                 \
      ".type " #name ", %function\n" #name \
      ":\n"                                \
      "\t" WEFT_JUMP " " #target WEFT_PLT  \
      "\n"                                 \
      ".size " #name ", .-" #name "\n");

#if defined(__x86_64__)
#define WEFT_PLT "@PLT"
#else
#define WEFT_PLT ""
#endif
