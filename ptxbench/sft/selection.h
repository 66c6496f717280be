// SPDX-License-Identifier: Apache-2.0

// Which rows are worth learning from: not twice the same, not what the model will be examined on,
// and not one definition or class of error more than the others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ptxbench/sft/pair.h"

namespace weft::sft {

// Hashes of every `kShingle` tokens in a row, sorted, each once. Comments and spaces do not count.
using Shingles = std::vector<uint64_t>;
constexpr size_t kShingle = 5;

Shingles shingles(std::string_view source);
// Of a repair: what only one of the two kernels has. Two faults in one kernel are two lessons,
// though their kernels differ in a token.
Shingles change_shingles(std::string_view wrong, std::string_view fixed);

double jaccard(const Shingles& a, const Shingles& b);  // 1 for two empty ones

// Finds the earlier row that a row repeats; exact, by an index from shingle to rows.
class NearDuplicates {
 public:
  explicit NearDuplicates(double threshold) : threshold_(threshold) {}
  // The number that an earlier add() got, when its similarity reaches the threshold; then nothing
  // is added.
  std::optional<size_t> add(const Shingles& row);

 private:
  double threshold_;
  std::vector<size_t> sizes_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> rows_of_;
};

// What must not be learnt: read from {"plans": [path...], "definitions": [...],
// "workloads": [uuid...], "axes": [{...}], "kernels": [path...]}, all optional; paths are relative
// to the file. A plan of an evaluation holds out all of its definitions.
struct HeldOut {
  std::vector<std::string> definitions, workloads;
  std::vector<std::map<std::string, int64_t>> axes;
  std::vector<std::pair<std::string, Shingles>> kernels;  // path, text
};
Result<HeldOut> read_held_out(const std::string& path);

// Why the row must not be learnt; empty when it may.
std::string contamination(const HeldOut& held_out, const Pair& pair, double threshold);

enum class Keep : uint8_t { All, Best, Latest };  // of pairs with the same wrong kernel

struct PairFilter {
  std::string status;                     // of the wrong kernel; empty: any
  std::string family;                     // "H": the fixed kernel is audited for it; empty: any
  std::optional<double> minimum_speedup;  // of the fixed kernel; one without a measurement fails
  Keep keep = Keep::All;
};

struct Selected {
  std::vector<Pair> pairs;
  std::vector<std::pair<std::string, std::string>> dropped;  // id, reason
};
// `pairs` in the order in which they were made.
Selected select(std::vector<Pair> pairs, const PairFilter& filter);

}  // namespace weft::sft
