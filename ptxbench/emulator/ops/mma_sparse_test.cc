// SPDX-License-Identifier: Apache-2.0

// mma.sp and wgmma.sp through whole programs. Rows of A are drawn dense with the zeros that the
// format asks for, then packed as PTX ISA 9.0 describes, with the thread and the bits of every
// index written out from its figures (9.7.14.6.2, figures 118 to 135) and not taken from
// sparse_rows.h. Expected sums are exact: values are small integers.

#include <gtest/gtest.h>

#include <random>

#include "base/floats.h"
#include "ptxbench/emulator/ops/matrix_program.h"

namespace weft::emulator {
namespace {

enum class Kind { F16, Tf32, S8, S4 };

int bits_of(Kind kind) {
  return kind == Kind::F16 ? 16 : kind == Kind::Tf32 ? 32 : kind == Kind::S8 ? 8 : 4;
}
uint32_t encode(Kind kind, int value) {
  const auto number = static_cast<float>(value);
  if (kind == Kind::F16) return float_to_f16(number);
  if (kind == Kind::Tf32) return std::bit_cast<uint32_t>(number);
  return static_cast<uint32_t>(value) & (kind == Kind::S8 ? 0xff : 0xf);
}

// The dense matrix, and for each row the values that are kept with the indices that say where.
struct SparseMatrix {
  int rows, depth;
  std::vector<int> dense;
  std::vector<uint32_t> kept;     // rows x depth / 2, encoded
  std::vector<uint32_t> indices;  // rows x chunks, 4 bits each

