#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// Splits CSV text (RFC 4180) into records. Fields may be in double quotes, within which "" is a quote;
/// lines end in \n, \r\n or \r; a byte order mark is skipped, and so are empty lines. Spaces around fields
/// are kept. Threads: one at a time.
class CsvReader {
 public:
  /// As a delimiter: runs of spaces and tabs; those at the ends of lines do not count.
  static constexpr char kWhitespace = '\0';

  /// Gives the next piece of the text, which must live until the next call; empty at the end.
  using More = std::function<std::string_view()>;

  /// The text must outlive the reader and the fields; `path` is for messages. Errors: DataError for text in
  /// UTF-16.
  CsvReader(std::string_view text, char delimiter, std::string path);
  /// The same for a text in pieces. Errors: as those of `more`, too.
  CsvReader(More more, char delimiter, std::string path);

  /// Fills `fields` with those of the next record, valid until the next call; false at the end. Errors:
  /// DataError with path and line for a quote that is not closed, and for text after a closing quote.
  /// A record of a text in pieces may have up to 64 MB.
  bool next(std::vector<std::string_view>& fields);
  /// The line, from 1, in which the last record starts.
  int64_t line() const { return line_; }

 private:
  void add_piece(size_t from);
  void read_record(std::vector<std::string_view>& fields);
  void split_at_whitespace(std::vector<std::string_view>& fields);
  std::string_view field();
  std::string_view quoted_field();
  bool is_delimiter(char c) const;
  bool ends_line() const;
  bool skip_line_end();
  [[noreturn]] void reject(int64_t line, const std::string& text) const;

  More more_;           // null: there are no more pieces
  std::string window_;  // the beginning of a record, and the piece after it
  std::string_view text_;
  char delimiter_;
  std::string path_;
  size_t at_ = 0;
  int64_t line_ = 0;
  int64_t next_line_ = 1;
  std::deque<std::string> unquoted_;  // fields that had "" in them
};

/// The number that a field holds. Nothing if it is no number: a number has digits and a point, such as -1.5
/// or 2e-3; spaces around it do not count.
std::optional<double> csv_number(std::string_view field);
/// True for fields that stand for no value: empty or spaces, NA, N/A, NaN, null, None and ?.
bool is_missing_in_csv(std::string_view field);

}  // namespace tpack
