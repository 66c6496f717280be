// SPDX-License-Identifier: Apache-2.0

#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>

namespace weft {
namespace {

std::atomic<LogSink> current_sink = nullptr;
std::atomic<LogLevel> least_level = LogLevel::Info;
std::mutex delivery;

const char* prefix(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "debug: ";
    case LogLevel::Info:
      return "";
    case LogLevel::Warning:
      return "warning: ";
    case LogLevel::Error:
      return "error: ";
  }
  return "";
}

void write_to_standard_error(LogLevel level, std::string_view message) {
  if (level < least_level.load()) return;
  const std::string line = prefix(level) + std::string(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

void log(LogLevel level, std::string_view message) {
  const LogSink sink = current_sink.load();
  if (sink == nullptr) return;
  const std::lock_guard<std::mutex> lock(delivery);
  sink(level, message);
}

void set_log_sink(LogSink sink) {
  current_sink.store(sink);
}

void log_to_standard_error(LogLevel least) {
  least_level.store(least);
  set_log_sink(write_to_standard_error);
}

}  // namespace weft
