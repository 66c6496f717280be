// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/screen.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "base/text_file.h"
#include "ptxbench/judge/shared_object.h"

namespace weft::judge {
namespace {

constexpr size_t kLargestSource = size_t{2} << 20;  // bytes

struct Library {
  std::string_view prefix;  // of identifiers, lower case
  std::string_view name;
};
constexpr Library kLibraries[] = {{"cublas", "cuBLAS"},
                                  {"cudnn", "cuDNN"},
                                  {"cusparse", "cuSPARSE"},
                                  {"cusolver", "cuSOLVER"},
                                  {"cufft", "cuFFT"},
                                  {"cutensornet", "cuTensorNet"},
                                  {"cutensorcreate", "cuTENSOR"},
                                  {"cutensorcontract", "cuTENSOR"},
                                  {"thrust", "Thrust"},
                                  {"nvrtc", "NVRTC"}};

// What a candidate's object may be linked against.
constexpr std::string_view kAllowedObjects[] = {
    "libcudart.so",  "libcuda.so", "libstdc++.so", "libm.so",  "libgcc_s.so",  "libc.so",
    "libpthread.so", "libdl.so",   "librt.so",     "ld-linux", "libtvm_ffi.so"};

// Functions that bring other code into the process.
constexpr std::string_view kLoaders[] = {"dlopen", "dlmopen", "__libc_dlopen_mode"};

// Names that the judge's side of the process answers for: a candidate that defines one wants to be
// called in its place.
bool belongs_to_host(std::string_view symbol) {
  for (const std::string_view prefix : {"cuda", "cupti", "nvml", "nvtx", "TVMFFI", "weft_"})
    if (symbol.starts_with(prefix)) return true;
  return symbol.size() > 2 && symbol.starts_with("cu") &&
         std::isupper(static_cast<unsigned char>(symbol[2])) != 0;
}

std::string lower(std::string_view text) {
  std::string copy(text);
  std::transform(copy.begin(), copy.end(), copy.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return copy;
}

const Library* library_of(std::string_view identifier) {
  const std::string word = lower(identifier);
  for (const Library& library : kLibraries) {
    if (word.starts_with(library.prefix)) return &library;
  }
  return nullptr;
}

// Where a line of the candidate came from: bundled files announce themselves with #line.
struct Place {
  std::string file;
  uint32_t line = 0;
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

Error refused(const Place& place, std::string_view line, size_t column, std::string message,
              std::string hint) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  diagnostic.file = place.file;
  diagnostic.position = {place.line, static_cast<uint32_t>(column + 1)};
  diagnostic.source_line = line;
  return Error(std::move(diagnostic));
}

// `#line 12 "file"` says what the next line is.
bool follow_line_directive(std::string_view line, Place& place) {
  if (!line.starts_with("#line ")) return false;
  line.remove_prefix(6);
  uint32_t number = 0;
  const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (code != std::errc() || number == 0) return false;
  place.line = number - 1;
  const size_t open = line.find('"');
  const size_t close = line.rfind('"');
  if (open != line.npos && close > open) place.file = line.substr(open + 1, close - open - 1);
  return true;
}

Result<Done> screen_include(const Place& place, std::string_view line) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == line.npos || line[hash] != '#') return Done{};
  const size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == line.npos || !line.substr(word).starts_with("include")) return Done{};
  const size_t open = line.find_first_of("<\"", word);
  if (open == line.npos) {
    return refused(place, line, word, "include of a computed name",
                   "write the name in the directive");
  }
  const std::string_view name =
      line.substr(open + 1, line.find_first_of(">\"", open + 1) - open - 1);
  if (name.starts_with('/') || name.find("..") != name.npos) {
    return refused(place, line, open, fmt::format("include of a path that escapes: {}", name),
                   "include headers by their plain name");
  }
  for (size_t i = 0; i < name.size();) {
    const size_t end = std::min(name.find('/', i), name.size());
    if (const Library* library = library_of(name.substr(i, end - i))) {
      return refused(place, line, open,
                     fmt::format("library shortcut: {} ({})", library->name, name),
                     "a candidate does the arithmetic itself");
    }
    i = end + 1;
  }
  return Done{};
}

}  // namespace

