// SPDX-License-Identifier: Apache-2.0

// D = A * transpose(B), e4m3, a scale for each row and 128 columns of both.
#include "fp8_gemm.cu"
