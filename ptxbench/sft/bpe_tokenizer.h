// SPDX-License-Identifier: Apache-2.0

// Counts tokens as a model will: byte-level byte-pair encoding by the tokenizer.json that
// Hugging Face's libraries write. Texts are split first; understood are the splits of GPT-2
// (ByteLevel alone) and of its successors (a Split by a regular expression with "\p{N}", as in
// Llama 3 and Qwen). Characters beyond ASCII count as letters there: code has them in comments
// only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace weft::sft {

class BpeTokenizer {
 public:
  static Result<BpeTokenizer> read(const std::string& path);
  static Result<BpeTokenizer> from_text(std::string_view json);

  std::vector<uint32_t> encode(std::string_view text) const;

  // The pieces that are encoded on their own. Public for tests.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct Merge {
    uint32_t rank = 0, result = 0;
  };
  void encode_piece(std::string_view piece, std::vector<uint32_t>& out) const;
  size_t piece_length(std::string_view text) const;
  size_t modern_length(std::string_view text) const;
  size_t first_length(std::string_view text) const;

  uint32_t byte_ids_[256] = {};
  std::unordered_map<uint64_t, Merge> merges_;          // left << 32 | right
  std::map<std::string, uint32_t, std::less<>> added_;  // whole texts such as "<|im_end|>"
  bool gpt2_ = true;
  size_t most_digits_ = 0;  // of a piece; 0: no limit
};

}  // namespace weft::sft
