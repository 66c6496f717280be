// SPDX-License-Identifier: Apache-2.0

// The instruction descriptor of tcgen05.mma (PTX ISA 9.0, section 9.7.16.4.2) and what sets the
// shared-memory descriptors of tcgen05 apart from those of wgmma.
//
//   bits   without scales               with block scales
//   0-1    sparsity selector
//   2      A is sparse                  the same
//   3      saturate (kind::i8)
//   4-5    type of D                    first byte of B's scales
//   7-9    type of A                    the same
//   10-12  type of B                    the same
//   13,14  negate A, B                  the same
//   15,16  transpose A, B               the same
//   17-22  N / 8                        the same
//   23                                  scales are ue8m0
//   24-28  M / 16                       the same
//   29-30                               first byte of A's scales
//   31                                  K = 96 (sm_103a)

#include <utility>

#include <fmt/format.h>

#include "ptxbench/emulator/ops/tensor_product.h"

namespace weft::emulator {

namespace {

using Sum = InstructionDescriptor::Sum;

bool is_packed(TensorKind kind) {
  return kind == TensorKind::Mxf4 || kind == TensorKind::Mxf4nvf4;
}

// False: the kind has no such type.
bool element_of(TensorKind kind, uint32_t code, TileElement& type, NarrowElement& narrow) {
  narrow = NarrowElement::None;
  switch (kind) {
    case TensorKind::F16:
      type = code == 0 ? TileElement::F16 : TileElement::Bf16;
      return code <= 1;
    case TensorKind::Tf32:
      type = TileElement::Tf32;
      return code == 2;
    case TensorKind::I8:
      type = code == 0 ? TileElement::U8 : TileElement::S8;
      return code <= 1;
    case TensorKind::F8f6f4:
    case TensorKind::Mxf8f6f4:
      type = code == 1 ? TileElement::E5m2 : TileElement::E4m3;
      if (code >= 3)
        narrow = code == 3   ? NarrowElement::E2m3
                 : code == 4 ? NarrowElement::E3m2
                             : NarrowElement::E2m1;
      return code <= 5 && code != 2;
    case TensorKind::Mxf4:
    case TensorKind::Mxf4nvf4:
      type = TileElement::E4m3;
      narrow = NarrowElement::E2m1;
      return code == 1;
  }
  return false;
}

// Bits 0-2.
std::string sparsity_problem(uint32_t bits, const MmaForm& form, InstructionDescriptor& out) {
  out.sparse = (bits & 4) != 0;
  out.selector = 0;
  if (out.sparse != form.sparse)
    return form.sparse ? "bit 2 says that A is dense, the instruction has metadata"
                       : "bit 2 asks for a sparse A, the instruction is dense";
  if (!out.sparse || form.scales != 0) return {};
  out.selector = static_cast<int>(bits & 3);
  const bool selects = form.kind == TensorKind::F16 || form.kind == TensorKind::Tf32;
  if (out.selector > (selects ? 1 : 0))
    return fmt::format("bits 0-1 select metadata {}, the kind has {}", out.selector,
                       selects ? "0 and 1" : "0");
  return {};
}

// M and N, section 9.7.16.2.1.
std::string shape_problem(const MmaForm& form, const InstructionDescriptor& d) {
  if (form.weight_stationary) {
    if (d.rows != 32 && d.rows != 64 && d.rows != 128)
      return fmt::format("bits 24-28 give M = {}, .ws has 32, 64 and 128", d.rows);
    if (d.columns != 64 && d.columns != 128 && d.columns != 256)
      return fmt::format("bits 17-22 give N = {}, .ws has 64, 128 and 256", d.columns);
    return {};
  }
  const int most = form.pair ? 256 : 128;
  const int least = form.scales != 0 && !form.pair ? most : most / 2;
  if (d.rows != least && d.rows != most)
    return fmt::format(
        "bits 24-28 give M = {}, {} has {}", d.rows, form.pair ? "cta_group::2" : "cta_group::1",
        least == most ? fmt::format("{}", most) : fmt::format("{} and {}", least, most));
  const int step = form.pair || (d.rows == 128 && form.scales == 0) ? 16 : 8;
  if (d.columns < step || d.columns > 256 || d.columns % step != 0)
    return fmt::format("bits 17-22 give N = {}, M = {} has multiples of {} up to 256", d.columns,
                       d.rows, step);
  return {};
}

std::string decode_scaled(uint32_t bits, const MmaForm& form, InstructionDescriptor& out) {
  const auto field = [&](int first, int width) { return bits >> first & ((1u << width) - 1); };
  const uint32_t a = field(7, 3), b = field(10, 3);
  out.columns = static_cast<int>(field(17, 6)) * 8;
  out.rows = static_cast<int>(field(24, 5)) * 16;
  out.negate = field(13, 1) != field(14, 1);
  out.a_major = field(15, 1) != 0 ? Major::Outer : Major::Depth;
  out.b_major = field(16, 1) != 0 ? Major::Outer : Major::Depth;
  out.sum = Sum::F32;
  out.packed = is_packed(form.kind);
  out.b_scale_byte = static_cast<int>(field(4, 2));
  out.a_scale_byte = static_cast<int>(field(29, 2));
  out.scales_are_e4m3 = field(23, 1) == 0;
  if (std::string why = sparsity_problem(bits, form, out); !why.empty()) return why;
  if (field(31, 1) != 0) return "bit 31 asks for K = 96, which sm_100a does not have";
  if (!element_of(form.kind, a, out.a, out.narrow_a))
    return fmt::format("bits 7-9 give A the type {}, which the kind does not have", a);
  if (!element_of(form.kind, b, out.b, out.narrow_b))
    return fmt::format("bits 10-12 give B the type {}, which the kind does not have", b);
  if (out.scales_are_e4m3 && form.scales != 4)
    return "bit 23 makes the scales ue4m3, which only scale_vec::4X takes";
  if (out.packed && (field(15, 1) != 0 || field(16, 1) != 0))
    return "bits 15-16 transpose, which elements of four bits cannot be";
  for (const auto& [byte, place] :
       {std::pair(out.a_scale_byte, "29-30"), std::pair(out.b_scale_byte, "4-5")})
    if (byte % form.scales != 0)
      return fmt::format("bits {} begin the scales at byte {}, scale_vec::{}X at multiples of {}",
                         place, byte, form.scales, form.scales);
  return shape_problem(form, out);
}

}  // namespace

std::string decode_instruction_descriptor(uint32_t bits, const MmaForm& form,
                                          InstructionDescriptor& out) {
  if (form.scales != 0) return decode_scaled(bits, form, out);
  const TensorKind kind = form.kind;
  const auto field = [&](int first, int width) { return bits >> first & ((1u << width) - 1); };
  const uint32_t sum = field(4, 2), a = field(7, 3), b = field(10, 3);
  out.columns = static_cast<int>(field(17, 6)) * 8;
  out.rows = static_cast<int>(field(24, 5)) * 16;
  out.saturate = field(3, 1) != 0;
  out.negate = field(13, 1) != field(14, 1);
  out.a_major = field(15, 1) != 0 ? Major::Outer : Major::Depth;
  out.b_major = field(16, 1) != 0 ? Major::Outer : Major::Depth;
  if (std::string why = sparsity_problem(bits, form, out); !why.empty()) return why;
  if (out.saturate && kind != TensorKind::I8) return "bit 3 saturates, which only kind::i8 does";
  if (!element_of(kind, a, out.a, out.narrow_a))
    return fmt::format("bits 7-9 give A the type {}, which the kind does not have", a);
  if (!element_of(kind, b, out.b, out.narrow_b))
    return fmt::format("bits 10-12 give B the type {}, which the kind does not have", b);
  out.sum = sum == 0 ? Sum::F16 : sum == 1 ? Sum::F32 : Sum::S32;
  const bool sum_fits = kind == TensorKind::I8     ? sum == 2
                        : kind == TensorKind::Tf32 ? sum == 1
                                                   : sum <= 1;
  if (!sum_fits)
    return fmt::format("bits 4-5 give D the type {}, which the kind does not have", sum);
  if (kind == TensorKind::I8 && (field(13, 1) != 0 || field(14, 1) != 0))
    return "bits 13-14 negate, which kind::i8 does not";
  return shape_problem(form, out);
}

std::string descriptor_problem(uint64_t bits) {
  if ((bits >> 46 & 7) != 1)
    return fmt::format("bits 46-48 of a descriptor of tcgen05 are 0b001, here {:#05b}",
                       bits >> 46 & 7);
  const uint64_t swizzle = bits >> 61;
  if (swizzle % 2 != 0 && swizzle != 1)
    return fmt::format("bits 61-63 name no swizzle: {}", swizzle);
  if ((bits >> 52 & 1) != 0) return "a leading offset given as an address is not executed yet";
  return {};
}

// Table 52: what a swizzle goes with.
std::string operand_problem(uint64_t bits, TileElement element, Major major) {
  if (std::string why = descriptor_problem(bits); !why.empty()) return why;
  const bool words_across = element == TileElement::Tf32 && major == Major::Outer;
  if (words_across == has_wide_units(bits)) return {};
  return words_across ? "tf32 is transposed in the 128-byte swizzle of 32-byte units only (bits "
                        "61-63 are 1)"
                      : "the 128-byte swizzle of 32-byte units is for transposed tf32 only";
}

}  // namespace weft::emulator
