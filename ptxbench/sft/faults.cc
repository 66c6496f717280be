// SPDX-License-Identifier: Apache-2.0

// A finder is a few lines over calls or tokens. Names are matched by their parts ("barrier_wait"
// has "wait"), inline assembly by its text, since every author has other wrappers for the same
// instructions.
#include "ptxbench/sft/faults.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <initializer_list>

namespace weft::sft {
namespace {

using Sites = std::vector<Site>;
using Words = std::initializer_list<std::string_view>;

// How a fault that is no compile error may show.
constexpr std::string_view kWrongValues = "incorrect";
constexpr std::string_view kSynchronisation =
    "incorrect|timeout|fault: deadlock|fault: invalid use of a barrier|fault: register of a wgmma "
    "in flight|"
    "fault: aligned instruction in diverged code|fault: out of bounds|fault: invalid descriptor";
constexpr std::string_view kAddressing =
    "incorrect|fault: out of bounds|fault: misaligned address|fault: invalid descriptor|"
    "fault: invalid operands|fault: deadlock|fault: invalid use of a barrier|runtime error";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool has_any(std::string_view text, Words words) {
  const std::string small = lower(text);
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return small.find(word) != small.npos; });
}

Site replace(const CudaText& text, size_t from, size_t to, std::string replacement) {
  const std::string_view old = text.between(from, to);
  const Token& first = text.tokens()[from];
  return {first.offset, old.size(), std::move(replacement), first.line};
}

// Statements that call something with one of `words` and none of `others` in its name.
Sites removed_calls(const CudaText& text, Words words, Words others = {}) {
  Sites sites;
  for (const Call& call : text.calls())
    if (call.statement && has_any(call.name, words) && !has_any(call.name, others))
      sites.push_back(replace(text, call.first, call.last + 1, ""));
  return sites;
}

// Argument number `index` (from the end when negative) of such calls becomes `change`(argument);
// an empty answer leaves it.
Sites changed_arguments(const CudaText& text, Words words, Words others, int index,
                        const std::function<std::string(std::string_view)>& change) {
  Sites sites;
  for (const Call& call : text.calls()) {
    const int count = static_cast<int>(call.arguments.size());
    const int at = index < 0 ? count + index : index;
    if (at < 0 || at >= count || !has_any(call.name, words) || has_any(call.name, others)) continue;
    // "int stage" is a parameter of a declaration; "stage" is an argument.
    const auto [from, to] = call.arguments[at];
    if (to - from >= 2 && text.tokens()[from].kind == TokenKind::Word &&
        text.tokens()[from + 1].kind == TokenKind::Word)
      continue;
    const std::string after = change(text.between(from, to));
    if (!after.empty()) sites.push_back(replace(text, from, to, after));
  }
  return sites;
}

std::string more_by(std::string_view argument, std::string_view amount) {
  return "(" + std::string(argument) + ") + " + std::string(amount);
}

// Every place where `matches(i)` says what the token becomes; empty: it stays.
Sites changed_tokens(const CudaText& text, const std::function<std::string(size_t)>& matches) {
  Sites sites;
  for (size_t i = 1; i + 1 < text.tokens().size(); ++i) {
    const std::string after = matches(i);
    if (!after.empty()) sites.push_back(replace(text, i, i + 1, after));
  }
  return sites;
}

// Whether the token stands inside the parentheses of if, while or the middle of a for.
bool in_parentheses_of(const CudaText& text, size_t token, Words keywords) {
  for (size_t open = text.enclosing(token); open < text.tokens().size();
       open = text.enclosing(open)) {
    if (text.tokens()[open].is("{")) return false;
    if (text.tokens()[open].is("(") && open > 0)
      for (const std::string_view keyword : keywords)
        if (text.tokens()[open - 1].is(keyword)) return true;
  }
  return false;
}

bool is_operand(const Token& token) {
  return token.kind == TokenKind::Word || token.kind == TokenKind::Number || token.is(")") ||
         token.is("]");
}

// A number that computes an address: not a size in a declaration.
Sites shifted_index(const CudaText& text) {
  Sites sites;
  for (size_t i = 1; i < text.tokens().size(); ++i) {
    const size_t close = text.partner(i);
    if (!text.tokens()[i].is("[") || close <= i + 2 || !is_operand(text.tokens()[i - 1])) continue;
    // "float s[kHead];" declares, "[&](...)" captures; what computes has a sign in it.
    const std::string_view inside = text.between(i + 1, close);
    if (inside.find_first_of("*+") == inside.npos) continue;
    sites.push_back(replace(text, i + 1, close, more_by(inside, "1")));
  }
  return sites;
}