std::string without_comments(std::string_view source) {
  std::string out(source);
  const auto blank = [&](size_t from, size_t to) {
    for (size_t i = from; i < std::min(to, out.size()); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  };
  for (size_t i = 0; i < source.size();) {
    const std::string_view rest = source.substr(i);
    if (rest.starts_with("//")) {
      size_t end = std::min(source.find('\n', i), source.size());
      while (end < source.size() && source[end - 1] == '\\')
        end = std::min(source.find('\n', end + 1), source.size());
      blank(i, end);
      i = end;
    } else if (rest.starts_with("/*")) {
      const size_t close = source.find("*/", i + 2);
      const size_t end = close == source.npos ? source.size() : close + 2;
      blank(i, end);
      i = end;
    } else if (rest.starts_with("R\"") && (i == 0 || !is_word(source[i - 1]))) {
      const size_t open = source.find('(', i);
      const std::string close =
          open == source.npos ? "" : fmt::format("){}\"", source.substr(i + 2, open - i - 2));
      const size_t end = open == source.npos ? source.npos : source.find(close, open);
      const size_t stop = end == source.npos ? source.size() : end + close.size();
      blank(i, stop);
      i = stop;
    } else if (rest[0] == '"' || (rest[0] == '\'' && (i == 0 || !is_word(source[i - 1])))) {
      size_t end = i + 1;
      while (end < source.size() && source[end] != rest[0] && source[end] != '\n')
        end += source[end] == '\\' ? 2 : 1;
      blank(i + 1, end);
      i = end + 1;
    } else {
      ++i;
    }
  }
  return out;
}

Result<Done> screen_source(const Candidate& candidate) {
  if (candidate.source.size() > kLargestSource) {
    return Error(fmt::format("candidate larger than {} MiB: {} bytes", kLargestSource >> 20,
                             candidate.source.size()),
                 "tables of constants belong into device code that computes them");
  }
  if (candidate.source.find('\0') != candidate.source.npos) {
    return Error(fmt::format("candidate is not text: {}", candidate.path), "a zero byte was found");
  }
  if (candidate.kind == Candidate::Kind::Ptx) return Done{};
  const std::string code = without_comments(candidate.source);
  Place place{candidate.path, 0};
  for (size_t start = 0; start < code.size();) {
    const size_t end = std::min(code.find('\n', start), code.size());
    const std::string_view line = std::string_view(code).substr(start, end - start);
    // Names in include directives are strings: they are read from the source itself.
    const std::string_view original = std::string_view(candidate.source).substr(start, end - start);
    start = end + 1;
    ++place.line;
    if (follow_line_directive(original, place)) continue;
    const size_t hash = line.find_first_not_of(" \t");
    if (hash != line.npos && line[hash] == '#') TRY(screen_include(place, original));
    for (size_t i = 0; i < line.size();) {
      if (!is_word(line[i])) {
        ++i;
        continue;
      }
      size_t stop = i;
      while (stop < line.size() && is_word(line[stop])) ++stop;
      if (const Library* library = library_of(line.substr(i, stop - i))) {
        return refused(
            place, original, i,
            fmt::format("library shortcut: {} ({})", library->name, line.substr(i, stop - i)),
            "a candidate does the arithmetic itself");
      }
      i = stop;
    }
    // Assembler text is a string, so this looks at the source: .incbin would read files at build
    // time.
    if (original.find(".incbin") != original.npos) {
      return refused(place, original, original.find(".incbin"),
                     "file inclusion by the assembler: .incbin", "");
    }
  }
  return Done{};
}

Result<Done> screen_object(const std::string& object) {
  const std::string bytes = TRY(read_file(object));
  const SharedObject parsed = TRY(read_shared_object(bytes));
  for (const std::string& needed : parsed.needed) {
    const auto allowed = [&](std::string_view start) { return needed.starts_with(start); };
    if (std::none_of(std::begin(kAllowedObjects), std::end(kAllowedObjects), allowed)) {
      return Error(
          fmt::format("built object needs a library that candidates may not use: {}", needed),
          "link against nothing but the CUDA runtime");
    }
  }
  for (const std::string& symbol : parsed.imports) {
    if (const Library* library = library_of(symbol)) {
      return Error(
          fmt::format("built object imports a library shortcut: {} ({})", library->name, symbol),
          "a candidate does the arithmetic itself");
    }
  }
  for (const std::string& symbol : parsed.imports) {
    if (std::find(std::begin(kLoaders), std::end(kLoaders), symbol) == std::end(kLoaders)) continue;
    return Error(fmt::format("built object loads code at run time: {}", symbol),
                 "everything that a candidate runs is part of its source");
  }
  for (const std::string& symbol : parsed.exports) {
    if (!belongs_to_host(symbol)) continue;
    return Error(fmt::format("built object exports a function of its host: {}", symbol),
                 "a candidate calls CUDA and TVM-FFI; it does not stand in for them");
  }
  for (const std::string_view name :
       {"libcublas", "libcudnn", "libcusparse", "libcusolver", "libcutensor"}) {
    if (bytes.find(name) != bytes.npos) {
      return Error(
          fmt::format("built object names a library that candidates may not use: {}", name),
          "loading it at run time is a shortcut too");
    }
  }
  if (std::find(parsed.exports.begin(), parsed.exports.end(), "__tvm_ffi_run") ==
      parsed.exports.end()) {
    return Error("built object does not export __tvm_ffi_run",
                 "end the source with TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);");
  }
  return Done{};
}

}  // namespace weft::judge
