// SPDX-License-Identifier: Apache-2.0

// Constant expressions (PTX ISA 9.0, section 4.5): C's operators on 64-bit integers; on
// floating-point values only negation, as no compiler writes more.
#include "ptxbench/ptx/parser.h"

namespace weft::ptx {
namespace {

// Binding strength of a binary operator, 0 when the token is none.
int precedence(const Token& token) {
  if (token.kind != Token::Kind::Punctuation) return 0;
  if (token.is('*') || token.is('/') || token.is('%')) return 10;
  if (token.is('+') || token.is('-')) return 9;
  if (token.is_pair("<<") || token.is_pair(">>")) return 8;
  if (token.is('<') || token.is('>') || token.is_pair("<=") || token.is_pair(">=")) return 7;
  if (token.is_pair("==") || token.is_pair("!=")) return 6;
  if (token.is('&')) return 5;
  if (token.is('^')) return 4;
  if (token.is('|')) return 3;
  if (token.is_pair("&&")) return 2;
  if (token.is_pair("||")) return 1;
  return 0;
}

// Wraps as 64-bit hardware does; the caller has excluded division by zero.
uint64_t apply(std::string_view op, uint64_t a, uint64_t b, bool is_unsigned) {
  const auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
  if (op == "*") return a * b;
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "/") return is_unsigned ? a / b : sb == -1 ? 0 - a : static_cast<uint64_t>(sa / sb);
  if (op == "%") return is_unsigned ? a % b : sb == -1 ? 0 : static_cast<uint64_t>(sa % sb);
  if (op == "<<") return b < 64 ? a << b : 0;
  if (op == ">>") {
    if (is_unsigned) return b < 64 ? a >> b : 0;
    return static_cast<uint64_t>(sa >> (b < 64 ? b : 63));
  }
  if (op == "<") return is_unsigned ? a < b : sa < sb;
  if (op == ">") return is_unsigned ? a > b : sa > sb;
  if (op == "<=") return is_unsigned ? a <= b : sa <= sb;
  if (op == ">=") return is_unsigned ? a >= b : sa >= sb;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "&") return a & b;
  if (op == "^") return a ^ b;
  if (op == "|") return a | b;
  if (op == "&&") return a != 0 && b != 0;
  return a != 0 || b != 0;
}

}  // namespace

bool Parser::starts_constant() const {
  const Token& token = peek();
  switch (token.kind) {
    case Token::Kind::Integer:
    case Token::Kind::Float32:
    case Token::Kind::Float64:
      return true;
    case Token::Kind::Identifier:
      return token.text == "WARP_SZ";
    case Token::Kind::Punctuation:
      return token.is('-') || token.is('+') || token.is('~') || token.is('!') || token.is('(');
    default:
      return false;
  }
}

bool Parser::parse_constant(Constant& constant) {
  Number number;
  if (!parse_conditional(number, 0)) return false;
  constant = number.constant;
  return true;
}

bool Parser::parse_integer(int64_t& value) {
  const SourcePosition at = peek().position;
  Constant constant;
  if (!parse_constant(constant)) return false;
  if (constant.kind != Constant::Kind::Integer)
    return fail(at, "expected an integer, found a float");
  value = static_cast<int64_t>(constant.bits);
  return true;
}

bool Parser::parse_conditional(Number& number, int depth) {
  if (!parse_binary(number, 1, depth)) return false;
  if (!peek().is('?')) return true;
  if (depth >= kMaxNesting) return fail(peek().position, "expression nested too deeply");
  take();
  Number yes, no;
  if (!parse_conditional(yes, depth + 1)) return false;
  if (!expect(':', "between the branches of a conditional")) return false;
  if (!parse_conditional(no, depth + 1)) return false;
  number = number.constant.bits != 0 ? yes : no;
  return true;
}

bool Parser::parse_binary(Number& number, int least, int depth) {
  if (depth >= kMaxNesting) return fail(peek().position, "expression nested too deeply");
  if (!parse_unary(number, depth)) return false;
  for (int strength = precedence(peek()); strength >= least; strength = precedence(peek())) {
    const Token op = take();
    Number right;
    if (!parse_binary(right, strength + 1, depth + 1)) return false;
    if (number.constant.kind != Constant::Kind::Integer ||
        right.constant.kind != Constant::Kind::Integer) {
      return fail(op.position, "operator on floating-point constants: " + std::string(op.text),
                  "write the value itself");
    }
    const bool is_unsigned = number.is_unsigned || right.is_unsigned;
    if ((op.text == "/" || op.text == "%") && right.constant.bits == 0) {
      return fail(op.position, "division by zero in a constant expression");
    }
    number.constant.bits = apply(op.text, number.constant.bits, right.constant.bits, is_unsigned);
    // A comparison is signed; a shift has the type of its left side.
    number.is_unsigned = is_unsigned && strength != 7 && strength != 6 && strength > 2;
  }
  return true;
}

bool Parser::parse_unary(Number& number, int depth) {
  if (depth >= kMaxNesting) return fail(peek().position, "expression nested too deeply");
  const Token& token = peek();
  if (token.is('-') || token.is('+') || token.is('~') || token.is('!')) {
    const Token op = take();
    if (!parse_unary(number, depth + 1)) return false;
    uint64_t& bits = number.constant.bits;
    if (number.constant.kind != Constant::Kind::Integer) {
      if (!op.is('-') && !op.is('+'))
        return fail(op.position, "operator on a floating-point constant");
      if (op.is('-'))
        bits ^= uint64_t{1} << (number.constant.kind == Constant::Kind::Float32 ? 31 : 63);
    } else if (op.is('-')) {
      bits = 0 - bits;
    } else if (op.is('~')) {
      bits = ~bits;
    } else if (op.is('!')) {
      bits = bits == 0;
    }
    return true;
  }
  if (token.is('(')) {
    take();
    if (peek().is_directive("s64") || peek().is_directive("u64")) {
      const bool is_unsigned = take().text == "u64";
      if (!expect(')', "after the type of a cast") || !parse_unary(number, depth + 1)) return false;
      if (number.constant.kind != Constant::Kind::Integer) return fail_here("an integer to cast");
      number.is_unsigned = is_unsigned;
      return true;
    }
    return parse_conditional(number, depth + 1) && expect(')', "at the end of an expression");
  }
  switch (token.kind) {
    case Token::Kind::Integer: {
      const Token literal = take();
      number = {{Constant::Kind::Integer, literal.value}, literal.is_unsigned};
      return true;
    }
    case Token::Kind::Float32:
      number = {{Constant::Kind::Float32, take().value}, false};
      return true;
    case Token::Kind::Float64:
      number = {{Constant::Kind::Float64, take().value}, false};
      return true;
    case Token::Kind::Identifier:
      if (token.text == "WARP_SZ") {
        take();
        number = {{Constant::Kind::Integer, 32}, false};
        return true;
      }
      break;
    default:
      break;
  }
  return fail_here("a number");
}

}  // namespace weft::ptx
