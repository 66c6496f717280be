// SPDX-License-Identifier: Apache-2.0

// The 128 bytes of a CUtensorMap as the emulator writes and reads them. Programs treat the object
// as opaque, so the layout is ours: cuTensorMapEncode* fills it, tensor copies
// (cp.async.bulk.tensor) and tensormap.replace read and change it. The check word tells a
// descriptor from garbage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::emulator {

// Numbered as CUtensorMapDataType.
enum class TensorElement : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  Bf16,
  F32Ftz,
  Tf32,
  Tf32Ftz,
  U4x16Align8,
  U4x16Align16,
  U6x16Align16,
};
// Numbered as CUtensorMapInterleave.
enum class TensorInterleave : uint8_t { None, Bytes16, Bytes32 };
// Numbered as CUtensorMapSwizzle. The Atom forms need compute capability 10.
enum class TensorSwizzle : uint8_t {
  None,
  Bytes32,
  Bytes64,
  Bytes128,
  Bytes128Atom32,
  Bytes128Atom32Flip8,
  Bytes128Atom64,
};
// Numbered as CUtensorMapL2promotion; no effect on results.
enum class TensorPromotion : uint8_t { None, Bytes64, Bytes128, Bytes256 };
// Numbered as CUtensorMapFloatOOBfill. Nan: elements outside read as a NaN that fma treats as zero.
enum class TensorFill : uint8_t { Zero, Nan };
enum class TensorMode : uint8_t { Tiled, Im2col };

struct alignas(64) TensorMap {
  uint32_t magic = 0;           // kTensorMapMagic
  uint32_t check = 0;           // tensor_map_check() of the rest
  uint64_t global_address = 0;  // device address of element (0, ..., 0)
  uint64_t strides[4] = {};  // bytes between neighbours along dimension i+1; dimension 0 is dense
  uint32_t last_index[5] = {};      // extent of dimension i minus one: extents reach 2^32
  uint16_t box[5] = {};             // tiled: elements the box spans along each dimension, 1-256
  uint8_t element_strides[5] = {};  // 1-8; a box loads ceil(box / stride) elements; [0] is ignored
                                    // without interleave
  uint8_t rank = 0;                 // 1-5
  TensorElement element = TensorElement::U8;
  TensorInterleave interleave = TensorInterleave::None;
  TensorSwizzle swizzle = TensorSwizzle::None;
  TensorPromotion promotion = TensorPromotion::None;
  TensorFill fill = TensorFill::Zero;
  TensorMode mode = TensorMode::Tiled;
  // im2col only: corners of the pixel box along the rank-2 spatial dimensions, innermost first.
  int16_t lower_corner[3] = {};
  int16_t upper_corner[3] = {};
  uint16_t channels_per_pixel = 0;  // 1-256
  uint16_t pixels_per_column = 0;   // 1-1024
  uint8_t reserved[22] = {};        // no padding, so that copies keep the check word true

  uint64_t extent(int dimension) const { return uint64_t{last_index[dimension]} + 1; }
};
static_assert(sizeof(TensorMap) == 128);

inline constexpr uint32_t kTensorMapMagic = 0x54544657;  // "WFTT" in memory order

// Bits of one element in global memory.
constexpr uint32_t element_bits(TensorElement element) {
  switch (element) {
    case TensorElement::U8:
      return 8;
    case TensorElement::U16:
    case TensorElement::F16:
    case TensorElement::Bf16:
      return 16;
    case TensorElement::U64:
    case TensorElement::S64:
    case TensorElement::F64:
      return 64;
    case TensorElement::U4x16Align8:
    case TensorElement::U4x16Align16:
      return 4;
    case TensorElement::U6x16Align16:
      return 6;
    default:
      return 32;
  }
}

// b4x16_p64 and b6x16_p32: sixteen elements lie side by side in global memory, and at the front of
// 16 bytes in shared memory.
constexpr bool is_padded(TensorElement element) {
  return element == TensorElement::U4x16Align16 || element == TensorElement::U6x16Align16;
}

// Bytes of the pattern that a swizzle repeats over one row of the box; 0 without swizzle.
constexpr uint32_t swizzle_bytes(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::None:
      return 0;
    case TensorSwizzle::Bytes32:
      return 32;
    case TensorSwizzle::Bytes64:
      return 64;
    default:
      return 128;
  }
}

// FNV-1a over everything behind the check word.
inline uint32_t tensor_map_check(const TensorMap& map) {
  unsigned char bytes[sizeof(TensorMap)];
  std::memcpy(bytes, &map, sizeof bytes);
  uint32_t hash = 2166136261u;
  for (size_t i = offsetof(TensorMap, global_address); i < sizeof bytes; ++i)
    hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

// To be called after every change, tensormap.replace included.
inline void seal(TensorMap& map) {
  map.magic = kTensorMapMagic;
  map.check = tensor_map_check(map);
}

// False for memory that no encode function (or tensormap.replace) wrote.
inline bool is_sealed(const TensorMap& map) {
  return map.magic == kTensorMapMagic && map.check == tensor_map_check(map) && map.rank >= 1 &&
         map.rank <= 5;
}

}  // namespace weft::emulator
