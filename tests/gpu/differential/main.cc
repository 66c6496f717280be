// SPDX-License-Identifier: Apache-2.0

// differential record FILE        runs every case on the device at hand and writes what it stored
// differential compare GPU OURS   compares two such files, case by case
// differential digest FILE        prints one line per exact case: a digest of the results
// differential check DIGESTS      runs every exact case on the device at hand and compares with
// digests
//                                 that were recorded on another (for CI)

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/gpu/differential/driver.h"
#include "tests/gpu/differential/program.h"

namespace weft::differential {
namespace {

struct Recorded {
  std::string device;
  std::map<std::string, std::vector<uint64_t>> results;  // by case; empty: the device refused it
};

int record(const char* path) {
  auto driver = Driver::create();
  if (!driver.ok()) {
    std::fprintf(stderr, "%s\n", format(driver.error()).c_str());
    return 3;
  }
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) {
    std::fprintf(stderr, "cannot write %s\n", path);
    return 2;
  }
  std::fprintf(file, "weft differential\n%s, driver %d\n", driver->device().c_str(),
               driver->driver_version());
  size_t ran = 0, refused = 0;
  for (const Case& c : all_cases()) {
    std::vector<std::vector<uint64_t>> operands;
    for (size_t k = 0; k < c.operands.size(); ++k) operands.push_back(operand_cells(c, k));
    auto result = driver->run(program_of(c, "sm_90a"), operands);
    if (!result.ok()) {
      std::printf("refused %-44s %s\n", c.name.c_str(), result.error().message().c_str());
      ++refused;
    }
    const std::vector<uint64_t> cells = result.ok() ? *result : std::vector<uint64_t>{};
    std::fprintf(file, "%s\n%zu\n", c.name.c_str(), cells.size());
    std::fwrite(cells.data(), sizeof(uint64_t), cells.size(), file);
    std::fputc('\n', file);
    if (result.ok()) ++ran;
  }
  std::fclose(file);
  std::printf("%s: %zu cases ran, %zu refused\n", driver->device().c_str(), ran, refused);
  return 0;
}

bool read_line(std::FILE* file, std::string& line) {
  line.clear();
  int c;
  while ((c = std::fgetc(file)) != EOF && c != '\n') line += static_cast<char>(c);
  return c != EOF || !line.empty();
}

bool read(const char* path, Recorded& recorded) {
  std::FILE* file = std::fopen(path, "rb");
  std::string line;
  if (file == nullptr || !read_line(file, line) || line != "weft differential" ||
      !read_line(file, recorded.device)) {
    std::fprintf(stderr, "%s is no record of this suite\n", path);
    return false;
  }
  std::string name, count;
  while (read_line(file, name) && read_line(file, count)) {
    const size_t cells = std::strtoul(count.c_str(), nullptr, 10);
    if (cells > kThreads) break;
    std::vector<uint64_t> values(cells);
    if (std::fread(values.data(), sizeof(uint64_t), cells, file) != cells) break;
    std::fgetc(file);
    recorded.results[name] = std::move(values);
  }
  std::fclose(file);
  return true;
}

// A result as a number; packed halves by their worst half are compared as patterns, not here.
double number(Kind kind, uint64_t bits) {
  switch (kind) {
    case 'F':
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case 'D':
      return std::bit_cast<double>(bits);
    case 'B':
      return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    default: {  // f16
      const uint32_t magnitude = bits & 0x7fff;
      double v = magnitude >= 0x7c00   ? (magnitude == 0x7c00 ? INFINITY : NAN)
                 : magnitude >= 0x0400 ? std::ldexp(1024 + (magnitude & 0x3ff),
                                                    static_cast<int>(magnitude >> 10) - 25)
                                       : std::ldexp(magnitude, -24);
      return (bits & 0x8000) != 0 ? -v : v;
    }
  }
}

int mantissa_bits(Kind kind) {
  return kind == 'F' ? 23 : kind == 'D' ? 52 : kind == 'B' ? 7 : 10;
}

// Distance in units of the last place of `right`.
double ulps(Kind kind, uint64_t right_bits, uint64_t ours_bits) {
  const double right = number(kind, right_bits), ours = number(kind, ours_bits);
  if (std::isnan(right) && std::isnan(ours)) return 0;
  if (right == ours) return 0;
  if (!std::isfinite(right) || !std::isfinite(ours)) return INFINITY;
  const int lowest = kind == 'D' ? -1022 : kind == 'H' ? -14 : -126;
  const int exponent = std::max(right == 0 ? lowest : std::ilogb(right), lowest);
  return std::fabs(right - ours) / std::ldexp(1.0, exponent - mantissa_bits(kind));
}

// The error itself; its share of results above 1.
double error_of(Kind kind, uint64_t right_bits, uint64_t ours_bits) {
  const double right = number(kind, right_bits), ours = number(kind, ours_bits);
  if ((std::isnan(right) && std::isnan(ours)) || right == ours) return 0;
  if (!std::isfinite(right) || !std::isfinite(ours)) return INFINITY;
  return std::fabs(right - ours) / std::max(1.0, std::fabs(right));
}

int compare(const char* gpu_path, const char* ours_path) {
  Recorded gpu, ours;
  if (!read(gpu_path, gpu) || !read(ours_path, ours)) return 2;
  std::printf("reference: %s\nchecked:   %s\n", gpu.device.c_str(), ours.device.c_str());
  struct Tally {
    size_t cases = 0, equal = 0, refused = 0;
  };
  std::map<std::string, Tally> families;
  size_t failures = 0;
  for (const Case& c : all_cases()) {
    const auto& right = gpu.results[c.name];
    const auto& mine = ours.results[c.name];
    Tally& tally = families[c.family];
    ++tally.cases;
    if (right.empty()) {
      ++tally.refused;
      continue;
    }
    if (mine.empty()) {
      std::printf("FAIL %-44s the emulator refuses what the device runs\n", c.name.c_str());
      ++failures;
      continue;
    }
    size_t different = 0, first = 0;
    double worst = 0;
    for (uint32_t i = 0; i < kThreads; ++i) {
      if (right[i] == mine[i]) continue;
      if (c.judge == Judge::Approximate) worst = std::max(worst, ulps(c.result, right[i], mine[i]));
      if (c.judge == Judge::Absolute)
        worst = std::max(worst, error_of(c.result, right[i], mine[i]));
      if (different++ == 0) first = i;
    }
    if (c.judge != Judge::Exact) {
      // The manual's bound holds against the true value for both, so they differ by at most twice
      // that.
      const bool near = worst <= 2 * c.bound;
      std::printf("%s %-44s %zu of %u differ, by %.3g%s at most; the manual grants %.3g\n",
                  near ? "near" : "FAIL", c.name.c_str(), different, kThreads, worst,
                  c.judge == Judge::Approximate ? " ulp" : "", c.bound);
      ++(near ? tally.equal : failures);
      continue;
    }
    if (different == 0) {
      ++tally.equal;
      continue;
    }
    ++failures;
    std::printf("FAIL %-44s %zu of %u differ; thread %zu:", c.name.c_str(), different, kThreads,
                first);
    for (size_t k = 0; k < c.operands.size(); ++k)
      std::printf(" %c=%#llx", static_cast<char>('a' + k),
                  static_cast<unsigned long long>(operand_cells(c, k)[first]));
    std::printf(" device %#llx emulator %#llx\n", static_cast<unsigned long long>(right[first]),
                static_cast<unsigned long long>(mine[first]));
  }
  std::printf("\n%-14s %6s %6s %8s\n", "family", "cases", "equal", "refused");
  for (const auto& [family, tally] : families)
    std::printf("%-14s %6zu %6zu %8zu\n", family.c_str(), tally.cases, tally.equal, tally.refused);
  std::printf("%zu cases differ\n", failures);
  return failures == 0 ? 0 : 1;
}

std::string digest_of(const std::vector<uint64_t>& cells) {  // FNV-1a by cells
  uint64_t h = 0xcbf29ce484222325ull;
  for (uint64_t cell : cells) h = (h ^ cell) * 0x100000001b3ull;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
  return text;
}

int digest(const char* path) {
  Recorded recorded;
  if (!read(path, recorded)) return 2;
  std::printf("# %s\n", recorded.device.c_str());
  for (const Case& c : all_cases()) {
    const auto& cells = recorded.results[c.name];
    if (c.judge == Judge::Exact && !cells.empty())
      std::printf("%s %s\n", digest_of(cells).c_str(), c.name.c_str());
  }
  return 0;
}

// Lines "digest case" after one line about the device, which starts with #.
bool read_digests(const char* path, std::map<std::string, std::string>& digests) {
  std::FILE* file = std::fopen(path, "r");
  std::string line;
  if (file == nullptr || !read_line(file, line) || !line.starts_with("# ")) {
    std::fprintf(stderr, "%s holds no digests of this suite\n", path);
    return false;
  }
  std::printf("reference: %s\n", line.c_str() + 2);
  while (read_line(file, line))
    if (const size_t space = line.find(' '); space != std::string::npos)
      digests[line.substr(space + 1)] = line.substr(0, space);
  std::fclose(file);
  return true;
}

int check(const char* path) {
  std::map<std::string, std::string> digests;
  if (!read_digests(path, digests)) return 2;
  auto driver = Driver::create();
  if (!driver.ok()) {
    std::fprintf(stderr, "%s\n", format(driver.error()).c_str());
    return 3;
  }
  std::printf("checked:   %s, driver %d\n", driver->device().c_str(), driver->driver_version());
  size_t equal = 0, different = 0, unknown = 0;
  for (const Case& c : all_cases()) {
    if (c.judge != Judge::Exact) continue;
    const auto recorded = digests.find(c.name);
    if (recorded == digests.end()) {
      std::printf("     %-44s the reference has no record of it\n", c.name.c_str());
      ++unknown;
      continue;
    }
    std::vector<std::vector<uint64_t>> operands;
    for (size_t k = 0; k < c.operands.size(); ++k) operands.push_back(operand_cells(c, k));
    const auto result = driver->run(program_of(c, "sm_90a"), operands);
    const bool agrees = result.ok() && digest_of(*result) == recorded->second;
    ++(agrees ? equal : different);
    if (!agrees)
      std::printf("FAIL %-44s %s\n", c.name.c_str(),
                  result.ok() ? "some results differ" : result.error().message().c_str());
    digests.erase(recorded);
  }
  // A record that no case asks for is a case that someone lost.
  for (const auto& [name, digest] : digests)
    std::printf("FAIL %-44s is recorded, but no case\n", name.c_str());
  different += digests.size();
  std::printf("%zu cases equal, %zu differ, %zu without a record\n", equal, different, unknown);
  return different == 0 && equal != 0 ? 0 : 1;
}

}  // namespace
}  // namespace weft::differential

int main(int argc, char** argv) {
  using namespace weft::differential;
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "record" && argc == 3) return record(argv[2]);
  if (verb == "compare" && argc == 4) return compare(argv[2], argv[3]);
  if (verb == "digest" && argc == 3) return digest(argv[2]);
  if (verb == "check" && argc == 3) return check(argv[2]);
  std::fprintf(
      stderr,
      "usage: differential record FILE | compare DEVICE OURS | digest FILE | check DIGESTS\n");
  return 2;
}
