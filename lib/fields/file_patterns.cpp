#include "fields/file_patterns.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <glob.h>
#include <optional>
#include <unordered_set>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr int64_t kMostFiles = 100'000;

/// The number, if it has digits only, and at most nine.
std::optional<int64_t> digits_only(const std::string& text) {
  constexpr size_t kMostDigits = 9;
  const bool are_digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return are_digits && !text.empty() && text.size() <= kMostDigits ? std::optional<int64_t>(std::stoll(text))
                                                                   : std::nullopt;
}

/// "000..127" as its numbers, which keep their width, and "a,b" as its parts. Nothing if it is neither.
std::optional<std::vector<std::string>> parts_of_braces(const std::string& inside, const Position& where) {
  const size_t dots = inside.find("..");
  if (dots == std::string::npos)
    return inside.find(',') == std::string::npos ? std::nullopt : std::optional(split(inside, ','));
  const std::string begin = inside.substr(0, dots);
  const auto first = digits_only(begin);
  const auto last = digits_only(inside.substr(dots + 2));
  if (!first || !last) return std::nullopt;
  if (*first > *last || *last - *first >= kMostFiles)
    throw ConfigError(where, "'{" + inside + "}' must have the smaller number first, and at most " +
                                 with_thousands(kMostFiles) + " numbers");
  std::vector<std::string> parts;
  for (int64_t n = *first; n <= *last; ++n) {
    const std::string digits = std::to_string(n);
    parts.push_back(std::string(begin.size() - std::min(begin.size(), digits.size()), '0') + digits);
  }
  return parts;
}

/// One brace after the other, from the left.
void expand_braces(const std::string& pattern, size_t from, const Position& where,
                   std::vector<std::string>& all) {
  const size_t open = pattern.find('{', from);
  const size_t close = open == std::string::npos ? open : pattern.find('}', open);
  if (close == std::string::npos) {
    if (std::ssize(all) == kMostFiles)
      throw ConfigError(where, "a pattern for more than " + with_thousands(kMostFiles) + " files");
    all.push_back(pattern);
    return;
  }
  const auto parts = parts_of_braces(pattern.substr(open + 1, close - open - 1), where);
  if (!parts) return expand_braces(pattern, close + 1, where, all);
  for (const std::string& part : *parts)
    expand_braces(pattern.substr(0, open) + part + pattern.substr(close + 1), open + part.size(), where, all);
}

/// What tpack writes beside files of records is not one of them.
bool is_beside(const std::string& file, const std::vector<std::string>& sorted) {
  return std::ranges::any_of(std::array{kComponentsEnding, kIndexEnding}, [&](const std::string& ending) {
    return file.ends_with(ending) &&
           std::ranges::binary_search(sorted, file.substr(0, file.size() - ending.size()));
  });
}

std::vector<std::string> existing_files(const std::string& pattern) {
  glob_t found = {};
  const int result = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + (result == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  std::ranges::sort(files);
  const std::vector<std::string> all = files;
  std::erase_if(files, [&](const std::string& file) { return is_beside(file, all); });
  return files;
}

}  // namespace

std::vector<std::string> expanded_braces(const std::string& pattern, const Position& where) {
  std::vector<std::string> all;
  expand_braces(pattern, 0, where, all);
  return all;
}

std::vector<std::string> FilePatterns::files(const std::string& owner) const {
  std::vector<std::string> files;
  std::unordered_set<std::string> known;
  const auto add = [&](const std::string& file, const Ref<Path>& pattern) {
    if (!known.insert(file).second)
      throw ConfigError(pattern.position,
                        owner + ": " + file + " is listed twice, so its samples would count twice");
    if (std::filesystem::is_directory(file))
      throw ConfigError(pattern.position, owner + ": " + file + " is a folder; name its files, such as '" +
                                              pattern.name + "/*'");
    files.push_back(file);
  };
  std::error_code unknown;
  for (const Ref<Path>& pattern : all) {
    if (std::filesystem::exists(resolved_path(pattern), unknown)) {
      add(resolved_path(pattern), pattern);
      continue;
    }
    const std::vector<std::string> expanded = expanded_braces(pattern.name, pattern.position);
    std::vector<std::string> missing;
    for (const std::string& one : expanded) {
      const Ref<Path> path{one, pattern.position};
      const std::string file = resolved_path(path);
      if (std::filesystem::exists(file, unknown)) {
        add(file, pattern);
      } else if (one.find_first_of("*?[") == std::string::npos) {
        if (expanded.size() == 1) require_path(owner, path);
        missing.push_back(file);
      } else {
        const std::vector<std::string> found = existing_files(file);
        if (found.empty()) throw ConfigError(pattern.position, owner + ": no file matches '" + file + "'");
        for (const std::string& match : found) add(match, pattern);
      }
    }
    if (!missing.empty())
      throw ConfigError(pattern.position, owner + ": " + with_thousands(std::ssize(missing)) + " of the " +
                                              with_thousands(std::ssize(expanded)) + " files of '" +
                                              pattern.name + "' are missing, such as " + missing[0]);
  }
  return files;
}

FieldType Codec<FilePatterns>::type() {
  const FieldType path = Codec<Ref<Path>>::type();
  return FieldType::either({path, FieldType::list_of(path)}, "a path, or a list of paths");
}

std::optional<FilePatterns> Codec<FilePatterns>::parse(const ConfigNode& node, Reader& reader) {
  const ConfigNode list = node.is_list() ? node : ConfigNode::list({node}, node.position());
  auto all = Codec<std::vector<Ref<Path>>>::parse(list, reader);
  if (!all) return std::nullopt;
  const bool has_none =
      all->empty() || std::ranges::any_of(*all, [](const auto& one) { return one.empty(); });
  if (has_none) {
    reader.fail(node, "an empty path or list; name at least one file");
    return std::nullopt;
  }
  return FilePatterns{std::move(*all), node.is_list()};
}

ConfigNode Codec<FilePatterns>::dump(const FilePatterns& patterns) {
  if (patterns.is_list) return Codec<std::vector<Ref<Path>>>::dump(patterns.all);
  return patterns.all.empty() ? ConfigNode() : Codec<Ref<Path>>::dump(patterns.all.front());
}

}  // namespace tpack
