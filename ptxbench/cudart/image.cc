// SPDX-License-Identifier: Apache-2.0

// Images are recognised by their first bytes. Bytes are fetched through the kernel, which answers
// for unmapped memory with an error where a plain load would end the program.
#include "ptxbench/cudart/image.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "ptxbench/fatbin/fat_binary.h"

namespace weft::cudart {
namespace {

// The wrapper in .nvFatBinSegment: version 1 points to one fat binary, version 2 also to a
// null-terminated list of fat binaries to be linked when the program starts.
struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const void* data;
  const void* const* linked;
};
constexpr uint32_t kWrapperMagic = 0x466243B1;
constexpr uint32_t kElfMagic = 0x464C457F;
constexpr size_t kMostText = size_t{256} << 20;

bool fetch(const void* from, void* to, size_t size) {
  const iovec local{to, size};
  const iovec remote{const_cast<void*>(from), size};
  const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (got < 0 && (errno == EPERM || errno == ENOSYS)) {  // forbidden in a sandbox
    std::memcpy(to, from, size);
    return true;
  }
  return got == static_cast<ssize_t>(size);
}

ImageText failure(Status status, Error why) {
  return {status, std::move(why), {}};
}

ImageText read_container(const void* address, int major, int minor) {
  std::vector<std::byte> bytes(fatbin::kFatBinaryHeader);
  if (!fetch(address, bytes.data(), bytes.size()))
    return failure(Status::InvalidKernelImage, Error("fat binary lies in unreadable memory"));
  const auto size = fatbin::fat_binary_size(bytes);
  if (!size.ok()) return failure(Status::InvalidKernelImage, size.error());
  // A claimed size beyond what is readable is found before anything is allocated for it.
  std::byte last;
  if (*size > kMostText * 16 ||
      !fetch(static_cast<const std::byte*>(address) + *size - 1, &last, 1))
    return failure(Status::InvalidKernelImage,
                   Error(fmt::format("fat binary is damaged: it claims {} bytes", *size)));
  bytes.resize(*size);
  if (!fetch(address, bytes.data(), bytes.size()))
    return failure(Status::InvalidKernelImage, Error("fat binary lies in unreadable memory"));

  const auto entries = fatbin::read_fat_binary(bytes);
  if (!entries.ok()) return failure(Status::InvalidKernelImage, entries.error());
  const auto choice = fatbin::choose_ptx(*entries, major, minor);
  if (!choice.ok()) return failure(Status::NoKernelImageForDevice, choice.error());
  auto text = fatbin::read_ptx(**choice);
  if (!text.ok()) return failure(Status::InvalidKernelImage, text.error());
  return {Status::Success, {}, {std::move(*text)}};
}

ImageText read_wrapper(const void* image, int major, int minor) {
  Wrapper wrapper;
  if (!fetch(image, &wrapper, sizeof wrapper))
    return failure(Status::InvalidKernelImage, Error("fat binary wrapper ends too early"));
  ImageText own = read_container(wrapper.data, major, minor);
  if (own.status == Status::Success || wrapper.version < 2 || wrapper.linked == nullptr) return own;
  // Compiled with -rdc=true for a virtual architecture: the units wait to be linked. Libraries
  // among them (libcudadevrt) may hold nothing for this device; what they lack shows as missing
  // symbols.
  ImageText all;
  ImageText first_failure;
  for (const void* const* unit = wrapper.linked;; ++unit) {
    const void* container = nullptr;
    if (!fetch(unit, &container, sizeof container) || container == nullptr) break;
    ImageText text = read_container(container, major, minor);
    if (text.status == Status::Success)
      all.units.push_back(std::move(text.units.front()));
    else if (first_failure.status == Status::Success)
      first_failure = std::move(text);
  }
  if (!all.units.empty()) return all;
  return first_failure.status != Status::Success ? first_failure : own;
}

ImageText read_text(const void* image) {
  std::string text;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const char* at = static_cast<const char*>(image);
  while (text.size() < kMostText) {
    const size_t step = page - reinterpret_cast<uintptr_t>(at) % page;
    const size_t old = text.size();
    text.resize(old + step);
    if (!fetch(at, text.data() + old, step))
      return failure(Status::InvalidKernelImage, Error("PTX text is not terminated by a NUL"));
    if (const size_t end = text.find('\0', old); end != std::string::npos) {
      text.resize(end);
      return {Status::Success, {}, {std::move(text)}};
    }
    at += step;
  }
  return failure(Status::InvalidKernelImage, Error("PTX text is not terminated by a NUL"));
}

}  // namespace

ImageText read_image(const void* image, int major, int minor) {
  uint32_t magic = 0;
  if (image == nullptr || !fetch(image, &magic, sizeof magic))
    return failure(Status::InvalidKernelImage, Error("device code lies in unreadable memory"));
  switch (magic) {
    case kWrapperMagic:
      return read_wrapper(image, major, minor);
    case fatbin::kFatBinaryMagic:
      return read_container(image, major, minor);
    case kElfMagic:
      return failure(Status::NoKernelImageForDevice,
                     Error("a cubin holds machine code only, no PTX",
                           fmt::format("the emulator runs PTX: hand over the output of nvcc -ptx "
                                       "-arch=compute_{}{}{}",
                                       major, minor, major >= 9 ? "a" : "")));
    default:
      return read_text(image);
  }
}

}  // namespace weft::cudart
