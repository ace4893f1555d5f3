#include "experiment/error_facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "core/text.h"

namespace tpack {
namespace {

constexpr std::array<std::string_view, 15> kKinds = {
    "not valid YAML", "unknown", "no such",   "nothing to delete", "is missing",
    "expected",       "must",    "needs",     "duplicate",         "invalid",
    "not supported",  "empty",   "ambiguous", "nested deeper",     "circular"};

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// The part of `text` from `begin` up to one of `ends` outside parentheses. Words in parentheses, which
/// describe the names of a list, are omitted; `size` is the length of the whole part.
std::string phrase(const std::string& text, size_t begin, std::string_view ends, size_t& size) {
  std::string found;
  int depth = 0;
  size_t at = begin;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (depth == 0 && ends.find(text[at]) != std::string_view::npos) break;
    const bool before_parenthesis = depth == 0 && text.compare(at, 2, " (") == 0;
    if (depth == 0 && !before_parenthesis) found += text[at];
    if (text[at] == ')' && depth > 0) --depth;
  }
  size = at - begin;
  return found;
}

/// Removes the phrase that begins with `opening` from `text` and returns it; "" if there is none.
std::string take_phrase(std::string& text, std::string_view opening, std::string_view ends) {
  const size_t begin = text.find(opening);
  if (begin == std::string::npos) return "";
  size_t size = 0;
  std::string found = phrase(text, begin, ends, size);
  text.replace(begin, size, " ");
  return found;
}

/// Where the quote that opens at `begin` closes; an apostrophe inside a word does not close it.
size_t closing_quote(const std::string& text, size_t begin) {
  size_t at = text.find(text[begin], begin + 1);
  while (at != std::string::npos && at + 1 < text.size() && is_alnum(text[at + 1])) {
    at = text.find(text[begin], at + 1);
  }
  return at;
}

/// Removes everything in quotes from `text` and returns it, including the quotes.
std::vector<std::string> take_quoted(std::string& text) {
  std::vector<std::string> found;
  std::string rest;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool opens =
        (text[at] == '\'' || text[at] == '`' || text[at] == '"') && (at == 0 || !is_alnum(text[at - 1]));
    const size_t end = opens ? closing_quote(text, at) : std::string::npos;
    if (end == std::string::npos) {
      rest += text[at];
      continue;
    }
    found.push_back(text.substr(at, end - at + 1));
    rest += ' ';
    at = end;
  }
  text = rest;
  return found;
}

std::string kind_of(const std::string& text) {
  size_t first = std::string::npos;
  std::string_view kind;
  for (const std::string_view candidate : kKinds) {
    const size_t at = text.find(candidate);
    if (at >= first) continue;
    first = at;
    kind = candidate;
  }
  return std::string(kind);
}

/// True for numbers, paths and names, such as "4", "a/b", "Adam", "batch_size"; other words are lowercase.
bool is_name(std::string_view word) {
  return std::any_of(word.begin(), word.end(),
                     [](char c) { return c == '_' || c == '/' || is_upper(c) || (c >= '0' && c <= '9'); });
}

std::vector<std::string> names_in_text(const std::string& text) {
  constexpr std::string_view kPunctuation = ".,;:()[]{}?!\"";
  std::vector<std::string> found;
  for (const std::string& word : split(text, ' ')) {
    const size_t begin = word.find_first_not_of(kPunctuation);
    if (begin == std::string::npos) continue;
    const std::string bare = word.substr(begin, word.find_last_not_of(kPunctuation) - begin + 1);
    if (is_name(bare)) found.push_back(bare);
  }
  return found;
}

std::string facts_of_line(const std::string& line) {
  const size_t colon = line.find(": ");
  std::string text = colon == std::string::npos ? "" : line.substr(colon + 2);
  const std::string meant = take_phrase(text, "did you mean ", "?;");
  const std::string known = take_phrase(text, "known: ", ";?");
  const std::string allowed = take_phrase(text, "must be one of ", ";?");
  const std::string found = take_phrase(text, "found ", ";,");
  const std::vector<std::string> quoted = take_quoted(text);
  const std::string kind = kind_of(text);
  std::string facts = line.substr(0, colon) + ":" + (kind.empty() ? "" : " " + kind);
  const std::vector<std::string> parts = {
      join(quoted, " "), join(names_in_text(text), " "), found, allowed, known, meant};
  for (const std::string& part : parts) {
    if (!part.empty()) facts += "; " + part;
  }
  return facts;
}

}  // namespace

std::string error_facts(const std::string& text) {
  std::vector<std::string> facts;
  for (const std::string& line : split(text, '\n')) facts.push_back(facts_of_line(line));
  return join(facts, "\n");
}

}  // namespace tpack
