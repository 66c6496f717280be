// SPDX-License-Identifier: Apache-2.0

// Texture instructions with all four channels of their result, whatever the texture holds, and the
// kernels that try many places. Inline PTX, because the CUDA functions hide channels and forms.
#pragma once

#include <cstdint>

struct Place {
  float x, y, z;
  int layer;
  float lod;
};

#define RESULT "{%0, %1, %2, %3}, "
#define RESULTS "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)

// One look-up per instruction form; `p` says where.
struct Tex1d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.1d.v4.u32.f32 " RESULT "[%4, {%5}];" : RESULTS : "l"(t), "f"(p.x));
    return d;
  }
};
struct Tex2d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.2d.v4.u32.f32 " RESULT "[%4, {%5, %6}];"
                 : RESULTS
                 : "l"(t), "f"(p.x), "f"(p.y));
    return d;
  }
};
struct Tex3d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.3d.v4.u32.f32 " RESULT "[%4, {%5, %6, %7, %7}];"
                 : RESULTS
                 : "l"(t), "f"(p.x), "f"(p.y), "f"(p.z));
    return d;
  }
};
struct TexA1d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.a1d.v4.u32.f32 " RESULT "[%4, {%5, %6}];"
                 : RESULTS
                 : "l"(t), "r"(p.layer), "f"(p.x));
    return d;
  }
};
struct TexA2d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.a2d.v4.u32.f32 " RESULT "[%4, {%5, %6, %7, %7}];"
                 : RESULTS
                 : "l"(t), "r"(p.layer), "f"(p.x), "f"(p.y));
    return d;
  }
};
struct TexCube {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.cube.v4.u32.f32 " RESULT "[%4, {%5, %6, %7, %7}];"
                 : RESULTS
                 : "l"(t), "f"(p.x), "f"(p.y), "f"(p.z));
    return d;
  }
};
struct TexACube {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.acube.v4.u32.f32 " RESULT "[%4, {%5, %6, %7, %8}];"
                 : RESULTS
                 : "l"(t), "r"(p.layer), "f"(p.x), "f"(p.y), "f"(p.z));
    return d;
  }
};
struct TexLevel2d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.level.2d.v4.u32.f32 " RESULT "[%4, {%5, %6}], %7;"
                 : RESULTS
                 : "l"(t), "f"(p.x), "f"(p.y), "f"(p.lod));
    return d;
  }
};
struct TexGrad2d {  // both gradients have the length lod
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.grad.2d.v4.u32.f32 " RESULT "[%4, {%5, %6}], {%7, %8}, {%8, %7};"
                 : RESULTS
                 : "l"(t), "f"(p.x), "f"(p.y), "f"(p.lod), "f"(0.0f));
    return d;
  }
};
struct TexOffset2d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.2d.v4.u32.f32 " RESULT "[%4, {%5, %6}], {-3, 2};"
                 : RESULTS
                 : "l"(t), "f"(p.x), "f"(p.y));
    return d;
  }
};
struct TexHalf2d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile(
        "{.reg .b16 h<4>;\ntex.2d.v4.f16.f32 {h0, h1, h2, h3}, [%4, {%5, %6}];\n"
        "mov.b32 %0, {h0, h1};\nmov.b32 %1, {h2, h3};\n"
        "tex.2d.v2.f16x2.f32 {%2, %3}, [%4, {%5, %6}];\n}"
        : RESULTS
        : "l"(t), "f"(p.x), "f"(p.y));
    return d;
  }
};
// Integer coordinates.
struct Fetch1d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.1d.v4.u32.s32 " RESULT "[%4, {%5}];"
                 : RESULTS
                 : "l"(t), "r"(static_cast<int>(p.x)));
    return d;
  }
};
struct Fetch2d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.2d.v4.u32.s32 " RESULT "[%4, {%5, %6}];"
                 : RESULTS
                 : "l"(t), "r"(static_cast<int>(p.x)), "r"(static_cast<int>(p.y)));
    return d;
  }
};
struct FetchA2d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.a2d.v4.u32.s32 " RESULT "[%4, {%5, %6, %7, %7}];"
                 : RESULTS
                 : "l"(t), "r"(p.layer), "r"(static_cast<int>(p.x)), "r"(static_cast<int>(p.y)));
    return d;
  }
};
struct FetchLevel2d {
  static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {
    uint4 d;
    asm volatile("tex.level.2d.v4.u32.s32 " RESULT "[%4, {%5, %6}], %7;"
                 : RESULTS
                 : "l"(t), "r"(static_cast<int>(p.x)), "r"(static_cast<int>(p.y)),
                   "r"(static_cast<int>(p.lod)));
    return d;
  }
};
#define GATHER(NAME, COMPONENT)                                                 \
  struct NAME {                                                                 \
    static __device__ uint4 at(cudaTextureObject_t t, const Place& p) {         \
      uint4 d;                                                                  \
      asm volatile("tld4." COMPONENT ".2d.v4.u32.f32 " RESULT "[%4, {%5, %6}];" \
                   : RESULTS                                                    \
                   : "l"(t), "f"(p.x), "f"(p.y));                               \
      return d;                                                                 \
    }                                                                           \
  }
GATHER(GatherR, "r");
GATHER(GatherG, "g");
GATHER(GatherA, "a");
// Surfaces: x in bytes for .b.
#define SURFACE_LOAD(NAME, OUTSIDE)                                                       \
  struct NAME {                                                                           \
    static __device__ uint4 at(cudaSurfaceObject_t s, const Place& p) {                   \
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
  static __device__ uint4 at(cudaSurfaceObject_t s, const Place& p) {
    uint4 d{};
    asm volatile("suld.b.a2d.b32.clamp %0, [%1, {%2, %3, %4, %4}];"
                 : "=r"(d.x)
                 : "l"(s), "r"(p.layer), "r"(static_cast<int>(p.x) * 4),
                   "r"(static_cast<int>(p.y)));
    return d;
  }
};
struct StoreSample {  // formatted; the bits of the place's coordinates, to be read back as bits
  static __device__ uint4 at(cudaSurfaceObject_t s, const Place& p) {
    const int at = static_cast<int>(p.lod);
    asm volatile("sust.p.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(s), "r"(at % 64),
                 "r"(at / 64), "r"(__float_as_int(p.x)), "r"(__float_as_int(p.y)),
                 "r"(__float_as_int(p.z)), "r"(p.layer));
    return {};
  }
};

template <typename Form>
__global__ void look_up(unsigned long long object, const Place* places, int count, uint4* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) results[i] = Form::at(object, places[i]);
}
