#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// A value of a JSON object as the text of a field. Those of objects and lists in it have the names of both:
/// {"size": {"x": 1}, "code": [5, 6]} has the values size.x, code.0 and code.1.
struct JsonlValue {
  std::string name;
  std::string text;  // a string without its quotes; true, false; of null: empty
};

/// Splits JSON lines into the values of one object per line. Lines of spaces are skipped. Threads: one at a
/// time.
class JsonlReader {
 public:
  /// `more` gives the next piece of the text, valid until its next call; empty at the end. `path` is for
  /// messages. Errors: DataError for what is not text; those of `more`.
  JsonlReader(std::function<std::string_view()> more, std::string path);

  /// Goes to the next line with an object, or with something else, which `why` says; false at the end.
  /// Errors: DataError with path and line for a line of more than 64 MB, or 100,000 values.
  bool next();
  /// In the order of the line.
  const std::vector<JsonlValue>& values() const { return values_; }
  /// Why the line is no object; empty if it is one.
  const std::string& why() const { return why_; }
  /// From 1.
  int64_t line() const { return line_; }

 private:
  bool next_line(std::string_view& line);
  void parse(std::string_view line);
  [[noreturn]] void reject(const std::string& text) const;

  std::function<std::string_view()> more_;  // null: there are no more pieces
  std::string path_;
  std::string window_;  // the beginning of a line, and the piece after it
  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 0;
  std::vector<JsonlValue> values_;
  std::string why_;
};

}  // namespace tpack
