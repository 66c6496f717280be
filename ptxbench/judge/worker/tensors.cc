// SPDX-License-Identifier: Apache-2.0

// Files are mapped rather than read: with the emulator, device memory is host memory already, and a
// third copy of a large tensor would be the largest part of the judge's footprint.
#include "ptxbench/judge/worker/tensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace weft::judge {
namespace {

class MappedFile {
 public:
  enum class Access : uint8_t { Read, Write };
  static Result<MappedFile> open(const std::string& path, uint64_t bytes, Access access) {
    MappedFile file;
    const bool write = access == Access::Write;
    const int descriptor = ::open(
        path.c_str(), write ? O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0644);
    if (descriptor < 0) return Error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    const bool sized = !write || ::ftruncate(descriptor, static_cast<off_t>(bytes)) == 0;
    file.bytes_ = bytes;
    file.data_ = sized ? ::mmap(nullptr, bytes, write ? PROT_READ | PROT_WRITE : PROT_READ,
                                MAP_SHARED, descriptor, 0)
                       : MAP_FAILED;
    const int failure = errno;
    ::close(descriptor);
    if (file.data_ == MAP_FAILED)
      return Error(fmt::format("cannot map {}: {}", path, std::strerror(failure)));
    return file;
  }
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, MAP_FAILED)), bytes_(other.bytes_) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (data_ != MAP_FAILED) ::munmap(data_, bytes_);
  }
  void* data() const { return data_; }

 private:
  MappedFile() = default;
  void* data_ = MAP_FAILED;
  uint64_t bytes_ = 0;
};

}  // namespace

Result<DeviceTensors> DeviceTensors::allocate(const Runtime& runtime, const Orders& orders) {
  DeviceTensors all;
  all.runtime_ = &runtime;
  for (const TensorOrder& order : orders.tensors) {
    void* start = nullptr;
    TRY(runtime.check(runtime.allocate(&start, order.bytes + 2 * orders.guard_bytes),
                      "cudaMalloc"));
    auto* bytes = static_cast<std::byte*>(start);
    all.tensors_.push_back({bytes, bytes + orders.guard_bytes, order.bytes});
  }
  return all;
}

Result<Done> DeviceTensors::prepare(const Orders& orders, const CallOrder& call) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    if (orders.guard_bytes > 0) {
      TRY(runtime_->check(runtime_->fill(tensor.start, call.guard, orders.guard_bytes),
                          "cudaMemset"));
      TRY(runtime_->check(
          runtime_->fill(tensor.data + tensor.bytes, call.guard, orders.guard_bytes),
          "cudaMemset"));
    }
    if (orders.tensors[i].output) {
      TRY(runtime_->check(runtime_->fill(tensor.data, call.poison, tensor.bytes), "cudaMemset"));
      continue;
    }
    const MappedFile file =
        TRY(MappedFile::open(orders.input_file(i), tensor.bytes, MappedFile::Access::Read));
    TRY(runtime_->check(
        runtime_->copy(tensor.data, file.data(), tensor.bytes, Runtime::kHostToDevice),
        "cudaMemcpy"));
  }
  return runtime_->check(runtime_->synchronize(), "cudaDeviceSynchronize");
}

Result<Done> DeviceTensors::collect(const Orders& orders, const CallOrder& call,
                                    WorkerReport& report) const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    const MappedFile file =
        TRY(MappedFile::open(orders.output_file(i), tensor.bytes, MappedFile::Access::Write));
    TRY(runtime_->check(
        runtime_->copy(file.data(), tensor.data, tensor.bytes, Runtime::kDeviceToHost),
        "cudaMemcpy"));
    TRY(check_guard(orders, call, i, false, report));
    TRY(check_guard(orders, call, i, true, report));
  }
  return Done{};
}

Result<Done> DeviceTensors::spoil(const Orders& orders, uint8_t byte) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    TRY(runtime_->check(
        runtime_->fill(tensors_[i].start, byte, tensors_[i].bytes + 2 * orders.guard_bytes),
        "cudaMemset"));
  }
  return Done{};
}

Result<Done> DeviceTensors::check_guard(const Orders& orders, const CallOrder& call, size_t tensor,
                                        bool behind, WorkerReport& report) const {
  const uint64_t size = orders.guard_bytes;
  if (size == 0) return Done{};
  std::vector<unsigned char> guard(size);
  const std::byte* from =
      behind ? tensors_[tensor].data + tensors_[tensor].bytes : tensors_[tensor].start;
  TRY(runtime_->check(runtime_->copy(guard.data(), from, size, Runtime::kDeviceToHost),
                      "cudaMemcpy"));
  for (uint64_t distance = 0; distance < size; ++distance) {
    if (guard[behind ? distance : size - 1 - distance] == call.guard) continue;
    report.damage.push_back({orders.tensors[tensor].name, behind, distance});
    break;
  }
  return Done{};
}

}  // namespace weft::judge
