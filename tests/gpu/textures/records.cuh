// SPDX-License-Identifier: Apache-2.0

// What texture_lookups does with its suites: files of results, their comparison and their digests.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/gpu/textures/suites.cuh"

namespace textures {

inline int record(const char* path) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return 2;
  cudaDeviceProp properties{};
  expect(cudaGetDeviceProperties(&properties, 0), "the device");
  std::fprintf(file, "%s\n", properties.name);
  size_t count = 0, refused = 0;
  for (const Suite& suite : all_suites()) {
    std::vector<uint4> results;
    try {
      results = suite.run();
      ++count;
    } catch (const std::exception& error) {
      std::printf("refused %-32s %s\n", suite.name.c_str(), error.what());
      cudaGetLastError();
      ++refused;
    }
    std::fprintf(file, "%s %zu %.17g\n", suite.name.c_str(), results.size(), suite.bound);
    std::fwrite(results.data(), sizeof(uint4), results.size(), file);
    std::fputc('\n', file);
  }
  std::fclose(file);
  std::printf("%s: %zu suites, %zu refused\n", properties.name, count, refused);
  return 0;
}

struct Recorded {
  double bound = 0;
  std::vector<uint32_t> words;
};

inline bool read(const char* path, std::map<std::string, Recorded>& all) {
  std::FILE* file = std::fopen(path, "rb");
  char line[256], name[128];
  if (file == nullptr || std::fgets(line, sizeof line, file) == nullptr) return false;
  std::printf("%s: %s", path, line);
  size_t count = 0;
  double bound = 0;
  while (std::fgets(line, sizeof line, file) &&
         std::sscanf(line, "%127s %zu %lf", name, &count, &bound) == 3) {
    Recorded& recorded = all[name];
    recorded.bound = bound;
    recorded.words.resize(count * 4);
    if (std::fread(recorded.words.data(), 4, count * 4, file) != count * 4) return false;
    std::fgetc(file);
  }
  std::fclose(file);
  return true;
}

inline int compare(const char* gpu_path, const char* our_path) {
  std::map<std::string, Recorded> gpu, ours;
  if (!read(gpu_path, gpu) || !read(our_path, ours)) return 2;
  int failures = 0;
  for (const auto& [name, right] : gpu) {
    if (right.words.empty()) continue;  // the device refused it
    const auto& mine = ours[name].words;
    if (mine.size() != right.words.size()) {
      std::printf("FAIL %-32s %zu words instead of %zu\n", name.c_str(), mine.size(),
                  right.words.size());
      ++failures;
      continue;
    }
    size_t different = 0, first = 0;
    double worst = 0, largest = 0;
    for (size_t i = 0; i < mine.size(); ++i) {
      float a, b;
      std::memcpy(&a, &right.words[i], 4);
      std::memcpy(&b, &mine[i], 4);
      if (std::isfinite(a)) largest = std::fmax(largest, std::fabs(a));
      if (right.words[i] == mine[i]) continue;
      if (different++ == 0) first = i;
      const double difference = std::fabs(static_cast<double>(a) - b);
      worst = std::isfinite(difference) ? std::fmax(worst, difference) : INFINITY;
    }
    const double share = largest > 0 ? worst / largest : worst;
    const double bound = ours[name].bound;
    const bool good = different == 0 || share <= bound;
    failures += !good;
    std::printf("%s %-32s %zu of %zu words differ",
                different == 0 ? "ok  "
                : good         ? "near"
                               : "FAIL",
                name.c_str(), different, mine.size());
    if (different != 0)
      std::printf(
          ", by %.3g of the largest at most; place %zu channel %zu: device %#x emulator %#x", share,
          first / 4, first % 4, right.words[first], mine[first]);
    std::printf("\n");
  }
  std::printf("%d suites differ\n", failures);
  return failures == 0 ? 0 : 1;
}

inline std::string digest_of(const uint32_t* words, size_t count) {  // FNV-1a by words
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < count; ++i) h = (h ^ words[i]) * 0x100000001b3ull;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
  return text;
}

inline int digest(const char* path) {
  std::map<std::string, Recorded> all;
  if (!read(path, all)) return 2;
  for (const auto& [name, recorded] : all)
    if (!recorded.words.empty())
      std::printf("%s %s\n", digest_of(recorded.words.data(), recorded.words.size()).c_str(),
                  name.c_str());
  return 0;
}

// Suites without a line in the file are left alone: those where single bits are known to differ.
inline int check(const char* path) {
  std::map<std::string, std::string> wanted;
  std::FILE* file = std::fopen(path, "r");
  char line[256], digest[32], name[128];
  if (file == nullptr) return 2;
  while (std::fgets(line, sizeof line, file))
    if (line[0] != '#' && std::sscanf(line, "%31s %127s", digest, name) == 2) wanted[name] = digest;
  std::fclose(file);
  size_t equal = 0, different = 0;
  for (const Suite& suite : all_suites()) {
    const auto found = wanted.find(suite.name);
    if (found == wanted.end()) continue;
    const auto results = suite.run();
    const bool agrees = digest_of(reinterpret_cast<const uint32_t*>(results.data()),
                                  results.size() * 4) == found->second;
    ++(agrees ? equal : different);
    if (!agrees) std::printf("FAIL %s\n", suite.name.c_str());
    wanted.erase(found);
  }
  for (const auto& [lost, unused] : wanted)
    std::printf("FAIL %s is recorded, but no suite\n", lost.c_str());
  std::printf("%zu suites equal, %zu differ\n", equal, different);
  return different == 0 && wanted.empty() && equal != 0 ? 0 : 1;
}

}  // namespace textures