Sites wrong_coordinate(const CudaText& text) {
  return changed_tokens(text, [&](size_t i) -> std::string {
    const Token& token = text.tokens()[i];
    if (text.tokens()[i - 1].is("operator") || !is_operand(text.tokens()[i - 1])) return "";
    const bool literal = text.tokens()[i + 1].kind == TokenKind::Number;
    if (token.is("%") && literal) return "/";
    if (token.is("/") && literal) return "%";
    return "";
  });
}

Sites missing_bound(const CudaText& text) {
  Sites sites;
  for (size_t i = 0; i + 1 < text.tokens().size(); ++i) {
    const Token& token = text.tokens()[i];
    // if (column >= n) return;
    if (token.is("if") && text.tokens()[i + 1].is("(")) {
      const size_t close = text.partner(i + 1);
      if (close + 2 < text.tokens().size() && text.tokens()[close + 1].is("return") &&
          text.tokens()[close + 2].is(";"))
        sites.push_back(replace(text, i, close + 3, ""));
    }
    // row < m && column < n: one of the two.
    if (i >= 3 && token.is("&&") && text.tokens()[i - 2].is("<") &&
        is_operand(text.tokens()[i - 1]) && text.tokens()[i - 3].kind == TokenKind::Word)
      sites.push_back(replace(text, i - 3, i, "true"));
    if (token.is("&&") && i + 3 < text.tokens().size() && text.tokens()[i + 2].is("<") &&
        is_operand(text.tokens()[i + 3]))
      sites.push_back(replace(text, i + 1, i + 4, "true"));
  }
  return sites;
}

Sites wrong_predicate(const CudaText& text) {
  return changed_tokens(text, [&](size_t i) -> std::string {
    if (!in_parentheses_of(text, i, {"if"})) return "";
    const Token& token = text.tokens()[i];
    if (token.is("==")) return "!=";
    if (token.is("!=")) return "==";
    if (token.is("<")) return ">";
    if (token.is(">")) return "<=";
    if (token.is("&&")) return "||";
    return "";
  });
}

Sites wrong_loop_bound(const CudaText& text) {
  Sites sites;
  for (size_t i = 2; i + 2 < text.tokens().size(); ++i) {
    const Token& token = text.tokens()[i];
    if (!in_parentheses_of(text, i, {"for"})) continue;
    if (token.is("<") && text.tokens()[i + 2].is(";"))
      sites.push_back(replace(text, i + 1, i + 2, std::string(text.tokens()[i + 1].text) + " - 1"));
    if (token.is("=") && text.tokens()[i + 1].is("0") && text.tokens()[i + 2].is(";"))
      sites.push_back(replace(text, i + 1, i + 2, "1"));
  }
  return sites;
}

Sites wrong_phase(const CudaText& text) {
  Sites sites;
  for (size_t i = 1; i + 2 < text.tokens().size(); ++i) {
    if (!has_any(text.tokens()[i].text, {"parity", "phase"})) continue;
    const Token& next = text.tokens()[i + 1];
    if (next.is("^")) sites.push_back(replace(text, i + 1, i + 3, ""));
    if (next.is("^=")) sites.push_back(replace(text, i + 2, i + 3, "0"));
    if (next.is("=") && text.tokens()[i + 2].kind == TokenKind::Number)
      sites.push_back(replace(text, i + 2, i + 3, text.tokens()[i + 2].is("0") ? "1" : "0"));
  }
  return sites;
}

Sites wrong_swizzle(const CudaText& text) {
  return changed_tokens(text, [&](size_t i) -> std::string {
    const Token& token = text.tokens()[i];
    if (token.text.find("SWIZZLE_128B") != token.text.npos) return "CU_TENSOR_MAP_SWIZZLE_64B";
    // chunk ^ (row % 8); a phase is another fault.
    if (token.is("^") && !has_any(text.tokens()[i - 1].text, {"parity", "phase"}) &&
        is_operand(text.tokens()[i - 1]))
      return "|";
    return "";
  });
}

