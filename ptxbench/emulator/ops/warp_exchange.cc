// SPDX-License-Identifier: Apache-2.0

// Instructions by which lanes of a warp exchange values (PTX ISA 9.7.9.5, 9.7.13.9 to 9.7.13.15):
// shfl, vote, match, redux, elect and activemask.
//
// The `.sync` forms wait until every live lane of their member mask has come. Each lane names its
// mask, so one execution may serve several groups that do not overlap.

#include <algorithm>

#include "ptxbench/emulator/numeric/float_values.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using ptx::Instruction;

// The member mask is a constant in the low half of Op::immediate, or Op::small is the slot of one
// mask per lane. The upper half of Op::immediate is the slot of a second destination.
Slot second_destination(const Op& op) {
  return static_cast<Slot>(static_cast<uint64_t>(op.immediate) >> 32);
}

// Everyone that the executing lanes wait for.
LaneMask members(const Warp& warp, const Op& op, LaneMask exec) {
  if (op.small == kNoSlot) return static_cast<LaneMask>(op.immediate);
  const LaneMask* masks = warp.read<LaneMask>(op.small);
  LaneMask all = 0;
  for_lanes(exec, [&](int lane) { all |= masks[lane]; });
  return all;
}

// Calls f(group) for each set of executing lanes that name the same mask.
template <typename F>
void for_groups(const Warp& warp, const Op& op, LaneMask exec, F&& f) {
  if (op.small == kNoSlot) {
    f(exec & static_cast<LaneMask>(op.immediate));
    return;
  }
  const LaneMask* masks = warp.read<LaneMask>(op.small);
  for (LaneMask rest = exec; rest != 0;) {
    const LaneMask mask = masks[first_lane(rest)];
    LaneMask group = 0;
    for_lanes(rest, [&](int lane) { group |= masks[lane] == mask ? LaneMask{1} << lane : 0; });
    f(group);
    rest &= ~group;
  }
}

// Operand `index` as the member mask of the op that is emitted last.
struct Members {
  Slot slot = kNoSlot;
  LaneMask constant = kAllLanes;
};

Result<Members> member_operand(Lowering& l, const Instruction& i, size_t index) {
  if (const auto value = l.constant(i.operands[index]))
    return Members{.slot = kNoSlot, .constant = static_cast<LaneMask>(*value)};
  return Members{.slot = TRY(l.source(i.operands[index], Type::B32)), .constant = 0};
}

void set_members(Op& op, const Members& members, Slot second) {
  op.small = members.slot;
  op.immediate = static_cast<int64_t>(uint64_t{second} << 32 | members.constant);
}

// Without `.sync` nobody is waited for.
constexpr Members kNobody = {.slot = kNoSlot, .constant = 0};

// `d|p`, or d alone.
struct Destinations {
  const ptx::Operand* first = nullptr;
  const ptx::Operand* second = nullptr;
};

Destinations destinations(const Instruction& i) {
  if (const auto* pair = std::get_if<ptx::PairOperand>(&i.operands[0].value))
    return {&pair->elements[0], &pair->elements[1]};
  return {&i.operands[0], nullptr};
}

Result<Slot> optional_predicate(Lowering& l, const ptx::Operand* operand) {
  if (operand == nullptr) return Slot{kNoSlot};
  return l.predicate_destination(*operand);
}

// --- shfl ----------------------------------------------------------------------------------------

enum class Shuffle { Up, Down, Butterfly, Index };

