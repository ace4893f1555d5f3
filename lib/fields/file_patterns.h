#pragma once

#include <string>
#include <vector>

#include "core/field.h"

namespace tpack {

// What lies beside FILE of records under the name FILE + ending: a description of its components, and where
// its records are. Patterns do not name them.
inline constexpr const char* kComponentsEnding = ".components.json";
inline constexpr const char* kIndexEnding = ".tpack-index";

/// Files in a config: a path, a pattern such as part-*.csv or part-{000..127}.tar, or a list of these.
struct FilePatterns {
  std::vector<Ref<Path>> all;
  bool is_list = false;

  /// The files, in order: `{000..127}` and `{a,b}` are expanded as in a shell, and `*`, `?` and `[...]` are
  /// replaced by the names of existing files, sorted. A path that exists is no pattern. Errors: ConfigError
  /// with `owner` ("CSV") if a file is missing, a pattern has none, or a file is listed twice.
  std::vector<std::string> files(const std::string& owner) const;
};

/// The names that a pattern with braces stands for. Errors: ConfigError at `where` for a range in the wrong
/// order, or of too many files.
std::vector<std::string> expanded_braces(const std::string& pattern, const Position& where);

template <>
struct Codec<FilePatterns> {
  static FieldType type();
  static std::optional<FilePatterns> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const FilePatterns& patterns);
};

}  // namespace tpack
