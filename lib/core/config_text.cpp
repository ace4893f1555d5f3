#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/config_node.h"
#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {
namespace {

std::string escaped(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", byte);
      out += code.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// True if the text, written without quotes, would not come back as the same string.
bool needs_quotes(const std::string& text) {
  if (ConfigNode::plain(text, {}).kind() != ConfigNode::Kind::kString) return true;
  if (without_byte_order_mark(text).size() != text.size())
    return true;  // a reader drops it from the start of a file
  static const std::string kFirst = "!&*-?|>@%`'\"#,[]{}: =~";
  if (kFirst.find(text.front()) != std::string::npos || text.back() == ' ' || text.back() == ':') return true;
  if (text.find(": ") != std::string::npos || text.find(" #") != std::string::npos) return true;
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  return text.find_first_of("\"\\,[]{}") != std::string::npos ||
         std::any_of(text.begin(), text.end(), is_control);
}

std::string scalar_text(const ConfigNode& node) {
  if (node.is_null()) return "null";
  if (!node.is_string()) return node.text();
  return needs_quotes(node.text()) ? escaped(node.text()) : node.text();
}

bool all_scalars(const ConfigNode& node) {
  for (const ConfigNode& item : node.items()) {
    if (!item.is_scalar() && !(item.is_list() && all_scalars(item))) return false;
  }
  return true;
}

std::string flow_list(const ConfigNode& node) {
  std::string out = "[";
  for (size_t i = 0; i < node.size(); ++i) {
    if (i > 0) out += ", ";
    const ConfigNode& item = node.items()[i];
    out += item.is_list() ? flow_list(item) : scalar_text(item);
  }
  return out + "]";
}

void write(const ConfigNode& node, int indent, std::string& out);

void write_value(const ConfigNode& value, int indent, std::string& out) {
  if (value.is_list() && (value.size() == 0 || all_scalars(value))) {
    out += " " + flow_list(value) + "\n";
  } else if (value.is_map() && value.size() == 0) {
    out += " {}\n";
  } else if (value.is_scalar()) {
    out += " " + scalar_text(value) + "\n";
  } else {
    out += "\n";
    write(value, indent + 2, out);
  }
}

void write(const ConfigNode& node, int indent, std::string& out) {
  const std::string pad(static_cast<size_t>(indent), ' ');
  if (node.is_map()) {
    for (const auto& entry : node.entries()) {
      out += pad + (needs_quotes(entry.key) ? escaped(entry.key) : entry.key) + ":";
      write_value(entry.value, indent, out);
    }
    return;
  }
  if (!node.is_list()) {
    out += pad + scalar_text(node) + "\n";
    return;
  }
  for (const ConfigNode& item : node.items()) {
    const bool nested = (item.is_map() && item.size() > 0) || (item.is_list() && !all_scalars(item));
    if (!nested) {
      out += pad + "-";
      write_value(item, indent, out);
      continue;
    }
    std::string inner;
    write(item, indent + 2, inner);
    inner[static_cast<size_t>(indent)] = '-';
    out += inner;
  }
}

void write_json(const ConfigNode& node, std::string& out) {
  using Kind = ConfigNode::Kind;
  switch (node.kind()) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += node.as_bool() ? "true" : "false";
      return;
    case Kind::kInt:
      out += std::to_string(node.as_int());
      return;
    case Kind::kFloat:
      out += std::isfinite(node.as_double()) ? shortest(node.as_double()) : escaped(node.text());
      return;
    case Kind::kString:
      out += escaped(node.text());
      return;
    case Kind::kList: {
      const char* separator = "[";
      for (const ConfigNode& item : node.items()) {
        out += separator;
        write_json(item, out);
        separator = ", ";
      }
      out += node.size() == 0 ? "[]" : "]";
      return;
    }
    case Kind::kMap: {
      const char* separator = "{";
      for (const auto& entry : node.entries()) {
        out += separator + escaped(entry.key) + ": ";
        write_json(entry.value, out);
        separator = ", ";
      }
      out += node.size() == 0 ? "{}" : "}";
      return;
    }
  }
}

}  // namespace

std::string to_yaml(const ConfigNode& node) {
  std::string out;
  if ((node.is_map() || node.is_list()) && node.size() == 0) return node.is_map() ? "{}\n" : "[]\n";
  write(node, 0, out);
  return out;
}

std::string to_json(const ConfigNode& node) {
  std::string out;
  write_json(node, out);
  return out;
}

}  // namespace tpack