template <Shuffle kMode>
Outcome shuffle(Warp& warp, const Op& op, LaneMask exec) {
  const LaneMask wanted = members(warp, op, exec);
  if (!warp.converged(wanted)) return warp.retry(Split::Wait::WarpSync, wanted);
  const uint32_t* a = warp.read<uint32_t>(op.a);
  const uint32_t* b = warp.read<uint32_t>(op.b);
  const uint32_t* c = warp.read<uint32_t>(op.c);
  alignas(64) int32_t from[kLanes];
  alignas(64) uint32_t inside[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto step = static_cast<int32_t>(b[lane] & 31),
               clamp = static_cast<int32_t>(c[lane] & 31);
    const auto segment = static_cast<int32_t>(c[lane] >> 8 & 31);
    const int32_t least = lane & segment, most = least | (clamp & ~segment);
    int32_t source = 0;
    switch (kMode) {
      case Shuffle::Up:
        source = lane - step;
        break;
      case Shuffle::Down:
        source = lane + step;
        break;
      case Shuffle::Butterfly:
        source = lane ^ step;
        break;
      case Shuffle::Index:
        source = least | (step & ~segment);
        break;
    }
    const bool in_range = kMode == Shuffle::Up ? source >= most : source <= most;
    from[lane] = in_range ? source : lane;
    inside[lane] = in_range ? 1 : 0;
  }
  alignas(64) uint32_t value[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) value[lane] = a[from[lane] & 31];
  merge_lanes(exec, warp.write<uint32_t>(op.d), value);
  if (const Slot p = second_destination(op); p != kNoSlot) {
    LaneMask mask = 0;
    for (int lane = 0; lane < kLanes; ++lane) mask |= inside[lane] << lane;
    merge_predicate(exec, warp.predicate(p), mask);
  }
  return Outcome::Next;
}

Result<Done> lower_shuffle(Lowering& l, const Instruction& i) {
  const bool sync = i.has("sync");
  if (i.operands.size() != (sync ? 5u : 4u)) return no_such_form(l, i);
  const Handler handler = i.has("up")     ? shuffle<Shuffle::Up>
                          : i.has("down") ? shuffle<Shuffle::Down>
                          : i.has("bfly") ? shuffle<Shuffle::Butterfly>
                                          : shuffle<Shuffle::Index>;
  const Slot a = TRY(l.source(i.operands[1], Type::B32));
  const Slot b = TRY(l.source(i.operands[2], Type::B32));
  const Slot c = TRY(l.source(i.operands[3], Type::B32));
  Members mask = kNobody;
  if (sync) mask = TRY(member_operand(l, i, 4));
  const Destinations to = destinations(i);
  const Slot d = TRY(l.destination(*to.first, Type::B32));
  const Slot p = TRY(optional_predicate(l, to.second));
  Op& op = l.emit(handler);
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = c;
  set_members(op, mask, p);
  return Done{};
}

// --- vote ----------------------------------------------------------------------------------------

enum class Vote { All, Any, Uniform, Ballot };

// c holds the flip of the source predicate: kAllLanes for !p.
template <Vote kVote, bool kSync>
Outcome vote(Warp& warp, const Op& op, LaneMask exec) {
  const LaneMask wanted = members(warp, op, exec);
  if (kSync && !warp.converged(wanted)) return warp.retry(Split::Wait::WarpSync, wanted);
  const LaneMask value = warp.predicate_value(op.a) ^ op.c;
  const auto count = [&](LaneMask group) {
    const LaneMask yes = value & group;
    if constexpr (kVote == Vote::Ballot) {
      uint32_t* d = warp.write<uint32_t>(op.d);
      for (int lane = 0; lane < kLanes; ++lane) d[lane] = group >> lane & 1 ? yes : d[lane];
    } else {
      const bool result = kVote == Vote::All   ? yes == group
                          : kVote == Vote::Any ? yes != 0
                                               : yes == 0 || yes == group;
      merge_predicate(group, warp.predicate(op.d), result ? kAllLanes : 0);
    }
  };
  if constexpr (kSync)
    for_groups(warp, op, exec, count);
  else
    count(exec);
  return Outcome::Next;
}

template <Vote kVote>
Handler vote_handler(bool sync) {
  return sync ? vote<kVote, true> : vote<kVote, false>;
}

Result<Done> lower_vote(Lowering& l, const Instruction& i) {
  const bool sync = i.has("sync"), ballot = i.has("ballot");
  if (i.operands.size() != (sync ? 3u : 2u)) return no_such_form(l, i);
  const auto a = TRY(l.predicate_source(i.operands[1]));
  Members mask = kNobody;
  if (sync) mask = TRY(member_operand(l, i, 2));
  Slot d = kNoSlot;
  if (ballot)
    d = TRY(l.destination(i.operands[0], Type::B32));
  else
    d = TRY(l.predicate_destination(i.operands[0]));
  Op& op = l.emit(ballot         ? vote_handler<Vote::Ballot>(sync)
                  : i.has("all") ? vote_handler<Vote::All>(sync)
                  : i.has("any") ? vote_handler<Vote::Any>(sync)
                                 : vote_handler<Vote::Uniform>(sync));
  op.d = d;
  op.a = a.slot;
  op.c = a.flip;
  set_members(op, mask, kNoSlot);
  return Done{};
}

