#include "sources/format/python_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "core/error.h"

namespace tpack {
namespace {

[[noreturn]] void invalid_escape() { throw DataError("a text with an invalid escape"); }

/// The number of exactly `count` digits at the start of the text, which are removed.
uint32_t take_digits(std::string_view& text, size_t count, int base) {
  uint32_t value = 0;
  if (text.size() < count) invalid_escape();
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + count, value, base);
  if (failure != std::errc{} || stop != text.data() + count) invalid_escape();
  text.remove_prefix(count);
  return value;
}

void append_utf8(std::string& out, uint32_t code) {
  const auto add = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | code >> 6U);
    add(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0U | code >> 12U);
    add(0x80U | (code >> 6U & 0x3FU));
    add(0x80U | (code & 0x3FU));
  } else {
    add(0xF0U | code >> 18U);
    add(0x80U | (code >> 12U & 0x3FU));
    add(0x80U | (code >> 6U & 0x3FU));
    add(0x80U | (code & 0x3FU));
  }
}

bool is_high_surrogate(uint32_t code) { return code >= 0xD800 && code < 0xDC00; }
bool is_low_surrogate(uint32_t code) { return code >= 0xDC00 && code < 0xE000; }

/// The next escape or byte.
uint32_t take_code(std::string_view& text) {
  const bool is_escape = text.starts_with("\\u") || text.starts_with("\\U");
  if (!is_escape) {
    const auto byte = static_cast<uint8_t>(text.front());
    text.remove_prefix(1);
    return byte;
  }
  const size_t digits = text[1] == 'u' ? 4 : 8;
  text.remove_prefix(2);
  const uint32_t code = take_digits(text, digits, 16);
  if (code > 0x10FFFF) invalid_escape();
  return code;
}

constexpr std::array<std::pair<char, char>, 10> kSimpleEscapes = {{{'\\', '\\'},
                                                                   {'\'', '\''},
                                                                   {'"', '"'},
                                                                   {'a', '\a'},
                                                                   {'b', '\b'},
                                                                   {'f', '\f'},
                                                                   {'n', '\n'},
                                                                   {'r', '\r'},
                                                                   {'t', '\t'},
                                                                   {'v', '\v'}}};

/// The byte of an escape, after its backslash.
char take_escaped_byte(std::string_view& text) {
  if (text.empty()) invalid_escape();
  const char kind = text.front();
  if (kind >= '0' && kind <= '7') {
    const auto end = std::find_if(text.begin(), text.begin() + std::min<ptrdiff_t>(3, std::ssize(text)),
                                  [](char c) { return c < '0' || c > '7'; });
    return static_cast<char>(take_digits(text, static_cast<size_t>(end - text.begin()), 8));
  }
  text.remove_prefix(1);
  if (kind == 'x') return static_cast<char>(take_digits(text, 2, 16));
  const auto simple = std::ranges::find(kSimpleEscapes, kind, &std::pair<char, char>::first);
  if (simple == kSimpleEscapes.end()) invalid_escape();
  return simple->second;
}

}  // namespace

std::string unquoted_python_string(std::string_view quoted) {
  const bool has_quotes = quoted.size() >= 2 && (quoted.front() == '\'' || quoted.front() == '"') &&
                          quoted.back() == quoted.front();
  if (!has_quotes) throw DataError("a string without quotes");
  std::string_view rest = quoted.substr(1, quoted.size() - 2);
  std::string bytes;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    bytes += c == '\\' ? take_escaped_byte(rest) : c;
  }
  return bytes;
}

std::string unescaped_python_unicode(std::string_view escaped) {
  constexpr uint32_t kReplacement = 0xFFFD;
  std::string text;
  while (!escaped.empty()) {
    uint32_t code = take_code(escaped);
    if (is_high_surrogate(code) && escaped.starts_with("\\u")) {
      std::string_view after = escaped;
      const uint32_t low = take_code(after);
      if (is_low_surrogate(low)) {
        code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
        escaped = after;
      }
    }
    append_utf8(text, is_high_surrogate(code) || is_low_surrogate(code) ? kReplacement : code);
  }
  return text;
}

}  // namespace tpack