// Constants that describe a tile in memory and what is passed to what makes descriptors.
Sites wrong_stride(const CudaText& text) {
  Sites sites =
      changed_arguments(text, {"swizzled_tile", "desc"}, {}, 0, [](std::string_view argument) {
        const size_t times = argument.rfind("* ");
        if (times == argument.npos) return std::string();
        return std::string(argument) + " / 2";
      });
  for (size_t i = 0; i + 3 < text.tokens().size(); ++i) {
    const Token& name = text.tokens()[i];
    if (name.kind != TokenKind::Word || !has_any(name.text, {"stride", "bytes", "pitch"}) ||
        !text.tokens()[i + 1].is("="))
      continue;
    size_t end = i + 2;
    while (end < text.tokens().size() && !text.tokens()[end].is(";") && !text.tokens()[end].is("{"))
      ++end;
    if (end < text.tokens().size() && text.tokens()[end].is(";"))
      sites.push_back(
          replace(text, i + 2, end, "(" + std::string(text.between(i + 2, end)) + ") / 2"));
  }
  return sites;
}

Sites wrong_scale(const CudaText& text) {
  Sites sites = changed_tokens(text, [&](size_t i) -> std::string {
    const Token& token = text.tokens()[i];
    const Token& next = text.tokens()[i + 1];
    if (token.kind != TokenKind::Word || !has_any(token.text, {"scale", "correction"})) return "";
    if (text.tokens()[i - 1].is("*") && (next.is(";") || next.is(")") || next.is(",")))
      return "(2 * " + std::string(token.text) + ")";
    return next.is("*") && !is_operand(text.tokens()[i - 1]) && !text.tokens()[i - 1].is(".")
               ? "2 * " + std::string(token.text)
               : "";
  });
  for (const Call& call : text.calls())
    if (has_any(call.name, {"sqrt"}))
      sites.push_back(
          replace(text, call.first, call.last + 1,
                  "(2 * " + std::string(text.between(call.first, call.last + 1)) + ")"));
  return sites;
}

Sites lost_sum(const CudaText& text) {
  Sites sites = changed_tokens(text, [&](size_t i) -> std::string {
    return text.tokens()[i].is("+=") && !in_parentheses_of(text, i, {"for"}) ? "=" : "";
  });
  // sum = fmaf(a, b, sum): the sum is not carried on.
  for (const Call& call : text.calls())
    if (call.name == "fmaf" && call.arguments.size() == 3)
      sites.push_back(replace(text, call.arguments[2].first, call.arguments[2].second, "0.0f"));
  // wgmma's scale-d decides between adding and starting anew.
  for (const Site& site : changed_arguments(text, {"wgmma_ss", "wgmma_rs", "mma_async"}, {}, -1,
                                            [](std::string_view) { return std::string("true"); }))
    sites.push_back(site);
  return sites;
}

Sites swapped_operands(const CudaText& text) {
  Sites sites;
  for (const Call& call : text.calls()) {
    if (!has_any(call.name, {"pack", "make_float2", "make_bfloat162", "floats2bfloat162", "fmaf"}))
      continue;
    if (call.arguments.size() < 2) continue;
    const auto [a, a_end] = call.arguments[call.arguments.size() - 2];
    const auto [b, b_end] = call.arguments.back();
    if (text.between(a, a_end) == text.between(b, b_end) ||
        (text.tokens()[a].kind == TokenKind::Word && text.tokens()[a + 1].kind == TokenKind::Word))
      continue;
    sites.push_back(
        replace(text, a, b_end,
                std::string(text.between(b, b_end)) + ", " + std::string(text.between(a, a_end))));
  }
  return sites;
}

Sites wrong_function(const CudaText& text) {
  constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"expf", "exp2f"}, {"fmaxf", "fminf"}, {"log1pf", "logf"}, {"logf", "log2f"},
      {"log2f", "logf"}, {"exp2f", "expf"},  {"min", "max"},     {"rsqrtf", "sqrtf"}};
  return changed_tokens(text, [&](size_t i) -> std::string {
    if (!text.tokens()[i + 1].is("(")) return "";
    for (const auto& [right, wrong] : kPairs)
      if (text.tokens()[i].is(right)) return std::string(wrong);
    return "";
  });
}

