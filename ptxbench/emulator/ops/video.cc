// SPDX-License-Identifier: Apache-2.0

// Video instructions (PTX ISA 9.7.18): one number from each source (vadd, vmad, ...), or two halves
// or four bytes at once (vadd2, vadd4, ...), then a merge with or an accumulation into the third
// source. They are rare on current devices, which emulate most of them, so one handler reads the
// form as it runs.

#include <array>
#include <memory>

#include "ptxbench/emulator/numeric/video.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using numeric::Part;
using numeric::Video;
using numeric::VideoRelation;
using ptx::Instruction;

enum class Secondary : uint8_t { Merge, Add, Minimum, Maximum };

// An instruction computes `count` results, each from one part of a and one of b.
struct VideoForm final : Extra {
  Video operation = Video::Add;
  VideoRelation relation = VideoRelation::Equal;
  Secondary secondary = Secondary::Merge;
  bool saturate = false;
  bool wrap_shift = false;
  bool multiply = false;  // vmad
  bool plus_one = false;  // vmad.po
  int scale = 0;          // vmad: bits that the sum is shifted right by
  bool result_signed = false;
  int count = 1;
  std::array<Part, 4> a, b;  // of the pair b:a for packed forms, of one register else
  std::array<Part, 4> d;     // where each result goes
  std::array<bool, 4> written = {true, true, true, true};
  bool packed = false;
};

uint32_t combine(const VideoForm& form, int64_t value, uint32_t c) {
  const auto low = static_cast<uint32_t>(value);
  switch (form.secondary) {
    case Secondary::Add:
      return low + c;
    case Secondary::Minimum:
    case Secondary::Maximum: {
      const Part whole = {.shift = 0, .width = 32, .is_signed = form.result_signed};
      const int64_t x = whole.of(low), y = whole.of(c);
      return static_cast<uint32_t>(form.secondary == Secondary::Minimum ? std::min(x, y)
                                                                        : std::max(x, y));
    }
    default:
      return low;
  }
}

uint32_t evaluate(const VideoForm& form, uint32_t a, uint32_t b, uint32_t c) {
  if (form.multiply) {
    __int128 sum = static_cast<__int128>(form.a[0].of(a)) * form.b[0].of(b);
    const Part addend = {.shift = 0, .width = 32, .is_signed = form.result_signed};
    sum = (sum + addend.of(c) + (form.plus_one ? 1 : 0)) >> form.scale;
    const auto value = static_cast<int64_t>(sum);
    return static_cast<uint32_t>(form.saturate ? addend.clamp(value) : value);
  }
  const uint64_t pair = uint64_t{b} << 32 | a;
  uint32_t d = c;
  for (int i = 0; i < form.count; ++i) {
    if (!form.written[i]) continue;
    const int64_t x = form.a[i].of(form.packed ? pair : a);
    int64_t y = form.b[i].of(form.packed ? pair : b);
    if (form.operation == Video::ShiftLeft || form.operation == Video::ShiftRight)
      y = form.wrap_shift ? y & 31 : std::min<int64_t>(y, 32);
    int64_t value = numeric::video_value(form.operation, form.relation, x, y);
    if (form.saturate) value = form.d[i].clamp(value);
    if (form.secondary != Secondary::Merge)
      d = combine(form, value, d);
    else
      d = (d & ~form.d[i].mask()) |
          (static_cast<uint32_t>(value << form.d[i].shift) & form.d[i].mask());
  }
  return d;
}

Outcome run_video(Warp& warp, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const VideoForm*>(op.extra);
  const uint32_t* a = warp.read<uint32_t>(op.a);
  const uint32_t* b = warp.read<uint32_t>(op.b);
  const uint32_t* c = warp.read<uint32_t>(op.c);
  uint32_t* d = warp.write<uint32_t>(op.d);
  for_lanes(exec, [&](int lane) { d[lane] = evaluate(form, a[lane], b[lane], c[lane]); });
  return Outcome::Next;
}

// "b2" -> bits 16 to 23, "h1" -> bits 16 to 31, nothing -> the whole register.
Part scalar_part(std::string_view selector, bool is_signed) {
  if (selector.size() < 2) return {.shift = 0, .width = 32, .is_signed = is_signed};
  const uint8_t width = selector[0] == 'h' ? 16 : 8;
  return {.shift = static_cast<uint8_t>((selector[1] - '0') * width),
          .width = width,
          .is_signed = is_signed};
}

// "h32" or "b7654": the part for each result, the first digit for the highest.
std::array<Part, 4> packed_parts(std::string_view selector, std::string_view usual,
                                 bool is_signed) {
  const std::string_view digits = selector.size() > 1 ? selector.substr(1) : usual;
  const auto count = digits.size();
  const auto width = static_cast<uint8_t>(32 / count);
  std::array<Part, 4> parts;
  for (size_t i = 0; i < count; ++i) {
    const int digit = digits[count - 1 - i] - '0';
    parts[i] = {
        .shift = static_cast<uint8_t>(digit * width), .width = width, .is_signed = is_signed};
  }
  return parts;
}

