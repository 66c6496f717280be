// SPDX-License-Identifier: Apache-2.0

// Texture instructions with all four channels of their result, whatever the texture holds, and the
// kernel that tries many places. Inline PTX, because the CUDA functions hide channels and forms.
#pragma once

#include <cstdint>

struct Place {
  float x, y, z;
  int layer;
  float lod;
};

// One look-up per instruction form; `p` says where. LOOK_UP names the instruction, its operands
// (%4 is the object, the inputs follow from %5) and those inputs.
#define LOOK_UP(NAME, INSTRUCTION, OPERANDS, ...)                           \
  struct NAME {                                                             \
    static __device__ uint4 at(unsigned long long object, const Place& p) { \
      uint4 d;                                                              \
      asm volatile(INSTRUCTION " {%0, %1, %2, %3}, " OPERANDS ";"           \
                   : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)             \
                   : "l"(object), __VA_ARGS__);                             \
      return d;                                                             \
    }                                                                       \
  }
#define X "f"(p.x)
#define XY "f"(p.x), "f"(p.y)
#define XYZ "f"(p.x), "f"(p.y), "f"(p.z)
#define LAYER "r"(p.layer)
#define LOD "f"(p.lod)
LOOK_UP(Tex1d, "tex.1d.v4.u32.f32", "[%4, {%5}]", X);
LOOK_UP(Tex2d, "tex.2d.v4.u32.f32", "[%4, {%5, %6}]", XY);
LOOK_UP(Tex3d, "tex.3d.v4.u32.f32", "[%4, {%5, %6, %7, %7}]", XYZ);
LOOK_UP(TexA1d, "tex.a1d.v4.u32.f32", "[%4, {%5, %6}]", LAYER, X);
LOOK_UP(TexA2d, "tex.a2d.v4.u32.f32", "[%4, {%5, %6, %7, %7}]", LAYER, XY);
LOOK_UP(TexCube, "tex.cube.v4.u32.f32", "[%4, {%5, %6, %7, %7}]", XYZ);
LOOK_UP(TexACube, "tex.acube.v4.u32.f32", "[%4, {%5, %6, %7, %8}]", LAYER, XYZ);
LOOK_UP(TexLevel2d, "tex.level.2d.v4.u32.f32", "[%4, {%5, %6}], %7", XY, LOD);
// Both gradients have the length lod.
LOOK_UP(TexGrad2d, "tex.grad.2d.v4.u32.f32", "[%4, {%5, %6}], {%7, %8}, {%8, %7}", XY, LOD,
        "f"(0.0f));
LOOK_UP(TexOffset2d, "tex.2d.v4.u32.f32", "[%4, {%5, %6}], {-3, 2}", XY);
LOOK_UP(GatherR, "tld4.r.2d.v4.u32.f32", "[%4, {%5, %6}]", XY);
LOOK_UP(GatherG, "tld4.g.2d.v4.u32.f32", "[%4, {%5, %6}]", XY);
LOOK_UP(GatherA, "tld4.a.2d.v4.u32.f32", "[%4, {%5, %6}]", XY);
// Integer coordinates.
#define WHOLE_X "r"(static_cast<int>(p.x))
#define WHOLE_XY WHOLE_X, "r"(static_cast<int>(p.y))
LOOK_UP(Fetch1d, "tex.1d.v4.u32.s32", "[%4, {%5}]", WHOLE_X);
LOOK_UP(Fetch2d, "tex.2d.v4.u32.s32", "[%4, {%5, %6}]", WHOLE_XY);
LOOK_UP(FetchA2d, "tex.a2d.v4.u32.s32", "[%4, {%5, %6, %7, %7}]", LAYER, WHOLE_XY);
LOOK_UP(FetchLevel2d, "tex.level.2d.v4.u32.s32", "[%4, {%5, %6}], %7", WHOLE_XY,
        "r"(static_cast<int>(p.lod)));

// Four halves, then two pairs of them.
struct TexHalf2d {
  static __device__ uint4 at(unsigned long long object, const Place& p) {
    uint4 d;
    asm volatile(
        "{.reg .b16 h<4>;\ntex.2d.v4.f16.f32 {h0, h1, h2, h3}, [%4, {%5, %6}];\n"
        "mov.b32 %0, {h0, h1};\nmov.b32 %1, {h2, h3};\n"
        "tex.2d.v2.f16x2.f32 {%2, %3}, [%4, {%5, %6}];\n}"
        : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
        : "l"(object), XY);
    return d;
  }
};
#undef LOOK_UP
#undef X
#undef XY
#undef XYZ
#undef LAYER
#undef LOD
#undef WHOLE_X
#undef WHOLE_XY

// Surfaces: x in bytes for .b.
#define SURFACE_LOAD(NAME, OUTSIDE)                                                       \
  struct NAME {                                                                           \
    static __device__ uint4 at(unsigned long long s, const Place& p) {                    \
      uint4 d{};                                                                          \
      asm volatile("suld.b.2d.b32." OUTSIDE " %0, [%1, {%2, %3}];"                        \
                   : "=r"(d.x)                                                            \
                   : "l"(s), "r"(static_cast<int>(p.x) * 4), "r"(static_cast<int>(p.y))); \
      return d;                                                                           \
    }                                                                                     \
  }
SURFACE_LOAD(LoadClamp, "clamp");
SURFACE_LOAD(LoadZero, "zero");
struct LoadLayerClamp {
  static __device__ uint4 at(unsigned long long s, const Place& p) {
    uint4 d{};
    asm volatile("suld.b.a2d.b32.clamp %0, [%1, {%2, %3, %4, %4}];"
                 : "=r"(d.x)
                 : "l"(s), "r"(p.layer), "r"(static_cast<int>(p.x) * 4),
                   "r"(static_cast<int>(p.y)));
    return d;
  }
};
struct StoreSample {  // formatted; the bits of the place's coordinates, to be read back as bits
  static __device__ uint4 at(unsigned long long s, const Place& p) {
    const int at = static_cast<int>(p.lod);
    asm volatile("sust.p.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(s), "r"(at % 64),
                 "r"(at / 64), "r"(__float_as_int(p.x)), "r"(__float_as_int(p.y)),
                 "r"(__float_as_int(p.z)), "r"(p.layer));
    return {};
  }
};

#undef SURFACE_LOAD

template <typename Form>
__global__ void look_up(unsigned long long object, const Place* places, int count, uint4* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) results[i] = Form::at(object, places[i]);
}
