#include "core/expression_parser.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <utility>

#include "core/text.h"

namespace tpack {
namespace {

using Kind = ExpressionNode::Kind;
using Ptr = ExpressionNode::Ptr;
using pointwise::Operation;

constexpr int kMaxDepth = 64;  // of parentheses and unary operators

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Token {
  enum class Kind : uint8_t { kEnd, kNumber, kText, kWord, kOperator };
  Kind kind = Kind::kEnd;
  std::string text;
  size_t offset = 0;  // bytes from the start of the expression
};

/// Null if formulas of all kinds call none by this name.
const Operation* called_operation(std::string_view name) {
  for (const Operation& operation : pointwise::operations())
    if (operation.is_called() && operation.name == name) return &operation;
  return nullptr;
}

/// Cuts the text into tokens, one ahead.
class Lexer {
 public:
  Lexer(std::string_view text, Position where, bool has_subscripts)
      : text_(text), where_(std::move(where)), has_subscripts_(has_subscripts) {
    advance();
  }

  const Token& peek() const { return token_; }
  Token take() {
    Token taken = token_;
    advance();
    return taken;
  }
  bool next_is(std::string_view text) const {
    return (token_.kind == Token::Kind::kOperator || token_.kind == Token::Kind::kWord) &&
           token_.text == text;
  }
  bool skip(std::string_view text) {
    if (!next_is(text)) return false;
    advance();
    return true;
  }
  Position position(size_t offset) const {
    Position at = where_;
    if (at.line > 0) at.column += static_cast<int>(character_count(text_.substr(0, offset)));
    return at;
  }
  [[noreturn]] void fail(size_t offset, const std::string& text) const {
    throw ConfigError(position(offset), "expression '" + std::string(text_) + "': " + text);
  }
  [[noreturn]] void unexpected(const std::string& expected) const {
    const std::string found = token_.kind == Token::Kind::kEnd ? "the end" : "'" + token_.text + "'";
    fail(token_.offset, "expected " + expected + ", found " + found);
  }

 private:
  void advance();
  size_t number_end(size_t from) const;
  size_t word_end(size_t from) const;
  void take_operator();

