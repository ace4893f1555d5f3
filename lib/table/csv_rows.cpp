#include "table/csv_rows.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "core/field.h"
#include "core/map_in_order.h"
#include "core/text.h"
#include "system/machine.h"
#include "table/csv.h"
#include "table/jsonl.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhitespace = "whitespace";
constexpr const char* kCsv = "a CSV file";
constexpr const char* kJsonl = "a file of JSON lines";

/// The extension of a file name in lower case, without the extension of the compression: ".csv" for A.CSV.GZ.
std::string extension_of_content(const std::string& path) {
  fs::path name = fs::path(path).filename();
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  const std::string last = lower(name.extension().string());
  return last == ".gz" || last == ".zst" ? lower(name.stem().extension().string()) : last;
}

/// The difference of two lists of names: "lacks column 'a', which b.csv has".
std::string difference(const std::vector<std::string>& names, const CsvHeader& first) {
  const auto without = [](const std::vector<std::string>& all, const std::vector<std::string>& others) {
    const std::unordered_set<std::string> known(others.begin(), others.end());
    std::vector<std::string> left;
    for (const std::string& name : all)
      if (!known.contains(name)) left.push_back("'" + name + "'");
    return left;
  };
  const auto columns = [](const std::vector<std::string>& some) {
    return (some.size() == 1 ? "column " : "columns ") + join_first(some);
  };
  const auto lacks = without(first.names(), names);
  const auto more = without(names, first.names());
  std::vector<std::string> parts;
  if (!lacks.empty()) parts.push_back("lacks " + columns(lacks) + ", which " + first.path() + " has");
  if (!more.empty()) parts.push_back("has " + columns(more) + ", which " + first.path() + " lacks");
  if (parts.empty()) parts.push_back("has duplicate column names, but " + first.path() + " does not");
  return join(parts, ", and ");
}

/// For each column of the header, its index in another file; empty if all are the same. Errors: DataError
/// with the path if the file has other columns.
std::vector<size_t> places_of(const std::vector<std::string>& names, const CsvHeader& header,
                              const std::string& path) {
  if (names == header.names()) return {};
  const CsvHeader own(names, path, false);
  const bool has_same =
      names.size() == header.size() && std::ranges::all_of(names, [&](const std::string& name) {
        return own.count(name) == header.count(name);
      });
  if (!has_same)
    throw DataError(path, difference(names, header) + "; all files of a table must have the same columns");
  std::vector<size_t> places;
  for (const std::string& name : header.names()) places.push_back(own.first(name));
  return places;
}

}  // namespace

void CsvForm::check(const std::string& source) const {
  const bool is_character =
      delimiter.size() == 1 && std::string("\"\r\n").find(delimiter) == std::string::npos;
  if (is_character || delimiter == kWhitespace || delimiter == kAutoWord || delimiter == "tab") return;
  throw ConfigError(source + ": 'delimiter' is '" + delimiter +
                    R"('; must be one character of ASCII, such as "," or ";", or tab, whitespace or auto)");
}

char CsvForm::delimiter_of(const std::string& path) const {
  if (delimiter == kWhitespace) return CsvReader::kWhitespace;
  if (delimiter == kAutoWord) return extension_of_content(path) == ".tsv" ? '\t' : ',';
  return delimiter == "tab" ? '\t' : delimiter[0];
}

bool CsvForm::is_jsonl(const std::string& path) const {
  if (format != TableFormat::kByName) return format == TableFormat::kJsonl;
  const std::string extension = extension_of_content(path);
  return extension == ".jsonl" || extension == ".ndjson";
}

CsvRows::CsvRows(const FilePatterns& paths, CsvForm form, const std::string& source)
    : form_(std::move(form)) {
  files_ = paths.files(source);
  for (const std::string& file : files_)
    if (form_.is_jsonl(file) != form_.is_jsonl(files_[0]))
      throw ConfigError(paths.all[0].position, source + ": " + files_[0] + " and " + file +
                                                   " have different formats; convert one of them");
  are_jsonl_ = form_.is_jsonl(files_.at(0));
  if (are_jsonl_) jsonl_names_ = header_of_jsonl().names();
}

std::string CsvRows::name() const {
  return files_[0] + (files_.size() == 1 ? "" : " and " + std::to_string(files_.size() - 1) + " more");
}

std::vector<std::string> CsvRows::names_of(const std::vector<std::string_view>& fields) const {
  std::vector<std::string> names;
  for (const std::string_view field : fields)
    names.push_back(form_.header ? std::string(trim(field)) : std::to_string(names.size()));
  return names;
}

/// An open file, and the conversion of its text to rows.
struct CsvRows::File {
  /// The start of the text after the last complete row.
  struct End {
    size_t at;
    int64_t line;
  };

