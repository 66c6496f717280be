// SPDX-License-Identifier: Apache-2.0

// The text has the form that nvdisasm 13.0 prints with -c -g.
#include "ptxbench/judge/disassembly.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

constexpr const char* kText = R"(	.target	sm_90a
//--------------------- .text._Z4gemmv --------------------------
	.section	.text._Z4gemmv,"ax",@progbits
	.align	128
.text._Z4gemmv:
        .type           _Z4gemmv,@function
_Z4gemmv:
	//## File "kernel.cu", line 214
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "tma.cuh", line 20 inlined at "kernel.cu", line 230
        /*0050*/               @P0 BRA `(.L_x_1) ;
.L_x_0:
        /*0a80*/              @!UP1 HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16], R24, UP0 ;
        /*1220*/                   UTMACMDFLUSH ;
	.section	.nv.info,"",@"SHT_CUDA_INFO"
        /*0000*/ 	.byte	0x04, 0x2f
	.section	.text._Z5otherv,"ax",@progbits
        /*0010*/                   EXIT ;
)";

TEST(Disassembly, ReadsFunctionsOffsetsOpcodesAndLines) {
  const Disassembly all = parse_disassembly(kText);
  ASSERT_EQ(all.size(), 2u);
  const auto& gemm = all.at("_Z4gemmv");
  ASSERT_EQ(gemm.size(), 4u);
  EXPECT_EQ(gemm.at(0).opcode, "LDC");
  EXPECT_EQ(gemm.at(0).source_file, "kernel.cu");
  EXPECT_EQ(gemm.at(0).source_line, 214u);
  EXPECT_EQ(gemm.at(0x50).opcode, "BRA");
  EXPECT_EQ(gemm.at(0x50).source_file, "tma.cuh");
  EXPECT_EQ(gemm.at(0x50).source_line, 20u);
  EXPECT_EQ(gemm.at(0xa80).opcode, "HGMMA.64x256x16.F32.BF16");
  EXPECT_EQ(gemm.at(0x1220).opcode, "UTMACMDFLUSH");
  EXPECT_EQ(all.at("_Z5otherv").at(0x10).opcode, "EXIT");
}

}  // namespace
}  // namespace weft::judge
