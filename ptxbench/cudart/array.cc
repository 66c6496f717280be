// SPDX-License-Identifier: Apache-2.0

// Arrays live in device memory that the program never sees the address of.
#include "ptxbench/cudart/array.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/process.h"

namespace weft::cudart {
namespace {}  // namespace

Status check_format(const abi::ChannelFormat& format, size_t& element_bytes) {
  const int bits[4] = {format.x, format.y, format.z, format.w};
  int channels = 0;
  while (channels < 4 && bits[channels] != 0) ++channels;
  if (channels == 0 || channels == 3 || format.kind < 0 || format.kind > abi::kFloat)
    return Status::InvalidChannelDescriptor;
  for (int i = 0; i < channels; ++i)
    if (bits[i] != bits[0]) return Status::InvalidChannelDescriptor;
  for (int i = channels; i < 4; ++i)
    if (bits[i] != 0) return Status::InvalidChannelDescriptor;
  if (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) return Status::InvalidChannelDescriptor;
  if (format.kind == abi::kFloat && bits[0] == 8) return Status::InvalidChannelDescriptor;
  element_bytes = static_cast<size_t>(channels * bits[0] / 8);
  return Status::Success;
}

namespace {

Status make_array(std::unique_ptr<Array>& array, const abi::ChannelFormat& format,
                  abi::Extent extent, unsigned flags) {
  array = std::make_unique<Array>();
  EXPECT_SUCCESS(check_format(format, array->element_bytes));
  if (extent.width == 0) return Status::InvalidValue;
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  if ((flags & Array::kCubemap) &&
      (extent.width != extent.height || extent.depth == 0 || extent.depth % 6 != 0))
    return Status::InvalidValue;
  if (extent.width > (size_t{1} << 31)) return Status::InvalidValue;
  array->pitch = (extent.width * array->element_bytes + 63) / 64 * 64;
  if (array->rows() > (size_t{1} << 31) || array->slices() > (size_t{1} << 31))
    return Status::InvalidValue;
  const uint64_t address =
      machine().memory().allocate(array->pitch * array->rows() * array->slices());
  if (address == 0) return Status::MemoryAllocation;
  array->data = reinterpret_cast<std::byte*>(address);
  return Status::Success;
}

}  // namespace

Array::~Array() {
  if (owns && data != nullptr) (void)machine().memory().free(reinterpret_cast<uint64_t>(data));
}

Status create_array(abi::Array** array, const abi::ChannelFormat* format, abi::Extent extent,
                    unsigned flags) {
  if (array == nullptr || format == nullptr) return Status::InvalidValue;
  std::unique_ptr<Array> made;
  EXPECT_SUCCESS(make_array(made, *format, extent, flags));
  *array = reinterpret_cast<abi::Array*>(made.release());
  return Status::Success;
}

Status destroy_array(abi::Array* array) {
  if (array == nullptr) return Status::Success;
  Array* found = Array::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  delete found;
  return Status::Success;
}

Status get_array_info(abi::ChannelFormat* format, abi::Extent* extent, unsigned* flags,
                      abi::Array* array) {
  const Array* found = Array::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (format != nullptr) *format = found->format;
  if (extent != nullptr) *extent = found->extent;
  if (flags != nullptr) *flags = found->flags;
  return Status::Success;
}

Status get_element_bytes(abi::Array* array, size_t* bytes) {
  const Array* found = Array::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  *bytes = found->element_bytes;
  return Status::Success;
}

namespace {

// Calls `piece(array bytes, offset in the linear memory, length)` for each row touched.
template <typename Piece>
Status walk_rows(abi::Array* array, size_t x, size_t y, size_t size, Piece piece) {
  const Array* found = Array::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  const size_t row = found->extent.width * found->element_bytes;
  if (x >= row || y >= found->rows() || size > (found->rows() - y) * row - x)
    return Status::InvalidValue;
  for (size_t done = 0; done < size; x = 0, ++y) {
    const size_t length = std::min(row - x, size - done);
    piece(found->data + y * found->pitch + x, done, length);
    done += length;
  }
  return Status::Success;
}

}  // namespace

Status copy_linear_to_array(abi::Array* target, size_t x, size_t y, const void* source, size_t size,
                            int kind) {
  if (kind != abi::kHostToDevice && !is_device_range(source, size) && kind != abi::kDefaultKind)
    return Status::InvalidValue;
  return walk_rows(target, x, y, size, [&](std::byte* row, size_t done, size_t length) {
    std::memcpy(row, static_cast<const std::byte*>(source) + done, length);
  });
}

Status copy_linear_from_array(void* target, abi::Array* source, size_t x, size_t y, size_t size,
                              int kind) {
  if (kind != abi::kDeviceToHost && !is_device_range(target, size) && kind != abi::kDefaultKind)
    return Status::InvalidValue;
  return walk_rows(source, x, y, size, [&](std::byte* row, size_t done, size_t length) {
    std::memcpy(static_cast<std::byte*>(target) + done, row, length);
  });
}

Status create_mipmapped_array(abi::MipmappedArray** array, const abi::ChannelFormat* format,
                              abi::Extent extent, unsigned levels, unsigned flags) {
  if (array == nullptr || format == nullptr || levels == 0) return Status::InvalidValue;
  // More levels than halvings of the longest side are not made; a layer's count is no side.
  const bool layers = flags & (Array::kLayered | Array::kCubemap);
  const size_t longest = std::max({extent.width, extent.height, layers ? 0 : extent.depth});
  levels = std::min(levels, static_cast<unsigned>(std::bit_width(longest)));
  auto mipmap = std::make_unique<Mipmap>();
  const auto half = [](size_t size) { return size == 0 ? 0 : std::max<size_t>(size / 2, 1); };
  for (unsigned level = 0; level < levels; ++level) {
    std::unique_ptr<Array> made;
    EXPECT_SUCCESS(make_array(made, *format, extent, flags));
    mipmap->levels.push_back(std::move(made));
    extent.width = half(extent.width);
    extent.height = half(extent.height);
    if (!(flags & (Array::kLayered | Array::kCubemap))) extent.depth = half(extent.depth);
  }
  *array = reinterpret_cast<abi::MipmappedArray*>(mipmap.release());
  return Status::Success;
}

Status destroy_mipmapped_array(abi::MipmappedArray* array) {
  if (array == nullptr) return Status::Success;
  Mipmap* found = Mipmap::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  delete found;
  return Status::Success;
}

Status get_mipmap_level(abi::Array** level, abi::MipmappedArray* array, unsigned number) {
  const Mipmap* found = Mipmap::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (level == nullptr || number >= found->levels.size()) return Status::InvalidValue;
  *level = reinterpret_cast<abi::Array*>(found->levels[number].get());
  return Status::Success;
}

namespace {
// CUarray_format: its number, bits a channel, kind.
struct DriverFormat {
  int number, bits, kind;
};
constexpr DriverFormat kDriverFormats[] = {
    {0x01, 8, abi::kUnsigned}, {0x02, 16, abi::kUnsigned}, {0x03, 32, abi::kUnsigned},
    {0x08, 8, abi::kSigned},   {0x09, 16, abi::kSigned},   {0x0a, 32, abi::kSigned},
    {0x10, 16, abi::kFloat},   {0x20, 32, abi::kFloat},
};
}  // namespace

bool to_channel_format(int driver_format, unsigned channels, abi::ChannelFormat& format) {
  if (channels != 1 && channels != 2 && channels != 4) return false;
  for (const DriverFormat& known : kDriverFormats) {
    if (known.number != driver_format) continue;
    const int bits = known.bits;
    format = {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0,
              known.kind};
    return true;
  }
  return false;
}

bool to_driver_format(const abi::ChannelFormat& format, int& driver_format, unsigned& channels) {
  channels = format.w ? 4 : format.y ? 2 : 1;
  for (const DriverFormat& known : kDriverFormats) {
    if (known.bits != format.x || known.kind != format.kind) continue;
    driver_format = known.number;
    return true;
  }
  return false;
}

}  // namespace weft::cudart
