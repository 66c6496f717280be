// SPDX-License-Identifier: Apache-2.0

// Precedence climbing over a handful of operators. Overflow is an error, not a wrapped number: a
// wrong grid would be blamed on the candidate.
#include "ptxbench/problems/expression.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "base/near_match.h"

namespace weft::problems {
namespace {

struct Operator {
  std::string_view text;
  int level;
};
// Longer spellings first, so that "<=" is not read as "<".
constexpr Operator kOperators[] = {{"and", 1}, {"or", 0}, {"<=", 2}, {">=", 2}, {"==", 2},
                                   {"!=", 2},  {"<", 2},  {">", 2},  {"+", 3},  {"-", 3},
                                   {"//", 4},  {"*", 4},  {"/", 4},  {"%", 4}};
constexpr int kLowestLevel = 0;
constexpr int kDeepest = 64;

int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

class Parser {
 public:
  Parser(std::string_view text, const Axes& axes) : text_(text), axes_(axes) {}

  Result<int64_t> whole() {
    const int64_t value = TRY(binary(kLowestLevel));
    blanks();
    if (at_ != text_.size()) return error("unexpected text in expression");
    return value;
  }

 private:
  Error error(std::string message, std::string hint = {}) const {
    Diagnostic diagnostic;
    diagnostic.message = fmt::format("{}: {}", message, text_);
    diagnostic.hint = hint.empty() ? fmt::format("at column {}", at_ + 1) : std::move(hint);
    return Error(std::move(diagnostic));
  }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view token) {
    blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  const Operator* peek(int level) {
    blanks();
    for (const Operator& op : kOperators) {
      if (!text_.substr(at_).starts_with(op.text)) continue;
      return op.level >= level ? &op : nullptr;
    }
    return nullptr;
  }
  Result<int64_t> apply(std::string_view op, int64_t a, int64_t b) const {
    int64_t value = 0;
    if (op == "and") return int64_t{a != 0 && b != 0};
    if (op == "or") return int64_t{a != 0 || b != 0};
    if (op == "<=") return int64_t{a <= b};
    if (op == ">=") return int64_t{a >= b};
    if (op == "==") return int64_t{a == b};
    if (op == "!=") return int64_t{a != b};
    if (op == "<") return int64_t{a < b};
    if (op == ">") return int64_t{a > b};
    bool overflow = false;
    if (op == "+") overflow = __builtin_add_overflow(a, b, &value);
    if (op == "-") overflow = __builtin_sub_overflow(a, b, &value);
    if (op == "*") overflow = __builtin_mul_overflow(a, b, &value);
    if (overflow) return error("integer overflow in expression");
    if (op == "+" || op == "-" || op == "*") return value;
    if (b == 0) return error("division by zero in expression");
    if (b == -1) return error("division by a negative number in expression");
    return op == "%" ? a - floor_divide(a, b) * b : floor_divide(a, b);
  }
  Result<int64_t> binary(int level) {
    if (++depth_ > kDeepest) return error("expression nested too deeply");
    int64_t left = TRY(unary());
    while (const Operator* op = peek(level)) {
      at_ += op->text.size();
      const int64_t right = TRY(binary(op->level + 1));
      left = TRY(apply(op->text, left, right));
    }
    --depth_;
    return left;
  }
  Result<int64_t> unary() {
    if (take("-")) {
      if (++depth_ > kDeepest) return error("expression nested too deeply");
      const int64_t value = TRY(unary());
      --depth_;
      return apply("-", 0, value);
    }
    if (take("(")) {
      const int64_t value = TRY(binary(kLowestLevel));
      if (!take(")")) return error("closing parenthesis is missing");
      return value;
    }
    blanks();
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (word.empty()) return error("a number or a name is expected");
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return literal(word);
    if (word == "min" || word == "max" || word == "ceil_div") return call(word);
    const auto axis = axes_.find(word);
    if (axis != axes_.end()) return axis->second;
    std::vector<std::string> names;
    for (const auto& [name, value] : axes_) names.push_back(name);
    return error(fmt::format("unknown name \"{}\" in expression", word),
                 suggestion(word, names, "axes"));
  }
  Result<int64_t> literal(std::string_view word) const {
    int64_t value = 0;
    for (const char c : word) {
      if (!std::isdigit(static_cast<unsigned char>(c)))
        return error("malformed number in expression");
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, c - '0', &value)) {
        return error("number too large in expression");
      }
    }
    return value;
  }
  Result<int64_t> call(std::string_view name) {
    if (!take("(")) return error(fmt::format("{} takes two arguments in parentheses", name));
    const int64_t a = TRY(binary(kLowestLevel));
    if (!take(",")) return error(fmt::format("{} takes two arguments", name));
    const int64_t b = TRY(binary(kLowestLevel));
    if (!take(")")) return error("closing parenthesis is missing");
    if (name == "min") return std::min(a, b);
    if (name == "max") return std::max(a, b);
    if (b <= 0) return error("ceil_div needs a positive divisor");
    return a / b + (a % b > 0);
  }

  std::string_view text_;
  const Axes& axes_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<int64_t> evaluate(std::string_view expression, const Axes& axes) {
  return Parser(expression, axes).whole();
}

}  // namespace weft::problems
