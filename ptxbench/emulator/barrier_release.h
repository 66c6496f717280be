// SPDX-License-Identifier: Apache-2.0

// What barriers must do when threads leave the kernel: exited threads count as arrived.
#pragma once

namespace weft::emulator {

struct Block;
void barriers_after_exit(Block& block);

}  // namespace weft::emulator