Sites wrong_launch(const CudaText& text) {
  Sites sites;
  for (size_t i = 0; i < text.tokens().size(); ++i) {
    if (!text.tokens()[i].is("<<<")) continue;
    // The parts of <<<grid, block, shared memory, stream>>>.
    std::vector<std::pair<size_t, size_t>> parts;
    size_t from = i + 1;
    for (size_t j = from; j < text.tokens().size(); ++j) {
      const bool ends = text.tokens()[j].is(">>>");
      if (!ends && !(text.tokens()[j].is(",") && text.enclosing(j) == text.enclosing(i))) continue;
      parts.emplace_back(from, j);
      from = j + 1;
      if (ends) break;
    }
    if (parts.size() < 2) continue;
    const std::string block(text.between(parts[1].first, parts[1].second));
    sites.push_back(replace(text, parts[1].first, parts[1].second, block + " / 2"));
    if (parts.size() > 2 && !text.tokens()[parts[2].first].is("0"))
      sites.push_back(replace(text, parts[2].first, parts[2].second,
                              std::string(text.between(parts[2].first, parts[2].second)) + " / 2"));
  }
  for (size_t i = 2; i + 2 < text.tokens().size(); ++i)
    if (has_any(text.tokens()[i].text, {"dynamicsmembytes", "griddim", "blockdim"}) &&
        text.tokens()[i - 1].is(".") && text.tokens()[i + 1].is("=")) {
      size_t end = i + 2;
      while (end < text.tokens().size() && !text.tokens()[end].is(";")) ++end;
      const bool wrapped = text.tokens()[end - 1].is(")");
      const size_t to = wrapped ? end - 1 : end;
      const size_t start = wrapped ? text.partner(end - 1) + 1 : i + 2;
      if (start >= to) continue;
      sites.push_back(replace(text, start, to, std::string(text.between(start, to)) + " / 2"));
    }
  return sites;
}

Sites misaligned(const CudaText& text) {
  Sites sites;
  for (size_t i = 0; i + 1 < text.tokens().size(); ++i) {
    if (!text.tokens()[i].is("reinterpret_cast")) continue;
    for (size_t j = i + 1; j < text.tokens().size() && j < i + 12; ++j) {
      if (!text.tokens()[j].is("(")) continue;
      const size_t close = text.partner(j);
      if (close > j + 1)
        sites.push_back(
            replace(text, j + 1, close, std::string(text.between(j + 1, close)) + " + 1"));
      break;
    }
  }
  return sites;
}

// Names that are used again within a body: each later use could be misspelt.
Sites undeclared_name(const CudaText& text) {
  return changed_tokens(text, [&](size_t i) -> std::string {
    const Token& token = text.tokens()[i];
    const Token& before = text.tokens()[i - 1];
    const bool used = before.is("=") || before.is("(") || before.is("+") || before.is("*");
    const bool plain = token.kind == TokenKind::Word && token.text.size() > 2 &&
                       std::islower(static_cast<unsigned char>(token.text[0])) != 0;
    const Token& next = text.tokens()[i + 1];
    const bool ends = next.is(";") || next.is(")") || next.is("+") || next.is("*");
    if (!used || !plain || !ends || has_any(token.text, {"true", "false", "null", "void", "this"}))
      return "";
    return std::string(token.text) + "_value";
  });
}

Sites missing_semicolon(const CudaText& text) {
  return changed_tokens(text, [&](size_t i) -> std::string {
    return text.tokens()[i].is(";") && text.tokens()[i - 1].is(")") &&
                   text.tokens()[i + 1].kind == TokenKind::Word &&
                   !in_parentheses_of(text, i, {"for"})
               ? " "
               : "";
  });
}

Sites missing_include(const CudaText& text) {
  Sites sites;
  for (size_t i = 0; i < text.tokens().size(); ++i)
    if (text.tokens()[i].kind == TokenKind::Directive &&
        text.tokens()[i].text.find("include") != std::string_view::npos)
      sites.push_back(replace(text, i, i + 1, ""));
  return sites;
}

Sites missing_argument(const CudaText& text) {
  Sites sites;
  for (const Call& call : text.calls())
    if (call.statement && call.arguments.size() >= 2)
      sites.push_back(
          replace(text, call.arguments[call.arguments.size() - 2].second, call.last, ""));
  return sites;
}

Sites register_limit(const CudaText& text) {
  return changed_arguments(text, {"__launch_bounds__"}, {}, -1,
                           [](std::string_view argument) -> std::string {
                             return argument == "1" || argument == "2" ? "4" : "";
                           });
}