  size_t number;
  const std::string& path;
  TableText text;
  std::optional<TextPiece> first = {};  // after the header
  int64_t line = 1;                     // of the first row
  char delimiter = ',';
  size_t columns = 0;
  std::vector<size_t> places = {};  // indices of the columns in it; empty: in order
  std::string expected = {};        // number of fields, for messages
  std::unordered_map<std::string_view, size_t> column_of = {};  // of JSON lines
  NaWords na = {};

  std::optional<TextPiece> next() { return first ? std::exchange(first, std::nullopt) : text.next(); }
  End split(std::string_view lines, int64_t first_line, bool is_last, const OnRow& on_row) const {
    require_utf8(lines, path, first_line);
    return column_of.empty() ? split_csv(lines, first_line, is_last, on_row)
                             : split_jsonl(lines, first_line, on_row);
  }

 private:
  End split_csv(std::string_view lines, int64_t first_line, bool is_last, const OnRow& on_row) const {
    CsvReader reader(lines, delimiter, {path, first_line, is_last});
    std::vector<std::string_view> fields;
    std::vector<std::string_view> in_order(places.size());
    while (reader.next(fields)) {
      std::string why;
      if (fields.size() != columns)
        why = std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") + expected;
      const bool has_own_order = !places.empty() && why.empty();
      for (size_t i = 0; has_own_order && i < places.size(); ++i) in_order[i] = fields[places[i]];
      std::vector<std::string_view>& row = has_own_order ? in_order : fields;
      if (!na.empty()) na.clear_in(row);
      on_row({row, number, reader.line(), std::move(why)});
    }
    return {reader.at(), reader.next_line()};
  }
  End split_jsonl(std::string_view lines, int64_t first_line, const OnRow& on_row) const {
    JsonlReader reader(lines, path, first_line);
    std::vector<std::string_view> fields;
    while (reader.next()) {
      fields.assign(columns, std::string_view());
      for (const JsonlValue& value : reader.values())
        if (const auto at = column_of.find(value.name); at != column_of.end())
          fields[at->second] = value.text;
      if (!na.empty()) na.clear_in(fields);
      on_row({fields, number, reader.line(), reader.why()});
    }
    return {lines.size(), reader.line() + 1};
  }
};

/// Reads the pieces of a file. A row that does not end in a piece continues in the next one.
class CsvRows::Joiner {
 public:
  explicit Joiner(const File& file) : file_(file), line_(file.line) {}

  /// True at the beginning of a row.
  bool is_between_rows() const { return open_.empty(); }
  /// The line of the next row.
  int64_t line() const { return line_; }
  /// Skips a piece that was split starting with its own first line.
  void pass(std::string_view piece, const File::End& end) {
    open_ = piece.substr(end.at);
    line_ += end.line - 1;
  }
  void split(std::string_view piece, const OnRow& on_row) {
    const std::string joined = is_between_rows() ? "" : open_ + std::string(piece);
    const std::string_view lines = is_between_rows() ? piece : joined;
    const File::End end = file_.split(lines, line_, false, on_row);
    open_ = lines.substr(end.at);
    line_ = end.line;
    constexpr size_t kMaxRow = size_t{1} << 26U;
    if (open_.size() > kMaxRow)
      throw DataError(file_.path + ":" + std::to_string(line_),
                      "a row of more than 64 MB; check for an unclosed quote");
  }
  /// Call after the last piece. Errors: DataError for an incomplete row.
  void end(const OnRow& on_row) const {
    if (!is_between_rows()) file_.split(open_, line_, true, on_row);
  }

 private:
  const File& file_;
  std::string open_;  // the beginning of a row
  int64_t line_;
};

/// The first line `sep=;` sets the delimiter. Source: Excel.
void CsvRows::take_separator_line(File& file) const {
  constexpr std::string_view kWord = "sep=";
  const std::string_view text = file.first ? file.first->text() : std::string_view();
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = trim(text.substr(0, end));
  if (end == text.size() || !line.starts_with(kWord) || end < kWord.size() + 1) return;
  const char character = text[kWord.size()];
  if (line.size() > kWord.size() + 1 || character == '\r') return;  // a tab is trimmed
  if (form_.delimiter == kAutoWord) file.delimiter = character;
  file.first->remove_prefix(end + 1);
  ++file.line;
}

