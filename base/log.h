// SPDX-License-Identifier: Apache-2.0

// Messages for whoever runs the program, apart from its results. Libraries only hand them over;
// where they go is the program's choice, made once at its start. Without a choice they go nowhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

enum class LogLevel : uint8_t { Debug, Info, Warning, Error };

// Safe to call from several workers at once; a message arrives whole.
void log(LogLevel level, std::string_view message);

using LogSink = void (*)(LogLevel level, std::string_view message);
// nullptr drops all messages.
void set_log_sink(LogSink sink);

// The usual choice: "warning: text" on the standard error, from `least` upwards.
void log_to_standard_error(LogLevel least);

}  // namespace weft
