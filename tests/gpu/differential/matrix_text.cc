// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/differential/matrix_text.h"

#include <cstdlib>
#include <vector>

namespace weft::differential {

namespace {

struct Operation {
  std::vector<std::string> types;  // d, a, b and, of mma, c
  int columns = 0, depth = 0;
};

Operation parse(const std::string& opcode) {
  Operation operation;
  for (size_t at = 0; at != std::string::npos;) {
    const size_t dot = opcode.find('.', at);
    const std::string word = opcode.substr(at, dot == std::string::npos ? dot : dot - at);
    at = dot == std::string::npos ? dot : dot + 1;
    if (word.size() > 2 && word[0] == 'm' && word[1] >= '0' && word[1] <= '9') {
      const size_t n = word.find('n'), k = word.find('k');
      operation.columns = std::atoi(word.c_str() + n + 1);
      operation.depth = std::atoi(word.c_str() + k + 1);
    }
    for (const char* type :
         {"f32", "f16", "bf16", "tf32", "s32", "s8", "u8", "s4", "u4", "e4m3", "e5m2"})
      if (word == type) operation.types.push_back(word);
  }
  return operation;
}

int bits_of(const std::string& type) {
  if (type == "tf32") return 32;
  if (type == "f16" || type == "bf16") return 16;
  return type == "s4" || type == "u4" ? 4 : 8;
}

// Instructions that turn the random word %name into packed values of the type between 1 and 2,
// with as few fraction bits as sums can hold; integers stay as they are.
std::string tame(const std::string& name, const std::string& type, bool half_sum) {
  const char *mask = nullptr, *base = nullptr;
  if (type == "f16") mask = half_sum ? "0x82008200" : "0x83c083c0", base = "0x3c003c00";
  if (type == "bf16") mask = "0x80708070", base = "0x3f803f80";
  if (type == "tf32") mask = "0x80780000", base = "0x3f800000";
  if (type == "e4m3") mask = half_sum ? "0x84848484" : "0x86868686", base = "0x38383838";
  if (type == "e5m2") mask = half_sum ? "0x82828282" : "0x83838383", base = "0x3c3c3c3c";
  if (mask == nullptr) return {};
  return "and.b32 " + name + ", " + name + ", " + mask + ";\nor.b32 " + name + ", " + name + ", " +
         base + ";\n";
}

std::string numbered(const std::string& name, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + name + std::to_string(i);
  return list + "}";
}

// Words name0 ... made from the operand.
std::string words(const std::string& name, int count, const std::string& operand,
                  const std::string& type, bool half_sum) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string word = name + std::to_string(i);
    text += "mad.lo.u32 " + word + ", " + operand + ", " + std::to_string(2 * i + 1) + ", " +
            std::to_string(i * 0x01234567) + ";\n" + tame(word, type, half_sum);
  }
  return text;
}

// The metadata: indices (0 or 1) and (2 or 3) of each chunk; (0, 1) or (2, 3) where only these
// exist.
std::string metadata(const std::string& type) {
  if (type == "tf32")
    return "and.b32 e, $c, 0x11111111;\nmul.lo.u32 e, e, 10;\nor.b32 e, e, 0x44444444;\n";
  return "and.b32 e, $c, 0x55555555;\nor.b32 e, e, 0x88888888;\n";
}

std::string accumulators(int count, const std::string& type) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string name = "s" + std::to_string(i);
    text += "add.u32 x0, $c, " + std::to_string(i) + ";\n";
    if (type == "f32")
      text += "and.b32 x0, x0, 15;\ncvt.rn.f32.u32 " + name + ", x0;\n";
    else if (type == "f16")
      text += "and.b32 x0, x0, 0x80008000;\nor.b32 " + name + ", x0, 0x3c003c00;\n";
    else
      text += "mov.b32 " + name + ", x0;\n";
  }
  return text;
}

std::string fold(int count) {
  std::string text = "mov.b32 $d, 0;\n";
  for (int i = 0; i < count; ++i)
    text += "mov.b32 x0, s" + std::to_string(i) + ";\nmad.lo.u32 $d, $d, 31, x0;\n";
  return text;
}

std::string declarations(const std::string& sum) {
  return "{ .reg .b32 x<8>, r<8>, q<8>, e, at;\n.reg " +
         std::string(sum == "f32" ? ".f32" : ".b32") + " s<8>;\n";
}

std::string warp_text(const std::string& opcode, const Operation& operation) {
  const std::string &a = operation.types[1], &b = operation.types[2], &sum = operation.types[0];
  const int b_words = 8 * operation.depth * bits_of(b) / 1024;
  const int a_words = 16 * operation.depth * bits_of(a) / 2048;
  const int sums = sum == "f16" ? 2 : 4;
  return declarations(sum) + words("r", a_words, "$a", a, sum == "f16") +
         words("q", b_words, "$b", b, sum == "f16") + metadata(a) + accumulators(sums, sum) +
         opcode + " " + numbered("s", sums) + ", " + numbered("r", a_words) + ", " +
         numbered("q", b_words) + ", " + numbered("s", sums) + ", e, 0;\n" + fold(sums) + "}";
}

// Operands in shared memory are core matrices of 128 bytes, those along the depth next to each
// other: A is 64 rows of 32 bytes, B eight columns of 64.
std::string warpgroup_text(const std::string& opcode, const Operation& operation, bool shared) {
  const std::string &a = operation.types[1], &b = operation.types[2], &sum = operation.types[0];
  const int sums = sum == "f16" ? 2 : 4;
  const bool turns = bits_of(a) == 16, scales = sum != "s32";
  std::string text = declarations(sum) +
                     ".shared .align 128 .b8 tile_a[2048];\n.shared .align 128 .b8 tile_b[512];\n"
                     ".reg .b64 da, db;\n.reg .pred always;\n" +
                     words("r", 4, "$a", a, sum == "f16") + words("q", 1, "$b", b, sum == "f16") +
                     metadata(a) + accumulators(sums, sum);
  text +=
      "mov.u32 at, tile_b;\nmad.lo.u32 x1, %index, 4, at;\nst.shared.b32 [x1], q0;\n"
      "shr.u32 at, at, 4;\ncvt.u64.u32 db, at;\nor.b64 db, db, 0x0000002000080000;\n";
  text +=
      "mov.u32 at, tile_a;\nmad.lo.u32 x1, %index, 16, at;\n"
      "st.shared.v4.b32 [x1], {r0, r1, r2, r3};\n"
      "shr.u32 at, at, 4;\ncvt.u64.u32 da, at;\nor.b64 da, da, 0x0000001000080000;\n";
  text +=
      "fence.proxy.async;\nbar.sync 0;\nsetp.eq.u32 always, 0, 0;\n"
      "wgmma.fence.sync.aligned;\n";
  text += opcode + " " + numbered("s", sums) + ", " + (shared ? "da" : numbered("r", 4)) +
          ", db, e, 0, always" + (scales ? ", 1, 1" : "") +
          (turns ? (shared ? ", 0, 0" : ", 0") : "") + ";\n";
  text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  return text + fold(sums) + "}";
}

}  // namespace

std::string sparse_matrix_text(const std::string& name) {
  const std::string opcode = name.substr(0, name.find(' '));
  const Operation operation = parse(opcode);
  if (!opcode.starts_with("wgmma")) return warp_text(opcode, operation);
  return warpgroup_text(opcode, operation, name.ends_with("shared"));
}

}  // namespace weft::differential
