// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/texture_sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ptxbench/emulator/texel_values.h"

namespace weft::emulator {

namespace {

using Address = TextureObject::Address;
using Level = TextureObject::Level;

// --- Texels -----------------------------------------------------------------------------------

Texel border_texel(const TextureObject& t) {
  Texel texel{};
  for (size_t c = 0; c < t.channels; ++c) texel[c] = std::bit_cast<uint32_t>(t.border[c]);
  return texel;
}

// --- Positions ----------------------------------------------------------------------------------

int64_t floor_to_integer(double value) {
  if (std::isnan(value)) return 0;
  return static_cast<int64_t>(std::floor(std::clamp(value, -1e15, 1e15)));
}

// The texel for an index that may lie outside; -1 where the border is.
int64_t bring_inside(int64_t index, int64_t size, Address mode) {
  switch (mode) {
    case Address::Wrap:
      return ((index % size) + size) % size;
    case Address::Mirror: {
      const int64_t period = ((index % (2 * size)) + 2 * size) % (2 * size);
      return period < size ? period : 2 * size - 1 - period;
    }
    case Address::Border:
      return index < 0 || index >= size ? -1 : index;
    case Address::Clamp:
      break;
  }
  return std::clamp<int64_t>(index, 0, size - 1);
}

// Wrapping and mirroring exist for normalised coordinates only; others are clamped.
Address mode_of(const TextureObject& t, int dimension) {
  const Address mode = t.address[dimension];
  if (!t.normalized_coordinates && (mode == Address::Wrap || mode == Address::Mirror))
    return Address::Clamp;
  return mode;
}

// A coordinate in texels, with what lies periods away brought near so that no precision is lost.
double in_texels(const TextureObject& t, float at, uint32_t size, Address mode) {
  if (!t.normalized_coordinates) return at;
  double value = at;
  if (mode == Address::Wrap) value -= std::floor(value);
  if (mode == Address::Mirror) value -= 2 * std::floor(value / 2);
  return value * size;
}

// Two neighbours along one dimension and the weight of the second, in 1/256.
struct Span {
  int64_t first = 0;
  int weight = 0;
};

Span linear_span(double texels) {
  const int64_t fixed = floor_to_integer(texels * kFraction + 0.5) - kFraction / 2;
  return {fixed >> 8, static_cast<int>(fixed & (kFraction - 1))};
}
Span point_span(double texels) {
  return {floor_to_integer(texels), 0};
}

// Weights of the eight texels round a position, x fastest, in 1/256. They are rounded so that they
// add up to `share`, which is 256 unless two mipmap levels take part: first the planes along z are
// shared out along x, then each share along y, as an H200 does.
using Weights = std::array<int, 8>;

Weights weights_of(const Span (&spans)[3], int share) {
  Weights weights{};
  for (size_t z = 0; z < 2; ++z) {
    const int upper = (share * spans[2].weight + kFraction / 2) / kFraction;
    const int plane = z != 0 ? upper : share - upper;
    const int right = (plane * spans[0].weight + kFraction / 2) / kFraction;
    const int left = plane - right;
    const int right_below = (right * spans[1].weight + kFraction / 2) / kFraction;
    const int left_below = (left * spans[1].weight + kFraction / 2 - 1) / kFraction;
    weights[4 * z] = left - left_below;
    weights[4 * z + 1] = right - right_below;
    weights[4 * z + 2] = left_below;
    weights[4 * z + 3] = right_below;
  }
  return weights;
}

// --- Cube faces ---------------------------------------------------------------------------------

struct FacePlace {
  int face = 0;
  double s = 0, t = 0;  // 0 ... 1
};

FacePlace face_of(double x, double y, double z) {
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  double major = az, s = z < 0 ? -x : x, t = -y;
  int face = z < 0 ? 5 : 4;
  if (ax > ay && ax > az) {
    face = x < 0 ? 1 : 0;
    major = ax, s = x < 0 ? z : -z, t = -y;
  } else if (ay > az) {
    face = y < 0 ? 3 : 2;
    major = ay, s = x, t = y < 0 ? -z : z;
  }
  if (major == 0) return {face, 0.5, 0.5};
  return {face, (s / major + 1) / 2, (t / major + 1) / 2};
}

// The direction of a point on a face, whose coordinates run from -1 to 1 and may lie beyond.
void direction_of(int face, double s, double t, double& x, double& y, double& z) {
  switch (face) {
    case 0:
      x = 1, y = -t, z = -s;
      return;
    case 1:
      x = -1, y = -t, z = s;
      return;
    case 2:
      x = s, y = 1, z = t;
      return;
    case 3:
      x = s, y = -1, z = -t;
      return;
    case 4:
      x = s, y = -t, z = 1;
      return;
    default:
      x = -s, y = -t, z = -1;
  }
}

// --- One level ----------------------------------------------------------------------------------

// Everything about a look-up that is the same for the texels of its footprint.
struct Look {
  const TextureObject& texture;
  const Level& level;
  int dimensions = 1;  // that are filtered: 2 on a face
  int64_t slice = 0;   // layer, or first face of the layer
  int face = -1;       // of a cube
  const int32_t* offset = nullptr;
  Reading reading = Reading::Plain;

