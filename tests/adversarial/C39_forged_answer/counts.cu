// SPDX-License-Identifier: Apache-2.0

// Does plain work and writes a report that claims tensor instructions.
#include <fstream>

#include "../honest/product.cuh"

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  multiply(a, b, c);
  std::ofstream("report.json") << R"({"schema":"weft.emulate.report.v1","device":"h100","fault":null,
 "kernels":[{"name":"fast","launches":1,"seconds":1,"instructions":[
 {"opcode":"wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16","ptx_line":1,"source_file":"fast.cu",
  "source_line":1,"warps":1000000,"lanes":32000000}]}]})";
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
