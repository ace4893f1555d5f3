#include "core/other_words.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/text.h"

namespace tpack {
namespace {

constexpr std::array kWords = std::to_array<OtherWords>({
#include "core/other_words.def"
});

std::string folded_word(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '_' && c != '-') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// "layer Conv2D" is that place, and one of "any layer".
bool is_at(std::string_view listed, std::string_view place) {
  constexpr std::string_view kAny = "any ";
  if (listed == place) return true;
  if (!listed.starts_with(kAny)) return false;
  listed.remove_prefix(kAny.size());
  return place.size() > listed.size() && place.starts_with(listed) && place[listed.size()] == ' ';
}

bool is_one_of(std::string_view words, const std::string& folded) {
  const std::vector<std::string> all = split(words, ' ');
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return folded_word(one) == folded; });
}

}  // namespace

std::span<const OtherWords> other_words() { return kWords; }

std::string advice_on(std::string_view place, std::string_view word) {
  const std::string folded = folded_word(word);
  for (const OtherWords& row : kWords) {
    const std::vector<std::string> places = split(row.places, '|');
    const auto here = [place](const std::string& one) { return is_at(one, place); };
    if (std::any_of(places.begin(), places.end(), here) && is_one_of(row.words, folded))
      return "; " + std::string(row.advice);
  }
  return "";
}

}  // namespace tpack