void CsvRows::for_each_file(const OnHeader& on_header, const std::function<void(File&)>& read) const {
  std::optional<CsvHeader> header;
  if (are_jsonl_) on_header(header.emplace(jsonl_names_, name(), false));
  for (size_t number = 0; number < files_.size(); ++number) {
    const std::string& path = files_[number];
    File file{number, path, TableText(path, form_.encoding, are_jsonl_ ? kJsonl : kCsv)};
    if (are_jsonl_) {
      file.columns = header->size();
      for (size_t i = 0; i < header->size(); ++i) file.column_of.emplace((*header)[i], i);
      file.na = NaWords(form_.na_values, header->names());
      read(file);
      continue;
    }
    file.delimiter = form_.delimiter_of(path);
    file.first = file.text.next();
    take_separator_line(file);
    CsvReader reader(file.first ? file.first->text() : std::string_view(), file.delimiter, {path, file.line});
    std::vector<std::string_view> fields;
    if (!reader.next(fields)) throw DataError(path, "is empty");
    require_utf8(file.first->text().substr(0, reader.at()), path, file.line);
    const std::vector<std::string> names = names_of(fields);
    if (form_.header) {
      file.first->remove_prefix(reader.at());
      file.line = reader.next_line();
    }
    if (!header) on_header(header.emplace(names, path, form_.header));
    file.columns = names.size();
    file.places = places_of(names, *header, path);
    file.na = NaWords(form_.na_values, header->names());
    file.expected = std::string(", but the ") + (form_.header ? "header" : "first row") + " has " +
                    std::to_string(names.size());
    read(file);
  }
}

void CsvRows::read(const OnHeader& on_header, const OnRow& on_row) const {
  for_each_file(on_header, [&](File& file) {
    Joiner rows(file);
    while (const auto piece = file.next()) rows.split(piece->text(), on_row);
    rows.end(on_row);
  });
}

void CsvRows::read_parts(const OnHeader& on_header,
                         const std::function<std::unique_ptr<Part>(size_t rows)>& begin,
                         const std::function<void(std::unique_ptr<Part>, PlaceOfPart)>& take) const {
  struct PieceRows {
    TextPiece piece;
    std::unique_ptr<Part> part;  // null after an error
    File::End end = {};
  };
  const auto new_part = [&](std::string_view piece) {
    return begin(static_cast<size_t>(count_of('\n', piece)) + 1);
  };
  constexpr uintmax_t kWorthThreads = 2'000'000;  // bytes
  for_each_file(on_header, [&](File& file) {
    Joiner rows(file);
    const auto work = [&](TextPiece piece) {
      auto part = new_part(piece.text());
      PieceRows done{std::move(piece), std::move(part)};
      try {
        done.end = file.split(done.piece.text(), 1, false, [&](const CsvRow& row) { done.part->add(row); });
      } catch (const DataError&) {
        done.part.reset();
      }
      return done;
    };
    const auto merge = [&](PieceRows done) {
      const std::string_view piece = done.piece.text();
      if (done.part != nullptr && rows.is_between_rows()) {
        take(std::move(done.part), {file.number, rows.line() - 1});
        return rows.pass(piece, done.end);
      }
      // It began within a row, or has an error, and its line is now known.
      done.part = new_part(piece);
      rows.split(piece, [&](const CsvRow& row) { done.part->add(row); });
      take(std::move(done.part), {file.number, 0});
    };
    const bool is_small = fs::file_size(file.path) < kWorthThreads;
    MapInOrder<TextPiece, PieceRows>([&] { return file.next(); }, work, merge)
        .run("read-table", is_small ? 1 : available_processors());
    rows.end([](const CsvRow& /*row*/) {});
  });
}

namespace {

/// The names of the values in JSON lines, in order of their first line.
class ValueNames {
 public:
  void add_lines(std::string_view lines, const std::string& path, int64_t& line) {
    require_utf8(lines, path, line);
    JsonlReader reader(lines, path, line);
    while (reader.next()) {
      if (reader.why().empty())
        add(reader, path);
      else if (bad_.empty())
        bad_ = path + ":" + std::to_string(reader.line()) + ": " + reader.why();
    }
    line = reader.line() + 1;
  }
  const std::vector<std::string>& all() const { return names_; }
  /// The first line that is not an object, and the reason.
  const std::string& bad() const { return bad_; }

 private:
  void add(const JsonlReader& reader, const std::string& path) {
    constexpr size_t kMaxColumns = 100'000;
    for (const JsonlValue& value : reader.values())
      if (known_.insert(value.name).second) names_.push_back(value.name);
    if (names_.size() > kMaxColumns)
      throw DataError(path + ":" + std::to_string(reader.line()),
                      "the lines up to here have more than " + with_thousands(kMaxColumns) +
                          " different names; use the same names in all lines");
  }

  std::vector<std::string> names_;
  std::set<std::string, std::less<>> known_;
  std::string bad_;
};

}  // namespace

CsvHeader CsvRows::header_of_jsonl() const {
  ValueNames names;
  for (const std::string& path : files_) {
    TableText text(path, form_.encoding, kJsonl);
    int64_t line = 1;
    while (const auto piece = text.next()) names.add_lines(piece->text(), path, line);
  }
  if (names.all().empty()) throw DataError(names.bad().empty() ? name() + ": is empty" : names.bad());
  return {names.all(), name(), false};
}

}  // namespace tpack