  uint32_t size(int d) const { return d == 0 ? level.width : d == 1 ? level.height : level.depth; }

  Texel read(int64_t x, int64_t y, int64_t z) const {
    const auto* at =
        reinterpret_cast<const std::byte*>(level.data) + static_cast<uint64_t>(z) * level.slice +
        static_cast<uint64_t>(y) * level.pitch + static_cast<uint64_t>(x) * texture.texel_bytes();
    return decode(texture, at, reading);
  }
  int64_t clamped_slice(int64_t wanted) const {
    return std::clamp<int64_t>(wanted, 0, int64_t{level.depth} - 1);
  }

  // Beyond a corner there is no texel: the mean of the three that meet there stands for it.
  Texel corner(int64_t x, int64_t y) const {
    const int64_t last = int64_t{level.width} - 1;
    const int64_t near_x = std::clamp<int64_t>(x, 0, last),
                  near_y = std::clamp<int64_t>(y, 0, last);
    const Texel meeting[3] = {read_face(near_x, near_y), read_face(x, near_y),
                              read_face(near_x, y)};
    Texel mean;
    for (size_t c = 0; c < 4; ++c) {
      float sum = 0;
      for (const Texel& texel : meeting) sum += std::bit_cast<float>(texel[c]);
      mean[c] = std::bit_cast<uint32_t>(sum / 3);
    }
    return mean;
  }

  // Beyond one edge lies the face that continues there.
  Texel read_face(int64_t x, int64_t y) const {
    const int64_t size = level.width;
    const bool out_x = x < 0 || x >= size, out_y = y < 0 || y >= size;
    if (!texture.seamless_cube || (!out_x && !out_y))
      return read(std::clamp<int64_t>(x, 0, size - 1), std::clamp<int64_t>(y, 0, size - 1),
                  clamped_slice(slice + face));
    if (out_x && out_y) return corner(x, y);
    double dx, dy, dz;
    direction_of(face, (2 * static_cast<double>(x) + 1) / static_cast<double>(size) - 1,
                 (2 * static_cast<double>(y) + 1) / static_cast<double>(size) - 1, dx, dy, dz);
    const FacePlace there = face_of(dx, dy, dz);
    const auto index = [&](double at) {
      return std::clamp<int64_t>(floor_to_integer(at * static_cast<double>(size)), 0, size - 1);
    };
    return read(index(there.s), index(there.t), clamped_slice(slice + there.face));
  }

  Texel texel(const int64_t* wanted) const {
    if (face >= 0) return read_face(wanted[0] + offset[0], wanted[1] + offset[1]);
    int64_t at[3] = {0, 0, clamped_slice(slice)};
    for (int d = 0; d < dimensions; ++d) {
      at[d] = bring_inside(wanted[d] + offset[d], size(d), mode_of(texture, d));
      if (at[d] < 0) return border_texel(texture);
    }
    return read(at[0], at[1], at[2]);
  }

