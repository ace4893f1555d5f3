#include "core/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace tpack {
namespace {

bool upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

template <class T>
std::string shortest_of(T value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

template <class... Args>
std::string printed(const char* format, Args... args) {
  std::array<char, 64> buffer{};
  const int n = std::snprintf(buffer.data(), buffer.size(), format, args...);
  return {buffer.data(), static_cast<size_t>(n)};
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (const std::string& word : split(text, ' ')) {
    if (!line.empty() && character_count(line) + 1 + character_count(word) > width)
      lines.push_back(std::exchange(line, ""));
    line += (line.empty() ? "" : " ") + word;
  }
  lines.push_back(line);
  return lines;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string join_first(std::span<const std::string> parts) {
  constexpr size_t kMax = 10;
  if (parts.size() <= kMax) return join(parts, ", ");
  return join(parts.first(kMax), ", ") + " and " + with_thousands(static_cast<int64_t>(parts.size() - kMax)) +
         " more";
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

size_t character_count(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

bool starts_with_digit(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0;
}

std::string snake_case(std::string_view name) {
  std::string text(name);
  // Usual names where a capital inside a word does not begin a new word.
  for (const auto& [name_of_field, word] : {std::pair("ReLU", "Relu"), std::pair("IoU", "Iou")}) {
    for (size_t at = text.find(name_of_field); at != std::string::npos; at = text.find(name_of_field))
      text.replace(at, std::string_view(word).size(), word);
  }
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool before_small = i + 1 < text.size() && lower(text[i + 1]);
    const bool begins =
        i > 0 && upper(text[i]) && (lower(text[i - 1]) || (before_small && upper(text[i - 1])));
    if (begins) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  }
  return out;
}

std::string with_article(std::string_view noun) {
  const bool vowel =
      !noun.empty() && std::string_view("aeiouAEIOU").find(noun.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_field(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return shortest(number);
}

std::string shortest(double value) { return shortest_of(value); }
std::string shortest(float value) { return shortest_of(value); }

std::string human_bytes(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  const auto full = [&] { return value >= (unit == 0 ? 1000 : 999.95); };  // prints as 1000.0
  while (full() && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return printed(unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
}

std::string human_duration(double seconds) {
  if (seconds < 999.95e-6) return printed("%.1f us", seconds * 1e6);
  if (seconds < 999.95e-3) return printed("%.1f ms", seconds * 1e3);
  if (seconds < 59.95) return printed("%.1f s", seconds);
  const auto total = static_cast<int64_t>(std::llround(seconds));
  if (total < 3600)
    return printed("%d min %02d s", static_cast<int>(total / 60), static_cast<int>(total % 60));
  return printed("%d h %02d min %02d s", static_cast<int>(total / 3600), static_cast<int>(total / 60 % 60),
                 static_cast<int>(total % 60));
}

std::string with_thousands(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace tpack