  SparseMatrix(Kind kind, int row_count, int k, std::mt19937& random)
      : rows(row_count), depth(k), dense(static_cast<size_t>(rows * depth)) {
    // Elements that are kept or dropped together, in a chunk of so many: 2 of 4, 1 of 2 for tf32,
    // pairs of 8 for four bits. An index counts quarters of the chunk.
    const int chunk = kind == Kind::Tf32 ? 2 : kind == Kind::S4 ? 8 : 4;
    for (int row = 0; row < rows; ++row)
      for (int c = 0; c < depth / chunk; ++c) {
        int low = static_cast<int>(random() % 3), high = low + 1;
        if (kind == Kind::Tf32) low = static_cast<int>(random() % 2) * 2, high = low + 1;
        if (kind != Kind::Tf32 && high < 3 && random() % 2 != 0) ++high;
        indices.push_back(static_cast<uint32_t>(low | high << 2));
        for (int e = 0; e < chunk; ++e) {
          const int quarter = e * 4 / chunk;
          if (quarter != low && quarter != high) continue;
          const int value = static_cast<int>(random() % 7) - 3;
          dense[static_cast<size_t>(row * depth + c * chunk + e)] = value;
          kept.push_back(encode(kind, value));
        }
      }
  }
  uint32_t chunk_indices(int row, int c, int per_row) const {
    return indices[static_cast<size_t>(row * per_row + c)];
  }
};

// The metadata register of a lane, for the 16 rows from `first` on.
uint32_t metadata(Kind kind, const SparseMatrix& a, int first, int lane, int selector) {
  const int bits = bits_of(kind), chunks = static_cast<int>(a.indices.size()) / a.rows;
  const int group = lane / 4, thread = lane % 4;
  uint32_t word = 0xdeadbeef;  // what lanes that do not contribute hold is ignored
  if (bits >= 16) {
    // One thread for 16 bytes of stored row (figures 119, 125), a pair for 32 (122, 124): row g in
    // bits 0-15, row g + 8 in bits 16-31.
    const int base = chunks == 4 ? selector : 2 * selector, lanes = chunks / 4;
    if (thread < base || thread >= base + lanes) return word;
    word = 0;
    for (int half = 0; half < 2; ++half)
      for (int c = 0; c < 4; ++c)
        word |= a.chunk_indices(first + group + 8 * half, (thread - base) * 4 + c, chunks)
                << (16 * half + 4 * c);
    return word;
  }
  // Bytes and nibbles: row g in the first thread of a pair, row g + 8 in the second (figures 129,
  // 131 to 133).
  const int base = chunks == 8 ? 2 * selector : 0, lanes = chunks / 4;
  if (thread < base || thread >= base + lanes) return word;
  word = 0;
  const int row = first + group + 8 * ((thread - base) % 2), start = (thread - base) / 2 * 8;
  for (int c = 0; c < 8; ++c) word |= a.chunk_indices(row, start + c, chunks) << (4 * c);
  return word;
}

// Puts rows of packed elements into registers: register r of a lane has the bytes 4 (lane % 4) of
// the 16-byte piece r / halves, in row lane / 4 or, when `halves` is 2 and r odd, eight rows below.
void to_registers(const std::vector<uint32_t>& elements, int per_row, int bits, int first_row,
                  int halves, int count, uint32_t* words) {
  for (int r = 0; r < count; ++r)
    for (int lane = 0; lane < 32; ++lane) {
      const int row = first_row + lane / 4 + 8 * (r % halves), per_word = 32 / bits;
      const int column = (r / halves * 4 + lane % 4) * per_word;
      uint32_t word = 0;
      for (int e = 0; e < per_word; ++e)
        word |= elements[static_cast<size_t>(row * per_row + column + e)]
                << (bits == 32 ? 0 : e * bits);
      words[r * 32 + lane] = word;
    }
}

void check(Kind kind, int k, const char* types, int selector,
           const char* sparse = "sp::ordered_metadata") {
  SCOPED_TRACE(types + std::string(" k") + std::to_string(k) + " selector " +
               std::to_string(selector));
  std::mt19937 random(static_cast<unsigned>(k + selector));
  const int bits = bits_of(kind);
  const SparseMatrix a(kind, 16, k, random);
  std::vector<int> b(static_cast<size_t>(8 * k));  // by columns
  std::vector<uint32_t> b_elements;
  for (int& value : b) {
    value = static_cast<int>(random() % 7) - 3;
    b_elements.push_back(encode(kind, value));
  }
  const int a_count = 16 * k * bits / 2048, b_count = 8 * k * bits / 1024;
  MatrixProgram program;
  program.in.resize(static_cast<size_t>((a_count + b_count + 1) * 32));
  to_registers(a.kept, k / 2, bits, 0, 2, a_count, program.in.data());
  to_registers(b_elements, k, bits, 0, 1, b_count, program.in.data() + a_count * 32);
  for (int lane = 0; lane < 32; ++lane)
    program.in[static_cast<size_t>((a_count + b_count) * 32 + lane)] =
        metadata(kind, a, 0, lane, selector);
  const bool integers = std::string_view(types).starts_with("s32");
  const char* const zero =
      integers ? "{0, 0, 0, 0}" : "{0f00000000, 0f00000000, 0f00000000, 0f00000000}";
  program.body =
      load_registers("a", 0, a_count, 32) + load_registers("b", a_count, b_count, 32) +
      load_registers("c", a_count + b_count, 1, 32) +
      fmt::format("mma.{}.sync.aligned.m16n8k{}.row.col.{} {}, {}, {}, {}, %c0, {};\n", sparse, k,
                  types, register_list(integers ? "d" : "f", 4), register_list("a", a_count),
                  register_list("b", b_count), zero, selector) +
      store_registers(integers ? "d" : "f", 4, 32);
  program.out_words = 4 * 32;
  program.run();
  ASSERT_FALSE(program.fault.has_value()) << format(*program.fault);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      int sum = 0;
      for (int d = 0; d < k; ++d)
        sum += a.dense[static_cast<size_t>(row * k + d)] * b[static_cast<size_t>(column * k + d)];
      const uint32_t word = program.out[static_cast<size_t>(i * 32 + lane)];
      EXPECT_EQ(integers ? static_cast<int>(word) : static_cast<int>(std::bit_cast<float>(word)),
                sum)
          << "row " << row << " column " << column;
    }
}

TEST(SparseMma, HalvesOfSixteenDeepTakeOneLaneOfFour) {
  for (int selector = 0; selector < 4; ++selector)
    check(Kind::F16, 16, "f32.f16.f16.f32", selector);
}
TEST(SparseMma, HalvesOfThirtyTwoDeepTakeAPair) {
  for (int selector = 0; selector < 2; ++selector)
    check(Kind::F16, 32, "f32.f16.f16.f32", selector);
  check(Kind::F16, 32, "f32.f16.f16.f32", 1, "sp");
}
TEST(SparseMma, TensorFloatsKeepOneOfTwo) {
  for (int selector = 0; selector < 4; ++selector)
    check(Kind::Tf32, 8, "f32.tf32.tf32.f32", selector);
  for (int selector = 0; selector < 2; ++selector)
    check(Kind::Tf32, 16, "f32.tf32.tf32.f32", selector);
}
TEST(SparseMma, BytesTakePairsAndAllFour) {
  for (int selector = 0; selector < 2; ++selector) check(Kind::S8, 32, "s32.s8.s8.s32", selector);
  check(Kind::S8, 64, "s32.s8.s8.s32", 0);
}
TEST(SparseMma, NibblesAreKeptInPairs) {
  for (int selector = 0; selector < 2; ++selector) check(Kind::S4, 64, "s32.s4.s4.s32", selector);
  check(Kind::S4, 128, "s32.s4.s4.s32", 0);
}

// Four warps, 64 rows; A in registers or in shared memory as core matrices, K along rows or, for
// halves, M along rows.
enum class Source { Registers, Shared, SharedByColumns };

void check_warpgroup(Kind kind, int k, const char* types, int selector, Source source) {
  SCOPED_TRACE(types + std::string(" selector ") + std::to_string(selector));
  std::mt19937 random(static_cast<unsigned>(k + 7 * selector));
  const int bits = bits_of(kind);
  const SparseMatrix a(kind, 64, k, random);
  std::vector<int> b(static_cast<size_t>(8 * k));
  std::vector<uint32_t> b_elements;
  for (int& value : b) {
    value = static_cast<int>(random() % 7) - 3;
    b_elements.push_back(encode(kind, value));
  }
  MatrixProgram program;
  program.threads = 128;
  program.shared = 4096;
  program.in.resize(128 * 6);
  uint32_t a_words[4][4 * 32];
  for (int warp = 0; warp < 4; ++warp) {
    to_registers(a.kept, k / 2, bits, 16 * warp, 2, 4, a_words[warp]);
    for (int lane = 0; lane < 32; ++lane) {
      const auto thread = static_cast<size_t>(32 * warp + lane);
      for (size_t r = 0; r < 4; ++r)
        program.in[r * 128 + thread] = a_words[warp][r * 32 + static_cast<size_t>(lane)];
      program.in[5 * 128 + thread] = metadata(kind, a, 16 * warp, lane, selector);
    }
  }
  // B: four core matrices, one behind the other; thread t stores word t of them.
  uint32_t b_words[4 * 32];
  to_registers(b_elements, k, bits, 0, 1, 4, b_words);
  std::copy(b_words, b_words + 128, program.in.begin() + 4 * 128);
  const bool integers = std::string_view(types).starts_with("s32"), halves = kind == Kind::F16;
  std::string body = load_registers("a", 0, 4, 128) + load_registers("b", 4, 1, 128) +
                     load_registers("c", 5, 1, 128) +
                     "shl.b32 %r8, %r1, 2;\nadd.u32 %r8, %r8, %r2;\nst.shared.b32 [%r8], %b0;\n";
  std::string a_operand = register_list("a", 4), transposes = halves ? ", 0" : "";
  if (source == Source::Shared) {
    // Core matrix (group g, piece c) at 1024 + 256 g + 128 c.
    body +=
        "shr.u32 %r9, %r1, 5;\nshl.b32 %r9, %r9, 9;\nand.b32 %r10, %r1, 31;\n"
        "shl.b32 %r10, %r10, 2;\nadd.u32 %r9, %r9, %r10;\nadd.u32 %r9, %r9, %r2;\n"
        "st.shared.b32 [%r9+1024], %a0;\nst.shared.b32 [%r9+1280], %a1;\n"
        "st.shared.b32 [%r9+1152], %a2;\nst.shared.b32 [%r9+1408], %a3;\n"
        "mov.b64 %rd8, 0x0000001000080040;\nadd.s64 %rd8, %rd8, %rd11;\n";
    a_operand = "%rd8";
    transposes = halves ? ", 0, 0" : "";
  } else if (source == Source::SharedByColumns) {
    // Rows of depth: 16 of 64 halves. Core matrix (8 of depth g, 8 rows of A c) at 1024 + 1024 g +
    // 128 c; the thread copies what it holds word by word through shared memory.
    for (int r = 0; r < 4; ++r)
      for (int e = 0; e < 2; ++e) {
        // Row of A: 16 warp + lane / 4 + 8 (r % 2); depth: (r / 2 * 4 + lane % 4) * 2 + e.
        body += fmt::format(
            "shr.u32 %r12, %r1, 5;\nshl.b32 %r12, %r12, 1;\nadd.u32 %r12, %r12, {0};\n"  // c
            "and.b32 %r13, %r1, 3;\nshl.b32 %r13, %r13, 1;\nadd.u32 %r13, %r13, {1};\n"  // line
            "bfe.u32 %r14, %r1, 2, 3;\n"                                                 // row % 8
            "shl.b32 %r12, %r12, 7;\nshl.b32 %r13, %r13, 4;\nshl.b32 %r14, %r14, 1;\n"
            "add.u32 %r12, %r12, %r13;\nadd.u32 %r12, %r12, %r14;\nadd.u32 %r12, %r12, %r2;\n"
            "shr.u32 %r15, %a{2}, {3};\nst.shared.b16 [%r12+{4}], %r15;\n",
            r % 2, e, r, 16 * e, 1024 + 1024 * (r / 2));
      }
    // With M along rows the stride field is from eight of M to the next, the leading one from eight
    // of depth to the next.
    body += "mov.b64 %rd8, 0x0000000800400040;\nadd.s64 %rd8, %rd8, %rd11;\n";
    a_operand = "%rd8";
    transposes = ", 1, 0";
  }
  body +=
      "fence.proxy.async;\nbar.sync 0;\nmov.b64 %rd9, 0x0000002000080000;\nadd.s64 %rd9, %rd9, "
      "%rd11;\n"
      "setp.ne.u32 %p1, 0, 0;\nwgmma.fence.sync.aligned;\n" +
      fmt::format("wgmma.mma_async.sp.sync.aligned.m64n8k{}.{} {}, {}, %rd9, %c0, {}, %p1{}{};\n",
                  k, types, register_list(integers ? "d" : "f", 4), a_operand, selector,
                  integers ? "" : ", 1, 1", transposes) +
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" +
      store_registers(integers ? "d" : "f", 4, 128);
  program.body = body;
  program.out_words = 4 * 128;
  program.run();
  ASSERT_FALSE(program.fault.has_value()) << format(*program.fault);
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < 4; ++i) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2),
                column = thread % 4 * 2 + i % 2;
      int sum = 0;
      for (int d = 0; d < k; ++d)
        sum += a.dense[static_cast<size_t>(row * k + d)] * b[static_cast<size_t>(column * k + d)];
      const uint32_t word = program.out[static_cast<size_t>(i * 128 + thread)];
      EXPECT_EQ(integers ? static_cast<int>(word) : static_cast<int>(std::bit_cast<float>(word)),
                sum)
          << "row " << row << " column " << column;
    }
}

TEST(SparseWgmma, HalvesFromEverywhere) {
  for (Source source : {Source::Registers, Source::Shared, Source::SharedByColumns})
    for (int selector = 0; selector < 2; ++selector)
      check_warpgroup(Kind::F16, 32, "f32.f16.f16", selector, source);
}
TEST(SparseWgmma, TensorFloatsAndBytes) {
  for (Source source : {Source::Registers, Source::Shared}) {
    check_warpgroup(Kind::Tf32, 16, "f32.tf32.tf32", 1, source);
    check_warpgroup(Kind::S8, 64, "s32.s8.s8", 0, source);
  }
}

}  // namespace
}  // namespace weft::emulator