  // Filters hold the edge where positions are clamped.
  double texels(const TexturePlace& place, int d) const {
    const double position = raw_texels(place, d);
    if (reading == Reading::Plain || mode_of(texture, d) != Address::Clamp) return position;
    return std::clamp(position, 0.5, std::max(0.5, size(d) - 0.5));
  }
  double raw_texels(const TexturePlace& place, int d) const {
    return in_texels(texture, place.at[d], size(d), mode_of(texture, d));
  }
};

Look look(const TextureObject& t, const Level& level, const TexturePlace& place) {
  return {.texture = t,
          .level = level,
          .dimensions = place.dimensions,
          .slice = place.layer,
          .offset = place.offset};
}

// Positions along each dimension, in texels; for a cube, on the face that it chooses.
void locate(Look& where, const TexturePlace& place, double (&texels)[3]) {
  if (place.cube) {
    const FacePlace on = face_of(place.at[0], place.at[1], place.at[2]);
    where.dimensions = 2;
    where.face = on.face;
    const int64_t last = int64_t{where.level.depth} / TextureObject::kFaces - 1;
    where.slice =
        std::clamp<int64_t>(where.slice, 0, std::max<int64_t>(last, 0)) * TextureObject::kFaces;
    texels[0] = on.s * where.level.width;
    texels[1] = on.t * where.level.height;
    return;
  }
  for (int d = 0; d < place.dimensions; ++d) texels[d] = where.texels(place, d);
}

// What a level adds to the filter's sums. `share` of 256 falls to it.
void add_level(const TextureObject& t, const Level& level, const TexturePlace& place, int share,
               double (&sums)[4]) {
  Look where = look(t, level, place);
  where.reading = Reading::ForFilter;
  double texels[3] = {};
  locate(where, place, texels);
  Span spans[3];
  for (int d = 0; d < where.dimensions; ++d)
    spans[d] = t.linear_filter ? linear_span(texels[d]) : point_span(texels[d]);
  // A line is filtered as a plane one texel high whose middle is not met: its borders count.
  if (place.dimensions == 1 && t.linear_filter && t.address[1] == Address::Border) {
    spans[1] = linear_span(0);
    where.dimensions = 2;
  }
  const Weights weights = weights_of(spans, share);
  for (int corner = 0; corner < 1 << where.dimensions; ++corner) {
    const int weight = weights[static_cast<size_t>(corner)];
    if (weight == 0) continue;
    int64_t at[3] = {};
    for (int d = 0; d < where.dimensions; ++d) at[d] = spans[d].first + (corner >> d & 1);
    const Texel texel = where.texel(at);
    for (size_t c = 0; c < 4; ++c)
      sums[c] += weight * in_filter(t, c, std::bit_cast<float>(texel[c]));
  }
}

Texel point_in_level(const TextureObject& t, const Level& level, const TexturePlace& place) {
  Look where = look(t, level, place);
  double texels[3] = {};
  locate(where, place, texels);
  int64_t at[3] = {};
  for (int d = 0; d < where.dimensions; ++d) at[d] = point_span(texels[d]).first;
  return where.texel(at);
}

// Where a level of detail falls: between two levels, `weight` of 256 to the second.
struct LevelSpan {
  uint32_t first = 0;
  int weight = 0;
};

LevelSpan level_span(const TextureObject& t, float lod) {
  if (t.level_count == 1) return {};
  const float last = static_cast<float>(t.level_count - 1);
  float level = std::max(t.least_level, std::min(lod + t.level_bias, t.largest_level));
  level = std::isnan(level) ? 0.0f : std::clamp(level, 0.0f, last);
  if (!t.linear_mipmaps) return {static_cast<uint32_t>(floor_to_integer(level + 0.5))};
  const auto fixed = static_cast<uint32_t>(floor_to_integer(double{level} * kFraction));
  return {fixed / kFraction, static_cast<int>(fixed % kFraction)};
}

}  // namespace

Texel sample(const TextureObject& t, const TexturePlace& place, float lod) {
  const LevelSpan span = level_span(t, lod);
  const bool blends = reads_floats(t) && (t.linear_filter || span.weight != 0);
  if (!blends) return point_in_level(t, t.levels[span.first], place);
  double sums[4] = {};
  add_level(t, t.levels[span.first], place, kFraction - span.weight, sums);
  if (span.weight != 0) add_level(t, t.levels[span.first + 1], place, span.weight, sums);
  Texel result{};
  for (size_t c = 0; c < 4; ++c) result[c] = filtered(t, c, sums[c]);
  return result;
}

float level_of_gradients(const TextureObject& t, int dimensions, const float* dx, const float* dy) {
  double longest = 0;
  for (const float* gradient : {dx, dy}) {
    double length = 0;
    for (int d = 0; d < dimensions; ++d) {
      const Level& level = t.levels[0];
      const uint32_t size = d == 0 ? level.width : d == 1 ? level.height : level.depth;
      const double texels = double{gradient[d]} * (t.normalized_coordinates ? size : 1);
      length += texels * texels;
    }
    longest = std::max(longest, std::sqrt(length));
  }
  return longest > 0 ? static_cast<float>(std::log2(longest)) : -126.0f;
}

Texel fetch(const TextureObject& t, const TexturePlace& place, const int32_t* at, int64_t number) {
  if (number < 0 || number >= t.level_count) return {};
  const Level& level = t.levels[number];
  const Look where = look(t, level, place);
  if (place.dimensions < 3 && place.layer >= int64_t{level.depth}) return {};
  int64_t index[3] = {0, 0, place.layer};
  for (int d = 0; d < place.dimensions; ++d) {
    index[d] = int64_t{at[d]} + place.offset[d];
    if (t.level_count > 1) index[d] = std::clamp<int64_t>(index[d], 0, where.size(d) - 1);
    if (index[d] < 0 || index[d] >= where.size(d)) return {};
  }
  return where.read(index[0], index[1], index[2]);
}

Texel gather(const TextureObject& t, const TexturePlace& place, int channel) {
  Look where = look(t, t.levels[0], place);
  double texels[3] = {};
  locate(where, place, texels);
  const int64_t x = linear_span(texels[0]).first, y = linear_span(texels[1]).first;
  const int64_t corners[4][3] = {{x, y + 1, 0}, {x + 1, y + 1, 0}, {x + 1, y, 0}, {x, y, 0}};
  Texel result;
  for (size_t k = 0; k < 4; ++k) result[k] = where.texel(corners[k])[static_cast<size_t>(channel)];
  return result;
}

}  // namespace weft::emulator