  std::string_view text_;
  Position where_;
  bool has_subscripts_;
  size_t at_ = 0;
  Token token_;
};

void Lexer::advance() {
  while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  token_ = {Token::Kind::kEnd, "", at_};
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  size_t end = at_;
  if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
    token_.kind = Token::Kind::kNumber;
    end = number_end(at_);
  } else if (is_word(c)) {
    token_.kind = Token::Kind::kWord;
    end = word_end(at_);
  } else if (c == '\'') {
    token_.kind = Token::Kind::kText;
    const size_t close = text_.find('\'', at_ + 1);
    if (close == std::string_view::npos) fail(at_, "this string has no closing '");
    token_.text = text_.substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    return;
  } else {
    take_operator();
    return;
  }
  token_.text = text_.substr(at_, end - at_);
  at_ = end;
}

size_t Lexer::number_end(size_t from) const {
  size_t end = from;
  const auto digits = [&] {
    while (end < text_.size() && is_digit(text_[end])) ++end;
  };
  digits();
  if (end < text_.size() && text_[end] == '.') {
    ++end;
    digits();
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    ++end;
    if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
    digits();
  }
  while (end < text_.size() && is_word(text_[end])) ++end;  // "3x" is one wrong number, not two tokens
  return end;
}

size_t Lexer::word_end(size_t from) const {
  size_t end = from;
  while (end < text_.size() && (is_word(text_[end]) || text_[end] == '.')) ++end;
  return end;
}

void Lexer::take_operator() {
  static constexpr std::array<std::string_view, 19> kOperators = {
      "//", "**", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", "[", "]", ":"};
  static constexpr size_t kOfSubscripts = 3;  // the last ones
  const size_t known = kOperators.size() - (has_subscripts_ ? 0 : kOfSubscripts);
  for (const std::string_view candidate : std::span(kOperators).first(known)) {
    if (!text_.substr(at_).starts_with(candidate)) continue;
    token_.kind = Token::Kind::kOperator;
    token_.text = candidate;
    at_ += candidate.size();
    return;
  }
  const char c = text_[at_];
  std::string hint;
  if (c == '"') hint = "; write strings in single quotes";
  if (c == '=') hint = "; use '==' to compare";
  if (c == '&' || c == '|' || c == '!') hint = "; write 'and', 'or', 'not'";
  if (c == '^') hint = "; write x ** y";
  fail(at_, "unknown operator '" + std::string(1, c) + "'" + hint);
}

class Parser {
 public:
  Parser(std::string_view text, const Position& where, std::vector<Expression::Name>& names,
         const ExpressionGrammar& grammar)
      : lexer_(text, where, grammar.has_subscripts), names_(names), grammar_(grammar) {}

  Ptr whole() {
    Ptr root = choice();
    if (lexer_.peek().kind != Token::Kind::kEnd) lexer_.unexpected("an operator");
    return root;
  }

 private:
  using Level = Ptr (Parser::*)();

  std::shared_ptr<ExpressionNode> make(Kind kind, size_t offset, std::vector<Ptr> parts = {}) const {
    auto node = std::make_shared<ExpressionNode>();
    node->kind = kind;
    node->where = lexer_.position(offset);
    node->parts = std::move(parts);
    return node;
  }
  Ptr make_call(const Operation* operation, const std::string& text, size_t offset,
                std::vector<Ptr> parts) const {
    auto node = make(Kind::kCall, offset, std::move(parts));
    node->operation = operation;
    node->text = text;
    return node;
  }
  Ptr make_operator(const Token& sign, std::vector<Ptr> parts) const {
    return make_call(&pointwise::operator_of(sign.text), sign.text, sign.offset, std::move(parts));
  }

  Ptr choice() {
    Ptr value = either();
    const size_t offset = lexer_.peek().offset;
    if (!lexer_.skip("if")) return value;
    Ptr condition = either();
    if (!lexer_.skip("else")) lexer_.unexpected("'else'");
    const Nesting nesting(*this);
    return make(Kind::kChoice, offset, {condition, value, choice()});
  }
  Ptr either() { return logical(Kind::kOr, "or", &Parser::both); }
  Ptr both() { return logical(Kind::kAnd, "and", &Parser::negation); }
  Ptr logical(Kind kind, std::string_view word, Level inner) {
    Ptr left = (this->*inner)();
    for (size_t offset = lexer_.peek().offset; lexer_.skip(word); offset = lexer_.peek().offset) {
      left = make(kind, offset, {left, (this->*inner)()});
    }
    return left;
  }
  Ptr negation() {
    const Token sign = lexer_.peek();
    if (!lexer_.skip("not")) return comparison();
    const Nesting nesting(*this);
    return make_operator(sign, {negation()});
  }
  Ptr comparison();
  Ptr sum() { return arithmetic({"+", "-"}, &Parser::product); }
  Ptr product() { return arithmetic({"*", "//", "/", "%"}, &Parser::signed_value); }
  Ptr arithmetic(std::initializer_list<std::string_view> operators, Level inner);
  Ptr signed_value() {
    const size_t offset = lexer_.peek().offset;
    if (!lexer_.skip("-")) return power();
    const Nesting nesting(*this);
    return make_call(&pointwise::operation(Operation::Id::kNeg), "-", offset, {signed_value()});
  }
  /// As in Python: -a ** b is -(a ** b), and a ** b ** c is a ** (b ** c).
  Ptr power() {
    Ptr base = operand();
    while (grammar_.has_subscripts && lexer_.next_is("[")) base = subscript(base);
    const Token token = lexer_.peek();
    if (!lexer_.skip("**")) return base;
    const Nesting nesting(*this);
    return make_operator(token, {base, signed_value()});
  }
  Ptr operand();
  Ptr subscript(const Ptr& base);
  SubscriptAxis range();
  std::optional<int64_t> place();
  Ptr word();
  Ptr call(const Token& name);
  Ptr number(const Token& token) const;

  /// Counts a level of recursion.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxDepth) {
        parser_.lexer_.fail(parser_.lexer_.peek().offset,
                            "nested deeper than " + std::to_string(kMaxDepth) + " levels");
      }
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  Lexer lexer_;
  std::vector<Expression::Name>& names_;
  const ExpressionGrammar& grammar_;
  int depth_ = 0;
};

Ptr Parser::comparison() {
  Ptr first = sum();
  const auto node = make(Kind::kCompare, lexer_.peek().offset, {std::move(first)});
  const auto is_comparison = [&] {
    for (const char* op : {"==", "!=", "<", "<=", ">", ">="}) {
      if (lexer_.next_is(op)) return true;
    }
    return false;
  };
  while (is_comparison()) {
    node->comparisons.push_back(&pointwise::operator_of(lexer_.take().text));
    node->parts.push_back(sum());
  }
  return node->comparisons.empty() ? node->parts[0] : node;
}

Ptr Parser::arithmetic(std::initializer_list<std::string_view> operators, Level inner) {
  Ptr left = (this->*inner)();
  while (true) {
    const Token token = lexer_.peek();
    bool found = false;
    for (const std::string_view op : operators) found = found || lexer_.next_is(op);
    if (!found) return left;
    lexer_.take();
    left = make_operator(token, {left, (this->*inner)()});
  }
}

Ptr Parser::operand() {
  const Token& token = lexer_.peek();
  if (token.kind == Token::Kind::kWord) return word();
  if (token.kind == Token::Kind::kNumber) return number(lexer_.take());
  if (token.kind == Token::Kind::kText) {
    const auto node = make(Kind::kValue, token.offset);
    node->value = ConfigNode::string(lexer_.take().text, {});
    return node;
  }
  if (!lexer_.skip("(")) lexer_.unexpected("a value");
  const Nesting nesting(*this);
  Ptr inside = choice();
  if (!lexer_.skip(")")) lexer_.unexpected("')'");
  return inside;
}

Ptr Parser::number(const Token& token) const {
  const auto node = make(Kind::kValue, token.offset);
  node->value = ConfigNode::plain(token.text, {});
  if (!node->value.is_number()) lexer_.fail(token.offset, "invalid number '" + token.text + "'");
  return node;
}

Ptr Parser::word() {
  for (const char* keyword : {"and", "or", "not", "if", "else"}) {
    if (lexer_.next_is(keyword)) lexer_.unexpected("a value");
  }
  const Token token = lexer_.take();
  if (lexer_.next_is("(")) return call(token);
  const auto node = make(Kind::kValue, token.offset);
  if (token.text == "true" || token.text == "false") {
    node->value = ConfigNode(token.text == "true");
    return node;
  }
  if (token.text.back() == '.' || token.text.find("..") != std::string::npos) {
    lexer_.fail(token.offset, "invalid name '" + token.text + "'");
  }
  node->kind = Kind::kName;
  node->text = token.text;
  names_.push_back({token.text, token.offset});
  return node;
}

Ptr Parser::subscript(const Ptr& base) {
  const auto node = make(Kind::kSubscript, lexer_.peek().offset, {base});
  lexer_.take();  // "["
  do {
    node->ranges.push_back(range());
  } while (lexer_.skip(","));
  if (!lexer_.skip("]")) lexer_.unexpected("',' or ']'");
  return node;
}

SubscriptAxis Parser::range() {
  SubscriptAxis range;
  range.begin = place();
  if (!lexer_.skip(":")) {
    if (!range.begin) lexer_.unexpected("an integer or ':'");
    range.is_item = true;
    return range;
  }
  range.end = place();
  return range;
}

/// An integer; nothing if there is none.
std::optional<int64_t> Parser::place() {
  const bool is_negative = lexer_.skip("-");
  if (lexer_.peek().kind != Token::Kind::kNumber) {
    if (is_negative) lexer_.unexpected("an integer");
    return std::nullopt;
  }
  const Token token = lexer_.take();
  const ConfigNode value = ConfigNode::plain(token.text, {});
  if (value.kind() != ConfigNode::Kind::kInt) lexer_.fail(token.offset, "'" + token.text + "' is no integer");
  return is_negative ? -value.as_int() : value.as_int();
}

Ptr Parser::call(const Token& name) {
  const Operation* operation = called_operation(name.text);
  const auto own = std::find_if(grammar_.functions.begin(), grammar_.functions.end(),
                                [&](const auto& one) { return one.name == name.text; });
  const bool is_own = own != grammar_.functions.end();
  if (operation == nullptr && !is_own) {
    lexer_.fail(name.offset, "unknown function '" + name.text + "'; known: " + grammar_.function_names());
  }
  const Nesting nesting(*this);
  lexer_.take();  // "("
  std::vector<Ptr> arguments;
  while (!lexer_.next_is(")")) {
    arguments.push_back(choice());
    if (!lexer_.skip(",")) break;
  }
  if (!lexer_.skip(")")) lexer_.unexpected("',' or ')'");
  static constexpr std::array<const char*, 4> kCounts = {"", "one value", "two values", "three values"};
  const bool takes_many = operation != nullptr ? operation->is_fold() : own->takes_many;
  const size_t count = takes_many || operation == nullptr ? 1 : operation->arity;
  if (takes_many ? arguments.empty() : arguments.size() != count) {
    lexer_.fail(name.offset, "'" + name.text + "' takes " + (takes_many ? "at least " : "") +
                                 kCounts.at(count) + ", found " + std::to_string(arguments.size()));
  }
  return make_call(operation, name.text, name.offset, std::move(arguments));
}

}  // namespace

std::string ExpressionGrammar::function_names() const {
  std::vector<std::string> names;
  for (const Operation& operation : pointwise::operations())
    if (operation.is_called()) names.emplace_back(operation.name);
  for (const Function& function : functions) names.push_back(function.name);
  std::sort(names.begin(), names.end());
  return join(names, ", ");
}

ExpressionNode::Ptr parse_expression(std::string_view text, const Position& where,
                                     std::vector<Expression::Name>& names, const ExpressionGrammar& grammar) {
  if (text.size() > Expression::kMaxLength) {
    throw ConfigError(where, "the expression has " + std::to_string(text.size()) + " bytes; at most " +
                                 std::to_string(Expression::kMaxLength) + " are supported");
  }
  return Parser(text, where, names, grammar).whole();
}

}  // namespace tpack
