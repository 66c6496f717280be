// SPDX-License-Identifier: Apache-2.0

// A line-by-line pass: it sees only lines that are an include directive and nothing else, which is
// what includes look like outside of adversarial text; anything else meets the compiler in the
// sandbox.
#include "ptxbench/judge/source_bundle.h"

#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text_file.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

constexpr size_t kDeepest = 32;
constexpr size_t kLargest = size_t{4} << 20;  // bytes of the bundled text

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The name in `#include "name"`; empty for every other line.
std::string_view quoted_include(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('#')) return {};
  line = trimmed(line.substr(1));
  if (!line.starts_with("include")) return {};
  line = trimmed(line.substr(7));
  if (!line.starts_with('"')) return {};
  const size_t end = line.find('"', 1);
  return end == line.npos ? std::string_view() : line.substr(1, end - 1);
}

bool is_pragma_once(std::string_view line) {
  line = trimmed(line);
  return line.starts_with('#') && trimmed(line.substr(1)).starts_with("pragma") &&
         line.find("once") != line.npos;
}

class Bundler {
 public:
  explicit Bundler(fs::path root) : root_(std::move(root)) {}

  Result<Done> add(const fs::path& file, const fs::path& shown) {
    const std::string text = TRY(read_file(file.string()));
    if (open_.size() >= kDeepest) {
      return Error(fmt::format("includes nested too deeply: {}", shown.string()),
                   "a file may not include itself");
    }
    open_.push_back(file);
    if (open_.size() > 1) out_ += fmt::format("#line 1 \"{}\"\n", shown.string());
    uint32_t number = 0;
    for (size_t start = 0; start < text.size();) {
      const size_t end = std::min(text.find('\n', start), text.size());
      const std::string_view line = std::string_view(text).substr(start, end - start);
      start = end + 1;
      ++number;
      TRY(add_line(file, shown, line, number));
    }
    open_.pop_back();
    return Done{};
  }
  std::string take() { return std::move(out_); }

 private:
  Result<Done> add_line(const fs::path& file, const fs::path& shown, std::string_view line,
                        uint32_t number) {
    if (is_pragma_once(line) && open_.size() > 1) {
      once_.insert(file);
      out_ += '\n';
      return Done{};
    }
    const std::string_view name = quoted_include(line);
    const fs::path target =
        name.empty() ? fs::path() : (file.parent_path() / name).lexically_normal();
    std::error_code ignored;
    if (name.empty() || (!fs::path(name).is_absolute() && !fs::is_regular_file(target, ignored))) {
      out_ += line;
      out_ += '\n';
    } else {
      TRY(check_inside(name, target, shown, line, number));
      if (!once_.contains(target))
        TRY(add(target, (shown.parent_path() / name).lexically_normal()));
      out_ += fmt::format("#line {} \"{}\"\n", number + 1, shown.string());
    }
    if (out_.size() > kLargest) {
      return Error(fmt::format("candidate larger than {} MiB with its includes: {}", kLargest >> 20,
                               shown.string()));
    }
    return Done{};
  }

  Result<Done> check_inside(std::string_view name, const fs::path& target, const fs::path& shown,
                            std::string_view line, uint32_t number) const {
    std::error_code ignored;
    const fs::path inside = fs::weakly_canonical(target, ignored).lexically_relative(root_);
    if (!fs::path(name).is_absolute() && !inside.empty() && *inside.begin() != "..") return Done{};
    Diagnostic diagnostic;
    diagnostic.message = fmt::format("include leads out of the candidate's folders: \"{}\"", name);
    diagnostic.hint = "name the folder that may be included from with --source-root";
    diagnostic.file = shown.string();
    diagnostic.position = {number, 1};
    diagnostic.source_line = line;
    return Error(std::move(diagnostic));
  }

  fs::path root_;
  std::vector<fs::path> open_;
  std::set<fs::path> once_;
  std::string out_;
};

}  // namespace

Result<std::string> bundle_source(const std::string& path, const std::string& root) {
  std::error_code failure;
  const fs::path file = fs::weakly_canonical(path, failure);
  fs::path allowed =
      root.empty() ? file.parent_path().parent_path() : fs::weakly_canonical(root, failure);
  if (failure)
    return Error(fmt::format("cannot find the candidate: {}: {}", path, failure.message()));
  Bundler bundler(std::move(allowed));
  TRY(bundler.add(file, fs::path(path).lexically_normal()));
  return bundler.take();
}

}  // namespace weft::judge