const Fault kCatalogue[] = {
    {"barrier_count", "A barrier expects another number of arrivals than will come.",
     kSynchronisation,
     [](const CudaText& t) {
       return changed_arguments(
           t, {"barrier_init", "mbar_init", "mbarrier_init", "named_barrier_sync"}, {"fence"}, -1,
           [](std::string_view a) { return more_by(a, "1"); });
     }},
    {"missing_arrival", "A thread that others wait for never arrives at the barrier.",
     kSynchronisation,
     [](const CudaText& t) {
       return removed_calls(t, {"arrive"}, {"wait", "cluster"});
     }},
    {"transaction_bytes", "A barrier expects another number of bytes than the copies bring.",
     kSynchronisation,
     [](const CudaText& t) {
       return changed_arguments(t, {"expect"}, {}, -1,
                                [](std::string_view a) { return more_by(a, "16"); });
     }},
    {"missing_fence", "Writes are not ordered before the reader of another proxy or thread.",
     kSynchronisation, [](const CudaText& t) { return removed_calls(t, {"fence"}); }},
    {"missing_wait", "What an asynchronous operation brings is used before it is there.",
     kSynchronisation, [](const CudaText& t) { return removed_calls(t, {"wait"}, {"fence"}); }},
    {"missing_commit", "A group of asynchronous operations is never committed.", kSynchronisation,
     [](const CudaText& t) { return removed_calls(t, {"commit"}); }},
    {"race", "Threads share memory without a barrier between the write and the read.",
     kSynchronisation,
     [](const CudaText& t) {
       return removed_calls(t, {"syncthreads", "syncwarp", "_sync", "bar.sync"}, {"shfl"});
     }},
    {"phase", "A wait uses the wrong phase of its barrier.", kSynchronisation, wrong_phase},
    {"swizzle", "A tile is written with another swizzle than it is read with.", kAddressing,
     wrong_swizzle},
    {"descriptor_stride", "A stride or size describes another layout than the tile has.",
     kAddressing, wrong_stride},
    {"index", "An element is read or written one place off.", kAddressing, shifted_index},
    {"coordinate", "Row and column of a thread are confused.", kAddressing, wrong_coordinate},
    {"bounds", "The edge of the matrix is not checked.", "fault: out of bounds|incorrect",
     missing_bound},
    {"predicate", "A condition selects the wrong threads or elements.",
     "incorrect|timeout|fault: deadlock|fault: out of bounds|fault: invalid use of a barrier|"
     "fault: misaligned address|fault: aligned instruction in diverged code|fault: register of a "
     "wgmma in flight|runtime error",
     wrong_predicate},
    {"loop_bound", "A loop leaves out its first or its last step.",
     "incorrect|timeout|fault: deadlock|fault: out of bounds|fault: register of a wgmma in flight",
     wrong_loop_bound},
    {"scale", "A factor is wrong.", kWrongValues, wrong_scale},
    {"accumulation", "A sum loses what was added before, or does not start from zero.",
     kWrongValues, lost_sum},
    {"operand_order", "Two operands are exchanged.", kWrongValues, swapped_operands},
    {"function", "A function of the wrong base or direction is called.",
     "incorrect|fault: out of bounds", wrong_function},
    {"launch", "The launch has too few threads or too little shared memory.",
     "incorrect|runtime error|timeout|fault: out of bounds|fault: deadlock|fault: invalid use of a "
     "barrier|fault: trap",
     wrong_launch},
    {"alignment", "A wide access goes to an address that is no multiple of its size.",
     "fault: misaligned address|fault: out of bounds|incorrect", misaligned},
    {"undeclared_name", "A name is misspelt.", "compile error", undeclared_name},
    {"missing_semicolon", "A statement is not ended.", "compile error", missing_semicolon},
    {"missing_include", "A header is not included.", "compile error", missing_include},
    {"missing_argument", "A call has too few arguments.", "compile error", missing_argument},
    {"register_spill", "The register limit of the launch bounds makes the kernel spill.",
     "spill|compile error", register_limit},
};

}  // namespace

std::span<const Fault> fault_catalogue() {
  return kCatalogue;
}

const Fault* fault_named(std::string_view name) {
  const auto found = std::find_if(std::begin(kCatalogue), std::end(kCatalogue),
                                  [&](const Fault& fault) { return fault.name == name; });
  return found == std::end(kCatalogue) ? nullptr : found;
}

bool may_show_as(const Fault& fault, std::string_view error_class) {
  for (std::string_view rest = fault.shows_as; !error_class.empty();) {
    const size_t end = std::min(rest.find('|'), rest.size());
    if (rest.substr(0, end) == error_class) return true;
    if (end == rest.size()) return false;
    rest.remove_prefix(end + 1);
  }
  return false;
}

std::string with_fault(const std::string& source, const Site& site) {
  std::string text = source;
  return text.replace(site.offset, site.length, site.replacement);
}

std::vector<Site> spread(const std::vector<Site>& sites, size_t count) {
  if (sites.size() <= count) return sites;
  std::vector<Site> chosen;
  for (size_t i = 0; i < count; ++i) chosen.push_back(sites[i * sites.size() / count]);
  return chosen;
}

}  // namespace weft::sft