// The lanes that run this instruction now, with their guard true.
Outcome active_mask(Warp& warp, const Op& op, LaneMask exec) {
  uint32_t* d = warp.write<uint32_t>(op.d);
  for (int lane = 0; lane < kLanes; ++lane) d[lane] = exec >> lane & 1 ? exec : d[lane];
  return Outcome::Next;
}

Result<Done> lower_active_mask(Lowering& l, const Instruction& i) {
  const Slot d = TRY(l.destination(i.operands[0], Type::B32));
  Op& op = l.emit(active_mask);
  op.d = d;
  return Done{};
}

// --- match ---------------------------------------------------------------------------------------

template <typename T, bool kAll>
Outcome match(Warp& warp, const Op& op, LaneMask exec) {
  const LaneMask wanted = members(warp, op, exec);
  if (!warp.converged(wanted)) return warp.retry(Split::Wait::WarpSync, wanted);
  alignas(64) T value[kLanes];
  std::copy_n(warp.read<T>(op.a), kLanes, value);
  uint32_t* d = warp.write<uint32_t>(op.d);
  const Slot p = second_destination(op);
  for_groups(warp, op, exec, [&](LaneMask group) {
    LaneMask uniform = kAllLanes;
    for (LaneMask rest = group; rest != 0;) {
      const T chosen = value[first_lane(rest)];
      LaneMask same = 0;
      for_lanes(rest, [&](int lane) { same |= value[lane] == chosen ? LaneMask{1} << lane : 0; });
      if (same != group) uniform = 0;
      const LaneMask result = kAll ? (same == group ? group : 0) : same;
      for_lanes(same, [&](int lane) { d[lane] = result; });
      rest &= ~same;
    }
    if (kAll && p != kNoSlot) merge_predicate(group, warp.predicate(p), uniform);
  });
  return Outcome::Next;
}

Result<Done> lower_match(Lowering& l, const Instruction& i) {
  if (i.operands.size() != 3) return no_such_form(l, i);
  const Type type = first_type(i);
  const bool all = i.has("all"), wide = isa::bits(type) == 64;
  const Slot a = TRY(l.source(i.operands[1], type));
  const Members mask = TRY(member_operand(l, i, 2));
  const Destinations to = destinations(i);
  const Slot d = TRY(l.destination(*to.first, Type::B32));
  const Slot p = TRY(optional_predicate(l, to.second));
  Op& op = l.emit(all ? (wide ? match<uint64_t, true> : match<uint32_t, true>)
                      : (wide ? match<uint64_t, false> : match<uint32_t, false>));
  op.d = d;
  op.a = a;
  set_members(op, mask, p);
  return Done{};
}

// --- redux ---------------------------------------------------------------------------------------

struct SumOf {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct AndOf {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a & b; }
};
struct OrOf {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct XorOf {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; }
};
template <typename T>
struct LeastOf {
  T operator()(T a, T b) const { return std::min(a, b); }
};
template <typename T>
struct MostOf {
  T operator()(T a, T b) const { return std::max(a, b); }
};
// The f32 forms compare like min.f32 and max.f32, with `.abs` on magnitudes.
template <numeric::Extremum kExtremum, bool kAbsolute, bool kNan>
struct FloatOf {
  float operator()(float a, float b) const {
    return numeric::extremum<kExtremum>(a, b, {.nan = kNan, .absolute = kAbsolute});
  }
};

