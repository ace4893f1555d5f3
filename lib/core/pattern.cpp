#include "core/pattern.h"

#include <memory>
#include <re2/re2.h>
#include <unordered_map>
#include <vector>

#include "core/error.h"

namespace tpack {
namespace {

constexpr size_t kShown = 200;  // bytes of a pattern in a message

std::string remedy(const RE2& pattern) {
  const std::string& text = pattern.pattern();
  switch (pattern.error_code()) {
    case RE2::ErrorRepeatArgument:
      if (!text.empty() && std::string_view("*+?").find(text[0]) != std::string_view::npos)
        return "nothing comes before '" + text.substr(0, 1) + "'; write '.*' for any text";
      break;
    case RE2::ErrorMissingParen:
    case RE2::ErrorUnexpectedParen:
      return "its '(' and ')' do not match; write \\( for the character";
    case RE2::ErrorBadPerlOp:
      return "'" + pattern.error_arg() +
             "' is not supported (no look-ahead, no look-behind; a named group is (?P<NAME>...)); list the "
             "names, or use two patterns";
    case RE2::ErrorBadEscape:
      return "'" + pattern.error_arg() +
             R"(' is not supported; \1 and \2, the texts of groups, are not, and \\ is the character)";
    case RE2::ErrorRepeatSize:
      return "a repetition is at most 1,000 times";
    case RE2::ErrorPatternTooLarge:
      return "it needs more than 8 MB; repeat less, or list the names";
    default:
      break;
  }
  return pattern.error().substr(0, kShown);
}

/// Each thread keeps the patterns that it used last: one pattern is usually tried on many names.
const RE2& compiled(const std::string& pattern) {
  constexpr size_t kMax = 32;
  thread_local std::unordered_map<std::string, std::unique_ptr<const RE2>> known;
  const auto found = known.find(pattern);
  if (found != known.end()) return *found->second;
  RE2::Options options;
  options.set_log_errors(false);
  auto made = std::make_unique<const RE2>(pattern, options);
  if (!made->ok()) {
    const std::string shown = pattern.size() <= kShown ? pattern : pattern.substr(0, kShown) + "...";
    throw ConfigError("'" + shown + "' is not a valid regular expression: " + remedy(*made));
  }
  if (known.size() == kMax) known.clear();
  return *known.emplace(pattern, std::move(made)).first->second;
}

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool full_match(const std::string& name, const std::string& pattern) {
  return RE2::FullMatch(name, compiled(pattern));
}

bool partial_match(const std::string& name, const std::string& pattern) {
  return RE2::PartialMatch(name, compiled(pattern));
}

std::optional<std::string> match_and_replace(const std::string& name, const std::string& pattern,
                                             const std::string& replacement) {
  const RE2& compiled_pattern = compiled(pattern);
  std::vector<re2::StringPiece> groups(static_cast<size_t>(compiled_pattern.NumberOfCapturingGroups()) + 1);
  if (!compiled_pattern.Match(name, 0, name.size(), RE2::ANCHOR_BOTH, groups.data(),
                              static_cast<int>(groups.size())))
    return std::nullopt;
  std::string out;
  for (size_t at = 0; at < replacement.size(); ++at) {
    const char next = at + 1 < replacement.size() ? replacement[at + 1] : '\0';
    if (replacement[at] != '$' || (!is_decimal(next) && next != '&' && next != '$')) {
      out += replacement[at];
      continue;
    }
    ++at;
    if (next == '$') {
      out += '$';
      continue;
    }
    size_t group = next == '&' ? 0 : static_cast<size_t>(next - '0');
    if (is_decimal(next) && at + 1 < replacement.size() && is_decimal(replacement[at + 1]))
      group = group * 10 + static_cast<size_t>(replacement[++at] - '0');
    if (group >= groups.size())
      throw ConfigError("'" + replacement + "' uses group " + std::to_string(group) + ", but '" + pattern +
                        "' has " + std::to_string(groups.size() - 1));
    out += groups[group];
  }
  return out;
}

}  // namespace tpack