// vadd, vadd2 and vadd4 share the name before the digit.
struct Named {
  std::string_view name;
  Video operation;
};
constexpr Named kOperations[] = {
    {"vadd", Video::Add},       {"vsub", Video::Subtract},
    {"vavrg", Video::Average},  {"vabsdiff", Video::AbsoluteDifference},
    {"vmin", Video::Minimum},   {"vmax", Video::Maximum},
    {"vshl", Video::ShiftLeft}, {"vshr", Video::ShiftRight},
    {"vset", Video::Compare},   {"vmad", Video::Add},
};

VideoRelation relation_of(const Instruction& i) {
  if (i.has("ne")) return VideoRelation::NotEqual;
  if (i.has("lt")) return VideoRelation::Less;
  if (i.has("le")) return VideoRelation::LessEqual;
  if (i.has("gt")) return VideoRelation::Greater;
  if (i.has("ge")) return VideoRelation::GreaterEqual;
  return VideoRelation::Equal;
}

std::string_view selector_of(const Instruction& i, size_t operand) {
  const auto* reg = std::get_if<ptx::RegisterOperand>(&i.operands[operand].value);
  return reg != nullptr ? reg->selector : std::string_view{};
}

Result<Done> lower_video(Lowering& l, const Instruction& i) {
  std::string_view name = i.opcode;
  int count = 1;
  if (name.back() == '2' || name.back() == '4') {
    count = name.back() - '0';
    name.remove_suffix(1);
  }
  const Named* named = nullptr;
  for (const Named& candidate : kOperations)
    if (candidate.name == name) named = &candidate;
  const bool compares = name == "vset";
  if (named == nullptr || i.operands.size() < 3 || i.types.size() != (compares ? 2u : 3u))
    return no_such_form(l, i);
  // vset has no result type: its results are 0 and 1.
  const Type result = compares ? Type::U32 : i.types[0];
  const Type a_type = i.types[compares ? 0 : 1], b_type = i.types[compares ? 1 : 2];

  auto form = std::make_unique<VideoForm>();
  form->operation = named->operation;
  form->relation = relation_of(i);
  form->saturate = i.has("sat");
  form->wrap_shift = i.has("wrap");
  form->multiply = name == "vmad";
  form->plus_one = i.has("po");
  form->scale = i.has("shr7") ? 7 : i.has("shr15") ? 15 : 0;
  form->count = count;
  form->packed = count > 1;
  form->result_signed = isa::is_signed(result);
  const bool a_signed = isa::is_signed(a_type), b_signed = isa::is_signed(b_type);
  if (form->multiply) form->result_signed = a_signed || b_signed;
  if (i.has("add"))
    form->secondary = Secondary::Add;
  else if (i.has("min"))
    form->secondary = Secondary::Minimum;
  else if (i.has("max"))
    form->secondary = Secondary::Maximum;

  const std::string_view d_selector = selector_of(i, 0);
  if (count == 1) {
    form->a[0] = scalar_part(selector_of(i, 1), a_signed);
    form->b[0] = scalar_part(selector_of(i, 2), b_signed);
    form->d[0] = scalar_part(d_selector, form->result_signed);
  } else {
    form->a = packed_parts(selector_of(i, 1), count == 2 ? "10" : "3210", a_signed);
    form->b = packed_parts(selector_of(i, 2), count == 2 ? "32" : "7654", b_signed);
    form->d = packed_parts({}, count == 2 ? "10" : "3210", form->result_signed);
    for (int part = 0; part < count; ++part)
      form->written[part] = d_selector.empty() || d_selector.find(static_cast<char>('0' + part)) !=
                                                      std::string_view::npos;
  }

  const Slot a = TRY(l.source(i.operands[1], Type::B32));
  const Slot b = TRY(l.source(i.operands[2], Type::B32));
  const Slot c =
      i.operands.size() > 3 ? TRY(l.source(i.operands[3], Type::B32)) : l.broadcast(uint32_t{0});
  const Slot d = TRY(l.destination(i.operands[0], Type::B32));
  const VideoForm* kept = l.keep(std::move(form));
  Op& op = l.emit(run_video);
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = c;
  op.extra = kept;
  return Done{};
}

constexpr Meaning kMeanings[] = {
    {"vadd", lower_video},      {"vsub", lower_video},      {"vabsdiff", lower_video},
    {"vmin", lower_video},      {"vmax", lower_video},      {"vshl", lower_video},
    {"vshr", lower_video},      {"vmad", lower_video},      {"vset", lower_video},
    {"vadd2", lower_video},     {"vsub2", lower_video},     {"vavrg2", lower_video},
    {"vabsdiff2", lower_video}, {"vmin2", lower_video},     {"vmax2", lower_video},
    {"vset2", lower_video},     {"vadd4", lower_video},     {"vsub4", lower_video},
    {"vavrg4", lower_video},    {"vabsdiff4", lower_video}, {"vmin4", lower_video},
    {"vmax4", lower_video},     {"vset4", lower_video},
};

}  // namespace

std::span<const Meaning> video_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