template <typename T, typename Combine>
Outcome reduce(Warp& warp, const Op& op, LaneMask exec) {
  const LaneMask wanted = members(warp, op, exec);
  if (!warp.converged(wanted)) return warp.retry(Split::Wait::WarpSync, wanted);
  alignas(64) T value[kLanes];
  std::copy_n(warp.read<T>(op.a), kLanes, value);
  T* d = warp.write<T>(op.d);
  for_groups(warp, op, exec, [&](LaneMask group) {
    if (group == 0) return;
    T result = value[first_lane(group)];
    // The first lane is combined with itself when it is the only one, which `.abs` and NaN need.
    if ((group & (group - 1)) == 0 && std::is_same_v<T, float>) result = Combine{}(result, result);
    for_lanes(group & (group - 1), [&](int lane) { result = Combine{}(result, value[lane]); });
    for_lanes(group, [&](int lane) { d[lane] = result; });
  });
  return Outcome::Next;
}

template <numeric::Extremum kExtremum>
Handler float_reduction(bool absolute, bool nan) {
  if (absolute)
    return nan ? reduce<float, FloatOf<kExtremum, true, true>>
               : reduce<float, FloatOf<kExtremum, true, false>>;
  return nan ? reduce<float, FloatOf<kExtremum, false, true>>
             : reduce<float, FloatOf<kExtremum, false, false>>;
}

Handler reduction(const Instruction& i, Type type) {
  if (i.has("and")) return reduce<uint32_t, AndOf>;
  if (i.has("or")) return reduce<uint32_t, OrOf>;
  if (i.has("xor")) return reduce<uint32_t, XorOf>;
  if (i.has("add")) return reduce<uint32_t, SumOf>;
  const bool least = i.has("min");
  if (!least && !i.has("max")) return nullptr;
  switch (type) {
    case Type::U32:
      return least ? reduce<uint32_t, LeastOf<uint32_t>> : reduce<uint32_t, MostOf<uint32_t>>;
    case Type::S32:
      return least ? reduce<int32_t, LeastOf<int32_t>> : reduce<int32_t, MostOf<int32_t>>;
    case Type::F32:
      return least ? float_reduction<numeric::Extremum::Minimum>(i.has("abs"), i.has("NaN"))
                   : float_reduction<numeric::Extremum::Maximum>(i.has("abs"), i.has("NaN"));
    default:
      return nullptr;
  }
}

Result<Done> lower_reduction(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  const Handler handler = reduction(i, type);
  if (handler == nullptr || i.operands.size() != 3) return no_such_form(l, i);
  const Slot a = TRY(l.source(i.operands[1], type));
  const Members mask = TRY(member_operand(l, i, 2));
  const Slot d = TRY(l.destination(i.operands[0], type));
  Op& op = l.emit(handler);
  op.d = d;
  op.a = a;
  set_members(op, mask, kNoSlot);
  return Done{};
}

// --- elect ---------------------------------------------------------------------------------------

// The hardware elects the lowest lane of the mask.
Outcome elect(Warp& warp, const Op& op, LaneMask exec) {
  const LaneMask wanted = members(warp, op, exec);
  if (!warp.converged(wanted)) return warp.retry(Split::Wait::WarpSync, wanted);
  LaneMask leaders = 0;
  uint32_t* d = op.d == kNoSlot ? nullptr : warp.write<uint32_t>(op.d);
  for_groups(warp, op, exec, [&](LaneMask group) {
    if (group == 0) return;
    const int leader = first_lane(group);
    leaders |= LaneMask{1} << leader;
    if (d != nullptr) for_lanes(group, [&](int lane) { d[lane] = static_cast<uint32_t>(leader); });
  });
  merge_predicate(exec, warp.predicate(second_destination(op)), leaders);
  return Outcome::Next;
}

Result<Done> lower_elect(Lowering& l, const Instruction& i) {
  const Destinations to = destinations(i);
  if (i.operands.size() != 2 || to.second == nullptr) return no_such_form(l, i);
  const Members mask = TRY(member_operand(l, i, 1));
  const Slot d = TRY(l.destination(*to.first, Type::B32));
  const Slot p = TRY(l.predicate_destination(*to.second));
  Op& op = l.emit(elect);
  op.d = d;
  set_members(op, mask, p);
  return Done{};
}

constexpr Meaning kMeanings[] = {
    {"shfl", lower_shuffle}, {"vote", lower_vote},       {"activemask", lower_active_mask},
    {"match", lower_match},  {"redux", lower_reduction}, {"elect", lower_elect},
};

}  // namespace

std::span<const Meaning> warp_exchange_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
