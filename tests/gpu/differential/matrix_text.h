// SPDX-License-Identifier: Apache-2.0

// Programs around sparse matrix instructions, whose operands are lists and whose results are
// several: all of them are made from the case's three operands, and folded into one result.
#pragma once

#include <string>

namespace weft::differential {

// Text for an opcode of mma.sp or wgmma.mma_async.sp (the latter with " registers" or " shared"
// behind it for where A comes from). Values are so small that every sum is exact: what differs
// between two devices then is a layout.
std::string sparse_matrix_text(const std::string& name);

}  // namespace weft::differential
