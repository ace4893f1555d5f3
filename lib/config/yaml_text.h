#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/config_node.h"
#include "core/position.h"

namespace tpack {

/// The text of one YAML source, with the position of each byte and the style of each scalar.
class YamlText {
 public:
  static constexpr size_t kMaxBytes = 1'000'000;

  /// Reads a file. Errors: ConfigError if it is absent, not a file, larger than kMaxBytes, not UTF-8 or
  /// indented with tabs.
  static YamlText of_file(const std::string& path);
  /// Positions show `name` as the file. Errors: as above.
  static YamlText of_string(std::string text, const std::string& name);
  /// A value of the command line: all of it has the position `where`.
  static YamlText of_option(std::string text, Position where);

  const std::string& text() const { return text_; }
  /// Line and column (in characters) of a byte; the end of the text for offsets past it.
  Position position(size_t offset) const;
  /// The start of the value whose tag and anchor are at `offset`.
  size_t skip_properties(size_t offset) const;
  /// True if the quote at `offset` has its end.
  bool quote_ends(size_t offset) const;
  /// The style of the scalar at `offset`.
  ConfigNode::Style style_at(size_t offset) const;

 private:
  YamlText(std::string text, Position origin);
  void check() const;
  size_t characters_before(size_t offset) const;

  std::string text_;  // without byte-order mark
  Position origin_;   // line 0: the position of everything
  std::vector<size_t> line_starts_;
  std::vector<size_t> characters_;  // before every kStride-th byte
};

}  // namespace tpack
