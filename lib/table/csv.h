#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// Splits CSV text (RFC 4180) into records. Fields may be in double quotes, within which "" is a quote;
/// lines end in \n, \r\n or \r; empty lines are skipped. Spaces around fields are kept. Threads: one at a
/// time.
class CsvReader {
 public:
  /// As a delimiter: runs of spaces and tabs, except at the ends of lines.
  static constexpr char kWhitespace = '\0';

  /// The position of the text in its file.
  struct Place {
    std::string path;
    int64_t first_line = 1;
    bool is_last = true;  // false: more text follows
  };

  /// The text must outlive the reader and the fields.
  CsvReader(std::string_view text, char delimiter, Place place);

  /// Fills `fields` with the fields of the next record, valid until the next call. False at the end, and at
  /// an unclosed quote if more text follows. Errors: DataError with path and line for another unclosed quote,
  /// and for text after a closing quote.
  bool next(std::vector<std::string_view>& fields);
  /// The line in which the last record starts.
  int64_t line() const { return line_; }
  /// The line and the byte of the text where the next record starts.
  int64_t next_line() const { return next_line_; }
  size_t at() const { return at_; }

 private:
  void look_at(size_t byte);
  size_t find_mark(size_t byte);
  bool split(std::vector<std::string_view>& fields);
  bool split_at_whitespace(std::vector<std::string_view>& fields);
  std::optional<std::string_view> quoted_field();
  bool is_delimiter(char c) const;
  bool ends_line() const;
  bool skip_line_end();
  [[noreturn]] void reject(int64_t line, const std::string& text) const;

  std::string_view text_;
  char delimiter_;
  Place place_;
  size_t at_ = 0;
  int64_t line_ = 0;
  int64_t next_line_;
  size_t block_ = 0;    // the first of 64 bytes
  uint64_t marks_ = 0;  // a bit for each of them that is a delimiter, the end of a line or a quote
  std::deque<std::string> unquoted_;  // fields that had "" in them
};

/// The number in a field; nothing if it is not a number. Numbers have digits and a point, such as -1.5 or
/// 2e-3; spaces around them do not count.
std::optional<double> csv_number(std::string_view field, char decimal = '.');
/// A key that is equal for all spellings of a number: 1 and 1.0 have the same key, 07 and 7 do not. Nothing
/// for other texts.
std::optional<std::string> csv_number_key(std::string_view field);
/// True for missing values: empty or spaces, NA, N/A, NaN, null, None and ?, and the words of Excel, pandas
/// and MySQL: #N/A, <NA>, NaT, \N.
bool is_missing_in_csv(std::string_view field);

}  // namespace tpack
