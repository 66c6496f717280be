// SPDX-License-Identifier: Apache-2.0

// Which engines this processor runs, and the choice among them. It is made once: results of a
// program must not depend on which worker came first.

#include "ptxbench/emulator/tile/tile_engine.h"

#include <cstdlib>

#if defined(WEFT_WIDE_TILES)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ptxbench/emulator/tile/avx512.h"
#endif

namespace weft::emulator {

#if defined(WEFT_WIDE_TILES)

namespace {

// Tile registers are off in a process until it asks for them (arch_prctl, Linux 5.16).
bool may_use_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  const bool bf16 = (d >> 22) & 1, tiles = (d >> 24) & 1, int8 = (d >> 25) & 1;
  if (!(bf16 && tiles && int8)) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

const TileEngine* avx512_engine() {
  static constexpr TileEngine engine{"avx512", kWidePanel, kWidePanel, multiply_avx512,
                                     multiply_integers_avx512};
  static const bool here = __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return here ? &engine : nullptr;
}

const TileEngine* amx_engine() {
  static constexpr TileEngine engine{
      "amx", kWidePanel, 256, multiply_amx, multiply_integers_amx, multiply_bf16_amx};
  static const bool here = avx512_engine() != nullptr && may_use_tiles();
  return here ? &engine : nullptr;
}

#else

const TileEngine* avx512_engine() {
  return nullptr;
}
const TileEngine* amx_engine() {
  return nullptr;
}

#endif

std::vector<const TileEngine*> available_tile_engines() {
  std::vector<const TileEngine*> engines = {&portable_engine()};
  for (const TileEngine* engine : {avx2_engine(), avx512_engine(), amx_engine()})
    if (engine != nullptr) engines.push_back(engine);
  return engines;
}

const TileEngine& tile_engine() {
  static const TileEngine* const chosen = [] {
    const auto engines = available_tile_engines();
    if (const char* wanted = std::getenv("WEFT_TILE_ENGINE"))
      for (const TileEngine* engine : engines)
        if (engine->name == wanted) return engine;
    return engines.back();
  }();
  return *chosen;
}

}  // namespace weft::emulator
