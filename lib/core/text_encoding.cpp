#include "core/text_encoding.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utf8proc.h>

namespace tpack {
namespace {

/// True if the next eight bytes are ASCII, as in most texts.
bool has_eight_of_ascii(std::string_view text, size_t at) {
  uint64_t bytes = 0;
  if (text.size() - at < sizeof bytes) return false;
  std::memcpy(&bytes, text.data() + at, sizeof bytes);
  return (bytes & 0x8080808080808080U) == 0;
}

/// Length in bytes of the UTF-8 character at `at`; 0 if it is invalid.
size_t character_bytes(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  // Overlong forms, surrogates, and values above U+10FFFF.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F))
    return 0;
  return length;
}

}  // namespace

std::optional<size_t> first_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = has_eight_of_ascii(text, at) ? 8 : character_bytes(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

namespace {

/// The code point of a valid character of UTF-8.
uint32_t code_point(std::string_view character) {
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(character[i])}; };
  if (character.size() == 1) return byte(0);
  uint32_t code = byte(0) & (0x7FU >> character.size());
  for (size_t i = 1; i < character.size(); ++i) code = code << 6U | (byte(i) & 0x3FU);
  return code;
}

/// Controls (C0, DEL, C1), and characters that turn the direction of the text around them.
bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string in_hexadecimal(const char* mark, uint32_t number, int digits) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%s%0*X", mark, digits, number);
  return text.data();
}

/// `kept`: control characters that stay; nothing: all.
std::string visible(std::string_view bytes, std::optional<std::string_view> kept) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = character_bytes(bytes, 0);
    const std::string_view character = bytes.substr(0, std::max<size_t>(length, 1));
    const uint32_t code = length == 0 ? 0 : code_point(character);
    bytes.remove_prefix(character.size());
    if (length == 0)
      text += in_hexadecimal("\\x", static_cast<unsigned char>(character[0]), 2);
    else if (!kept || !is_control(code) || kept->find(character[0]) != std::string_view::npos)
      text += character;
    else if (code == '\n' || code == '\t' || code == '\r')
      text += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    else
      text += code < 0x100 ? in_hexadecimal("\\x", code, 2) : in_hexadecimal("\\u", code, 4);
  }
  return text;
}

}  // namespace

std::string printable(std::string_view bytes) { return visible(bytes, ""); }
std::string valid_utf8(std::string_view bytes) { return visible(bytes, std::nullopt); }
std::string printable_lines(std::string_view text) { return visible(text, "\n\t"); }

std::string utf8_of_latin1(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0U | byte >> 6U);
      out += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return out;
}

namespace {

std::string in_form(int form, const std::string& text) {
  const bool is_ascii = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
  if (is_ascii) return text;
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t bytes = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                              static_cast<utf8proc_ssize_t>(text.size()), &made,
                                              static_cast<utf8proc_option_t>(UTF8PROC_STABLE | form));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, &std::free);
  return bytes < 0 ? text : std::string(reinterpret_cast<const char*>(made), static_cast<size_t>(bytes));
}

}  // namespace

std::string composed(const std::string& text) { return in_form(UTF8PROC_COMPOSE, text); }
std::string decomposed(const std::string& text) { return in_form(UTF8PROC_DECOMPOSE, text); }

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace tpack
