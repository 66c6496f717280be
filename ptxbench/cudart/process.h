// SPDX-License-Identifier: Apache-2.0

// What the whole program shares: the emulated device with its options from the environment, the
// fault that ended its context, the last error of each host thread, and the output of its kernels.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptxbench/cudart/status.h"
#include "ptxbench/emulator/machine.h"

namespace weft::cudart {

// Builds the device on first use. Success, or why no API call can work: a wrong WEFT_EMULATE_
// variable (printed once to stderr), or the fault of an earlier kernel, which stays until the
// process ends.
Status ready();

// From here on only after ready() has returned Success once.
emulator::Machine& machine();
const emulator::DeviceModel& model();

// Prints a message for the user of the program to stderr, prefixed with our name.
void complain(std::string_view message);
// The same, once for each text.
void complain_once(std::string_view message);

// Prints the fault, writes the report and makes every later call fail.
void break_context(const emulator::Fault& fault);
// The error code that CUDA gives a fault of this kind.
Status status_of(emulator::FaultKind kind);

// cudaDeviceReset: forgets the fault.
void reset_context();

// Hands the kernels' collected output to stdout. Kernel output is held back until a call that
// synchronises, as on a GPU.
void flush_output();

// The error that cudaGetLastError answers, of the calling thread.
int last_error();
void set_last_error(int code);

// Records a failure as the thread's last error and returns its number.
int remember(Status status);

// The answer of a function that this library has but does not serve.
int refuse(const char* function);

}  // namespace weft::cudart
