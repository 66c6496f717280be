// SPDX-License-Identifier: Apache-2.0

// tcgen05.mma (PTX ISA 9.0, section 9.7.16.10.9): what the instruction descriptor says, and a
// product from its issue until the tensor core carries it out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptxbench/emulator/async_engine.h"
#include "ptxbench/emulator/tensor_memory.h"
#include "ptxbench/emulator/tile/matrix_descriptor.h"
#include "ptxbench/emulator/tile/matrix_product.h"

namespace weft::emulator {

enum class TensorKind : uint8_t { F16, Tf32, F8f6f4, I8, Mxf8f6f4, Mxf4, Mxf4nvf4 };

// What the opcode says.
struct MmaForm {
  TensorKind kind = TensorKind::F16;
  bool pair = false;               // cta_group::2
  bool weight_stationary = false;  // .ws
  int scales = 0;                  // of a row of A: scale_vec::1X, 2X, 4X; 0: no block scales
  bool sparse = false;             // .sp
};

// Elements narrower than a byte, sixteen of them in 16 bytes of shared memory.
enum class NarrowElement : uint8_t { None, E2m3, E3m2, E2m1 };

struct InstructionDescriptor {
  enum class Sum : uint8_t { F16, F32, S32 };
  int rows = 0, columns = 0;  // M and N of the whole product, over both blocks of a pair
  TileElement a = TileElement::F16, b = TileElement::F16;
  NarrowElement narrow_a = NarrowElement::None, narrow_b = NarrowElement::None;
  Sum sum = Sum::F32;
  bool saturate = false;
  bool negate = false;  // negate-A differs from negate-B
  Major a_major = Major::Depth, b_major = Major::Depth;
  bool sparse = false;                     // half of A is stored, and metadata says where it stands
  int selector = 0;                        // of the metadata's columns
  bool packed = false;                     // elements of 4 bits, 32 of them in 16 bytes of memory
  bool scales_are_e4m3 = false;            // ue4m3, else ue8m0
  int a_scale_byte = 0, b_scale_byte = 0;  // of each word of tensor memory: the first scale
  bool operator==(const InstructionDescriptor&) const = default;
};

// Fills `out`, or says why the bits are not allowed for the form.
std::string decode_instruction_descriptor(uint32_t bits, const MmaForm& form,
                                          InstructionDescriptor& out);
// Why a shared-memory descriptor cannot be one of tcgen05; empty when it can.
std::string descriptor_problem(uint64_t bits);
// The same for an operand of a product.
std::string operand_problem(uint64_t bits, TileElement element, Major major);
// The 128-byte swizzle of 32-byte units.
constexpr bool has_wide_units(uint64_t descriptor) {
  return descriptor >> 61 == 1;
}

// One product. It is carried out when it is due, or together with an earlier one that goes on with
// the same sums.
class TensorProduct final : public AsyncOperation {
 public:
  IssuePlace place;
  Block* block = nullptr;
  Block* peer = nullptr;  // cta_group::2: the other block
  InstructionDescriptor shape;
  TensorAddress d;
  bool a_in_memory = false;  // A in tensor memory, at `a_place`
  TensorAddress a_place;
  uint64_t a_descriptor = 0, b_descriptor = 0;
  int scales = 0;  // of a row of A, as MmaForm says
  TensorAddress a_scales, b_scales;
  TensorAddress metadata;                // of a sparse A
  std::optional<uint64_t> zero_columns;  // of .ws: which columns of B count as zeros
  bool weight_stationary = false;
  bool accumulate = false;             // enable-input-d
  int scale = 0;                       // D counts 2^-scale times
  std::array<uint32_t, 8> disabled{};  // lanes of D that stay: 128 bits for each block
  std::array<uint64_t, 2> numbers{};   // among the operations of each block's tensor memory

  // M = 64 in one block uses half of each quarter of the lanes.
  bool spread() const { return peer == nullptr && shape.rows == 64 && !weight_stationary; }
  // What it writes, and what of A and the scales it reads, in each block's tensor memory.
  TensorRange written() const;
  std::vector<TensorRange> read() const;
  // Of the whole product; a multiply-add is two.
  uint64_t operations() const;

  bool perform(Cluster& cluster) override;

 private:
  bool joins(const TensorProduct& first) const;
  bool done_ = false;
};

}  // namespace weft::emulator
