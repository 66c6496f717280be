// SPDX-License-Identifier: Apache-2.0

// The checks follow the list in the CUDA Driver API manual under cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col, in its order.
#include "ptxbench/cudart/tensor_map.h"

#include <fmt/format.h>

namespace weft::cudart {
namespace {

using emulator::TensorElement;
using emulator::TensorFill;
using emulator::TensorInterleave;
using emulator::TensorMap;
using emulator::TensorSwizzle;

bool is_packed16(TensorElement element) {
  return element == TensorElement::U4x16Align16 || element == TensorElement::U6x16Align16;
}

bool is_packed(TensorElement element) {
  return is_packed16(element) || element == TensorElement::U4x16Align8;
}

bool is_float(TensorElement element) {
  return element >= TensorElement::F16 && element <= TensorElement::Tf32Ftz;
}

bool in_range(int value, int last) {
  return value >= 0 && value <= last;
}

// Bytes of `count` elements along dimension 0 as shared memory holds them: the 16-byte aligned
// packed types leave gaps there.
uint64_t inner_bytes(TensorElement element, uint64_t count) {
  if (is_packed16(element)) return count;
  return count * emulator::element_bits(element) / 8;
}

Status invalid(std::string& why, std::string text) {
  why = std::move(text);
  return Status::InvalidValue;
}

// Everything but the box.
Status encode_base(TensorMap& map, const TensorMap* target, const TensorMapRequest& r,
                   int compute_major, std::string& why) {
  if (target == nullptr || reinterpret_cast<uintptr_t>(target) % 64 != 0)
    return invalid(why, "tensorMap must be aligned to 64 bytes");
  if (compute_major < 9) {
    why = "tensor maps need compute capability 9.0";
    return Status::NotSupported;
  }
  if (!in_range(r.element, 15))
    return invalid(why, fmt::format("tensorDataType is no CUtensorMapDataType: {}", r.element));
  if (!in_range(r.interleave, 2))
    return invalid(why, fmt::format("interleave is no CUtensorMapInterleave: {}", r.interleave));
  if (!in_range(r.swizzle, 6))
    return invalid(why, fmt::format("swizzle is no CUtensorMapSwizzle: {}", r.swizzle));
  if (!in_range(r.promotion, 3))
    return invalid(why, fmt::format("l2Promotion is no CUtensorMapL2promotion: {}", r.promotion));
  if (!in_range(r.fill, 1))
    return invalid(why, fmt::format("oobFill is no CUtensorMapFloatOOBfill: {}", r.fill));
  map.element = static_cast<TensorElement>(r.element);
  map.interleave = static_cast<TensorInterleave>(r.interleave);
  map.swizzle = static_cast<TensorSwizzle>(r.swizzle);
  map.promotion = static_cast<emulator::TensorPromotion>(r.promotion);
  map.fill = static_cast<TensorFill>(r.fill);
  if (compute_major < 10 && (is_packed(map.element) || map.swizzle > TensorSwizzle::Bytes128))
    return invalid(why, "packed types and swizzle atoms need compute capability 10.0");

  const bool wide = map.interleave == TensorInterleave::Bytes32 || is_packed16(map.element);
  const bool interleaved = map.interleave != TensorInterleave::None;
  if (r.rank < 1 || r.rank > 5 || (interleaved && r.rank < 3))
    return invalid(why,
                   fmt::format("tensorRank must be 1 to 5, with interleave 3 to 5: {}", r.rank));
  map.rank = static_cast<uint8_t>(r.rank);

  const auto address = reinterpret_cast<uint64_t>(r.address);
  const uint32_t alignment = wide ? 32 : 16;
  if (address == 0 || address % alignment != 0)
    return invalid(
        why, fmt::format("globalAddress must be aligned to {} bytes: {:#x}", alignment, address));
  map.global_address = address;

  if (r.extents == nullptr || r.element_strides == nullptr || (r.strides == nullptr && r.rank > 1))
    return invalid(why, "globalDim, globalStrides and elementStrides must not be null");
  for (uint32_t i = 0; i < r.rank; ++i) {
    const uint64_t extent = r.extents[i];
    if (extent == 0 || extent > (uint64_t{1} << 32))
      return invalid(why, fmt::format("globalDim[{}] must be 1 to 2^32: {}", i, extent));
    map.last_index[i] = static_cast<uint32_t>(extent - 1);
  }
  if (is_packed16(map.element) && r.extents[0] % 128 != 0)
    return invalid(
        why, fmt::format("globalDim[0] must be a multiple of 128 for this type: {}", r.extents[0]));
  if (map.element == TensorElement::U4x16Align8 && r.extents[0] % 2 != 0)
    return invalid(why, fmt::format("globalDim[0] must be even for this type: {}", r.extents[0]));

  for (uint32_t i = 0; i + 1 < r.rank; ++i) {
    const uint64_t stride = r.strides[i];
    if (stride % alignment != 0 || stride >= (uint64_t{1} << 40))
      return invalid(why, fmt::format("globalStrides[{}] must be a multiple of {} below 2^40: {}",
                                      i, alignment, stride));
    map.strides[i] = stride;
  }
  for (uint32_t i = 0; i < r.rank; ++i) {
    const uint32_t step = r.element_strides[i];
    // Dimension 0 is dense without interleave, whatever is written there.
    if (i == 0 && !interleaved) {
      map.element_strides[0] = 1;
      continue;
    }
    if (step == 0 || step > 8)
      return invalid(why, fmt::format("elementStrides[{}] must be 1 to 8: {}", i, step));
    map.element_strides[i] = static_cast<uint8_t>(step);
  }
  if (map.interleave == TensorInterleave::Bytes32 && map.swizzle != TensorSwizzle::Bytes32)
    return invalid(why, "interleave 32B needs swizzle 32B");
  if (map.element == TensorElement::U6x16Align16 && interleaved)
    return invalid(why, "16U6_ALIGN16B allows no interleave");
  if (map.fill == TensorFill::Nan && !is_float(map.element))
    return invalid(why, "oobFill NaN needs a floating-point tensorDataType");
  return Status::Success;
}

// What both modes ask of the innermost extent of the box in shared memory.
Status check_inner(const TensorMap& map, uint64_t elements, const char* name, std::string& why) {
  if (map.interleave != TensorInterleave::None) return Status::Success;
  const uint64_t bytes = inner_bytes(map.element, elements);
  if (bytes % 16 != 0)
    return invalid(why, fmt::format("{} must span a multiple of 16 bytes: {}", name, bytes));
  const uint32_t span = emulator::swizzle_bytes(map.swizzle);
  if (span != 0 && bytes > span)
    return invalid(why,
                   fmt::format("{} must fit the swizzle span of {} bytes: {}", name, span, bytes));
  return Status::Success;
}

}  // namespace

Status encode_tiled(TensorMap* target, const TensorMapRequest& request, const uint32_t* box,
                    int compute_major, std::string& why) {
  TensorMap map;
  EXPECT_SUCCESS(encode_base(map, target, request, compute_major, why));
  if (box == nullptr) return invalid(why, "boxDim must not be null");
  for (uint32_t i = 0; i < request.rank; ++i) {
    if (box[i] == 0 || box[i] > 256)
      return invalid(why, fmt::format("boxDim[{}] must be 1 to 256: {}", i, box[i]));
    map.box[i] = static_cast<uint16_t>(box[i]);
  }
  if (is_packed16(map.element) && box[0] != 128)
    return invalid(why, fmt::format("boxDim[0] must be 128 for this type: {}", box[0]));
  EXPECT_SUCCESS(check_inner(map, box[0], "boxDim[0]", why));
  emulator::seal(map);
  *target = map;
  return Status::Success;
}

Status encode_im2col(TensorMap* target, const TensorMapRequest& request, const int* lower,
                     const int* upper, uint32_t channels, uint32_t pixels, int compute_major,
                     std::string& why) {
  TensorMap map;
  map.mode = emulator::TensorMode::Im2col;
  EXPECT_SUCCESS(encode_base(map, target, request, compute_major, why));
  if (request.rank < 3)
    return invalid(why, fmt::format("tensorRank must be 3 to 5 for im2col: {}", request.rank));
  if (lower == nullptr || upper == nullptr)
    return invalid(why, "pixel box corners must not be null");
  // The corners have 16, 8 or 5 bits for one, two or three spatial dimensions.
  const uint32_t spatial = request.rank - 2;
  const int limit = spatial == 1 ? 32768 : spatial == 2 ? 128 : 16;
  for (uint32_t i = 0; i < spatial; ++i) {
    for (const int corner : {lower[i], upper[i]})
      if (corner < -limit || corner >= limit)
        return invalid(why, fmt::format("pixel box corner {} must lie in [{}, {}): {}", i, -limit,
                                        limit, corner));
    map.lower_corner[i] = static_cast<int16_t>(lower[i]);
    map.upper_corner[i] = static_cast<int16_t>(upper[i]);
  }
  if (channels == 0 || channels > 256)
    return invalid(why, fmt::format("channelsPerPixel must be 1 to 256: {}", channels));
  if (pixels == 0 || pixels > 1024)
    return invalid(why, fmt::format("pixelsPerColumn must be 1 to 1024: {}", pixels));
  map.channels_per_pixel = static_cast<uint16_t>(channels);
  map.pixels_per_column = static_cast<uint16_t>(pixels);
  EXPECT_SUCCESS(check_inner(map, channels, "channelsPerPixel", why));
  emulator::seal(map);
  *target = map;
  return Status::Success;
}

Status replace_address(TensorMap* map, void* address, std::string& why) {
  if (map == nullptr || reinterpret_cast<uintptr_t>(map) % 64 != 0 || !emulator::is_sealed(*map))
    return invalid(why, "tensorMap is no encoded tensor map");
  const bool wide = map->interleave == TensorInterleave::Bytes32 || is_packed16(map->element);
  if (address == nullptr || reinterpret_cast<uintptr_t>(address) % (wide ? 32 : 16) != 0)
    return invalid(why, "globalAddress is not aligned");
  map->global_address = reinterpret_cast<uint64_t>(address);
  emulator::seal(*map);
  return Status::Success;
}

}  // namespace weft::cudart
