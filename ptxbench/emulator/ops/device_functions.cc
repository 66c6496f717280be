// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/ops/device_functions.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/memory/access.h"

namespace weft::emulator {

namespace {

// A string in device memory, at most `limit` bytes; false after a fault.
bool read_string(DeviceCall& call, uint64_t address, std::string& text, size_t limit = 4096) {
  while (text.size() < limit) {
    const std::byte* p = access(call.warp, call.op, call.lane, isa::Space::Generic,
                                address + text.size(), 1, 1, AccessKind::Read);
    if (p == nullptr) return false;
    const char c = static_cast<char>(*p);
    if (c == '\0') break;
    text += c;
  }
  return true;
}

template <typename T>
bool read_argument(DeviceCall& call, uint64_t address, T& value) {
  const std::byte* p = access(call.warp, call.op, call.lane, isa::Space::Generic, address,
                              sizeof(T), 1, AccessKind::Read);
  if (p != nullptr) std::memcpy(&value, p, sizeof value);
  return p != nullptr;
}

// int vprintf(const char* format, const void* arguments): arguments lie one after the other at
// their natural alignment, floats widened to double (CUDA C++ Programming Guide, "Formatted
// Output").
Outcome run_vprintf(DeviceCall& call) {
  std::string format;
  if (!read_string(call, call.arguments[0], format)) return Outcome::Fault;
  uint64_t next = call.arguments[1];
  auto align = [&](uint64_t to) { next = (next + to - 1) / to * to; };
  std::string out;
  for (size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      out += format[i++];
      continue;
    }
    size_t end = i + 1;
    std::string spec = "%";
    bool eight = false;
    while (end < format.size() && std::strchr("diouxXeEfFgGaAcspn%", format[end]) == nullptr) {
      const char c = format[end++];
      if (c == '*') {
        int32_t width = 0;
        align(4);
        if (!read_argument(call, next, width)) return Outcome::Fault;
        next += 4;
        spec += std::to_string(width);
        continue;
      }
      if (c == 'l' || c == 'j' || c == 'z' || c == 't') eight = true;
      if (c == 'l' || c == 'h' || c == 'j' || c == 'z' || c == 't' || c == 'L') continue;
      spec += c;
    }
    if (end >= format.size()) {
      out += format.substr(i);
      break;
    }
    const char kind = format[end];
    i = end + 1;
    char buffer[512];
    if (kind == '%') {
      out += '%';
      continue;
    }
    if (std::strchr("eEfFgGaA", kind) != nullptr) {
      double value = 0;
      align(8);
      if (!read_argument(call, next, value)) return Outcome::Fault;
      next += 8;
      spec += kind;
      std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
      out += buffer;
    } else if (kind == 's') {
      uint64_t value = 0;
      align(8);
      if (!read_argument(call, next, value)) return Outcome::Fault;
      next += 8;
      std::string text;
      if (value == 0) {
        text = "(null)";
      } else if (!read_string(call, value, text)) {
        return Outcome::Fault;
      }
      spec += 's';
      const int length = std::snprintf(buffer, sizeof buffer, spec.c_str(), text.c_str());
      out += length < static_cast<int>(sizeof buffer) ? std::string(buffer) : text;
    } else if (kind == 'p' || eight) {
      uint64_t value = 0;
      align(8);
      if (!read_argument(call, next, value)) return Outcome::Fault;
      next += 8;
      if (kind == 'p') {
        spec += 'p';
        std::snprintf(buffer, sizeof buffer, spec.c_str(), reinterpret_cast<void*>(value));
      } else {
        spec += "ll";
        spec += kind;
        std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
      }
      out += buffer;
    } else {
      uint32_t value = 0;
      align(4);
      if (!read_argument(call, next, value)) return Outcome::Fault;
      next += 4;
      spec += kind;
      std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
      out += buffer;
    }
  }
  call.warp.block->grid->print(out);
  *call.result = out.size();
  return Outcome::Next;
}

// void __assertfail(message, file, line, function, char size)
Outcome run_assertfail(DeviceCall& call) {
  std::string message, file, function;
  if (!read_string(call, call.arguments[0], message)) return Outcome::Fault;
  if (!read_string(call, call.arguments[1], file)) return Outcome::Fault;
  if (!read_string(call, call.arguments[3], function)) return Outcome::Fault;
  uint32_t x = 0, y = 0, z = 0;
  call.warp.thread_index(call.lane, x, y, z);
  const Extent& block = call.warp.block->index;
  call.warp.block->grid->print(
      fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n", file,
                  static_cast<uint32_t>(call.arguments[2]), function, block.x, block.y, block.z, x,
                  y, z, message));
  return call.warp.fault(call.op, call.lane, FaultKind::Assertion,
                         fmt::format("assertion `{}` failed at {}:{} in {}", message, file,
                                     static_cast<uint32_t>(call.arguments[2]), function));
}

Outcome run_malloc(DeviceCall& call) {
  *call.result = call.warp.block->grid->memory->allocate(call.arguments[0],
                                                         Allocation::Kind::Device, "device heap");
  return Outcome::Next;
}

Outcome run_free(DeviceCall& call) {
  const uint64_t address = call.arguments[0];
  if (address != 0 && !call.warp.block->grid->memory->free(address))
    return call.warp.fault(
        call.op, call.lane, FaultKind::OutOfBounds,
        fmt::format("free of {:#x}, which the device heap did not give", address), address);
  return Outcome::Next;
}

constexpr DeviceFunction kFunctions[] = {
    {"vprintf", run_vprintf},
    {"__assertfail", run_assertfail},
    {"malloc", run_malloc},
    {"free", run_free},
};

}  // namespace

const DeviceFunction* find_device_function(std::string_view name) {
  for (const DeviceFunction& f : kFunctions)
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace weft::emulator
