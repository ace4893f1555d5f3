#include "core/substitute.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {
namespace {

/// An expression inside a text: its `text` is at `begin`; the `$(` before and the `)` after belong to it.
struct ExpressionSpan {
  size_t begin = 0;
  std::string_view text;
  size_t end() const { return begin + text.size() + 1; }
};

bool is_bare(const std::string& name) { return name.find('.') == std::string::npos; }

/// The bracket that closes the one before `begin`; brackets in 'texts' do not count.
size_t closing_bracket(const ConfigNode& node, size_t begin) {
  const std::string& text = node.text();
  int depth = 1;
  bool quoted = false;
  for (size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\'') quoted = !quoted;
    if (quoted) continue;
    if (c == '(') ++depth;
    if (c == ')' && --depth == 0) return at;
  }
  throw ConfigError(node.text_position(begin - 2),
                    "'$(' has no closing ')' in '" + text +
                        "'; inside [ ] and { }, put quotes around an expression that has a comma or '}'");
}

std::optional<ExpressionSpan> next_span(const ConfigNode& node, size_t from) {
  const size_t start = node.text().find("$(", from);
  if (start == std::string::npos) return std::nullopt;
  const size_t begin = start + 2;
  const size_t end = closing_bracket(node, begin);
  return ExpressionSpan{begin, std::string_view(node.text()).substr(begin, end - begin)};
}

/// A value as the text of an expression.
std::string literal(const std::string& name, const ConfigNode& value, const Position& where) {
  if (value.is_string() && value.text().find('\'') == std::string::npos) return "'" + value.text() + "'";
  if (value.kind() == ConfigNode::Kind::kBool) return value.as_bool() ? "true" : "false";
  if (value.is_number() && std::isfinite(value.as_double())) {
    const bool integer = value.kind() == ConfigNode::Kind::kInt;
    const std::string number =
        integer ? std::to_string(value.as_int()) : ConfigNode(value.as_double()).text();
    return number.starts_with('-') ? "(" + number + ")" : number;
  }
  throw ConfigError(
      where, "'" + name + "' is " + value.describe() +
                 "; next to a parameter of a block, only numbers, strings, true and false are allowed");
}

/// The expression with its dotted names replaced by their values; bare names and unset variables stay.
std::string with_known_names(const ConfigNode& node, const ExpressionSpan& span, const Expression& expression,
                             const Scope& scope) {
  std::string out;
  size_t done = 0;
  for (const Expression::Name& name : expression.names()) {
    if (is_bare(name.name)) continue;
    const Position where = node.text_position(span.begin + name.offset);
    if (is_environment_name(name.name) && !lookup_environment(name.name)) continue;
    out += span.text.substr(done, name.offset - done);
    out += literal(name.name, Expression::parse(name.name, where).evaluate(scope), where);
    done = name.offset + name.name.size();
  }
  return "$(" + out + std::string(span.text.substr(done)) + ")";
}

/// A value inside other text.
std::string interpolated(const ConfigNode& value, const Position& where) {
  if (value.is_list() || value.is_map() || value.is_null()) {
    throw ConfigError(
        where, "the value of the expression is " + value.describe() + ", which cannot be part of a string");
  }
  return value.text();
}

/// The tree with its strings that have expressions changed.
template <class F>
ConfigNode with_texts(const ConfigNode& tree, const F& changed) {
  if (tree.is_list()) {
    std::vector<ConfigNode> items;
    for (const ConfigNode& item : tree.items()) items.push_back(with_texts(item, changed));
    return ConfigNode::list(std::move(items), tree.position());
  }
  if (tree.is_map()) {
    std::vector<ConfigNode::Entry> entries;
    for (const auto& [key, value, where] : tree.entries())
      entries.push_back({key, with_texts(value, changed), where});
    return ConfigNode::map(std::move(entries), tree.position());
  }
  return tree.has_expression() ? changed(tree) : tree;
}

}  // namespace

ConfigNode substitute_text(const ConfigNode& node, const Scope& scope, BareNames bare) {
  constexpr size_t kMaxInserted = 65536;  // texts of texts would double with each level
  std::string out;
  size_t done = 0;
  size_t written = 0;
  for (auto span = next_span(node, 0); span; span = next_span(node, done)) {
    const Position where = node.text_position(span->begin);
    const Expression expression = Expression::parse(span->text, where);
    const auto& names = expression.names();
    const bool leave = bare == BareNames::kLeave &&
                       std::any_of(names.begin(), names.end(), [](const auto& n) { return is_bare(n.name); });
    const bool whole = span->begin == 2 && span->end() == node.text().size();
    if (whole && !leave) return expression.evaluate(scope).at_position(node.position());
    out += node.text().substr(done, span->begin - 2 - done);
    written += span->begin - 2 - done;
    out += leave ? with_known_names(node, *span, expression, scope)
                 : interpolated(expression.evaluate(scope), where);
    if (out.size() > written + kMaxInserted)
      throw ConfigError(where, "the expressions insert more than 65,536 bytes into this string");
    done = span->end();
  }
  return ConfigNode::string(out + node.text().substr(done), node.position(), node.style());
}

ConfigNode substitute(const ConfigNode& tree, const Scope& scope, Diagnostics& errors, BareNames bare) {
  return with_texts(tree, [&](const ConfigNode& text) {
    try {
      return substitute_text(text, scope, bare);
    } catch (const ConfigError& error) {
      errors.add(error, text.position());
      return text;
    }
  });
}

ConfigNode with_environment(const ConfigNode& tree) {
  return with_texts(tree, [](const ConfigNode& node) {
    const std::string& text = node.text();
    std::string out;
    size_t done = 0;
    for (auto span = next_span(node, 0); span; span = next_span(node, span->end())) {
      const Position where = node.text_position(span->begin);
      const Expression expression = Expression::parse(span->text, where);
      for (const Expression::Name& name : expression.names()) {
        if (!is_environment_name(name.name)) continue;
        const ConfigNode value = lookup_environment(name.name).value_or(ConfigNode::string("", where));
        if (value.is_string() && value.text().find('\'') != std::string::npos) continue;  // cannot be written
        const size_t begin = span->begin + name.offset;
        out += text.substr(done, begin - done);
        out += value.is_null() ? "''" : literal(name.name, value, where);
        done = begin + name.name.size();
      }
    }
    return ConfigNode::string(out + text.substr(done), node.position(), node.style());
  });
}

void collect_names(const ConfigNode& tree, std::set<std::string>& names) {
  for (const ConfigNode& item : tree.items()) collect_names(item, names);
  for (const ConfigNode::Entry& entry : tree.entries()) collect_names(entry.value, names);
  if (!tree.has_expression()) return;
  for (auto span = next_span(tree, 0); span; span = next_span(tree, span->end())) {
    const Expression expression = Expression::parse(span->text, tree.text_position(span->begin));
    for (const Expression::Name& name : expression.names()) names.insert(name.name);
  }
}

}  // namespace tpack
