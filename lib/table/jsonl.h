#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// A value of a JSON object as the text of a field. Values in nested objects and lists have joined names:
/// {"size": {"x": 1}, "code": [5, 6]} has the values size.x, code.0 and code.1.
struct JsonlValue {
  std::string name;
  std::string text;  // a string without its quotes; true, false; of null and NaN: empty
};

/// Splits JSON lines into the values of one object per line. Lines of spaces are skipped. Threads: one at a
/// time.
class JsonlReader {
 public:
  /// The text must outlive the reader. `path` and `first_line`, that of the text in its file, are for
  /// messages.
  JsonlReader(std::string_view text, std::string path, int64_t first_line = 1);

  /// Moves to the next line, with an object or something else (see `why`); false at the end. Errors:
  /// DataError with path and line for a line of more than 100,000 values.
  bool next();
  /// In the order of the line.
  const std::vector<JsonlValue>& values() const { return values_; }
  /// Why the line is not an object; empty if it is one.
  const std::string& why() const { return why_; }
  /// From 1.
  int64_t line() const { return line_; }

 private:
  void parse(std::string_view line);
  [[noreturn]] void reject(const std::string& text) const;

  std::string_view text_;  // that is left
  std::string path_;
  int64_t line_;
  std::vector<JsonlValue> values_;
  std::string why_;
};

}  // namespace tpack
