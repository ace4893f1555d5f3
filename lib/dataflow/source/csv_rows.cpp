#include "dataflow/source/csv_rows.h"

#include <algorithm>
#include <filesystem>
#include <glob.h>
#include <set>
#include <unordered_map>

#include "core/error.h"
#include "core/text.h"
#include "dataflow/format/csv.h"
#include "dataflow/format/jsonl.h"
#include "dataflow/source.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhitespace = "whitespace";

/// The extension of a file's name in lower case, that of the content if the file is packed: ".csv" of
/// A.CSV.GZ.
std::string extension_of_content(const std::string& path) {
  fs::path name = fs::path(path).filename();
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  const std::string last = lower(name.extension().string());
  return last == ".gz" || last == ".zst" ? lower(name.stem().extension().string()) : last;
}

/// The files that match a pattern, sorted; the path itself if it is a file or no pattern.
std::vector<std::string> matching_files(const Ref<Path>& path, const std::string& source) {
  std::string pattern = resolved_path(path);
  std::error_code unknown;
  if (pattern.find_first_of("*?[") == std::string::npos || fs::exists(pattern, unknown)) {
    require_path(source, path);
    return {std::move(pattern)};
  }
  glob_t found = {};
  const int result = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + (result == 0 ? found.gl_pathc : 0));
  globfree(&found);
  if (files.empty()) throw ConfigError(path.position, source + ": no file matches '" + pattern + "'");
  std::sort(files.begin(), files.end());
  return files;
}

/// What one list of names has and the other one lacks: "lacks column 'a', which b.csv has".
std::string difference(const std::vector<std::string>& names, const CsvHeader& first) {
  const auto without = [](const std::vector<std::string>& all, const std::vector<std::string>& others) {
    std::vector<std::string> left;
    for (const std::string& name : all)
      if (std::find(others.begin(), others.end(), name) == others.end()) left.push_back("'" + name + "'");
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
  if (parts.empty()) parts.push_back("has names of columns twice, as " + first.path() + " has not");
  return join(parts, ", and ");
}

/// For each column of the header its place in another file; empty if it is the same for all. Errors:
/// DataError with the path if the file has other columns.
std::vector<size_t> places_of(const std::vector<std::string>& names, const CsvHeader& header,
                              const std::string& path) {
  if (names == header.names()) return {};
  if (!std::is_permutation(names.begin(), names.end(), header.names().begin(), header.names().end()))
    throw DataError(path, difference(names, header) + "; the files of a table have the same columns");
  std::vector<size_t> places;
  for (const std::string& name : header.names())
    places.push_back(static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  return places;
}

}  // namespace

FieldType Codec<TablePaths>::type() {
  const FieldType path = Codec<Ref<Path>>::type();
  return FieldType::either({path, FieldType::list_of(path)}, "a path, or a list of paths");
}

std::optional<TablePaths> Codec<TablePaths>::parse(const ConfigNode& node, Reader& reader) {
  const ConfigNode list = node.is_list() ? node : ConfigNode::list({node}, node.position());
  auto all = Codec<std::vector<Ref<Path>>>::parse(list, reader);
  if (!all) return std::nullopt;
  const bool has_none =
      all->empty() || std::any_of(all->begin(), all->end(), [](const auto& one) { return one.empty(); });
  if (has_none) {
    reader.fail(node, "an empty path or list; name at least one file");
    return std::nullopt;
  }
  return TablePaths{std::move(*all), node.is_list()};
}

ConfigNode Codec<TablePaths>::dump(const TablePaths& paths) {
  if (paths.is_list) return Codec<std::vector<Ref<Path>>>::dump(paths.all);
  return paths.all.empty() ? ConfigNode() : Codec<Ref<Path>>::dump(paths.all.front());
}

void CsvForm::check(const std::string& source) const {
  const bool is_character =
      delimiter.size() == 1 && std::string("\"\r\n").find(delimiter) == std::string::npos;
  if (is_character || delimiter == kWhitespace || delimiter == kAuto || delimiter == "tab") return;
  throw ConfigError(source + ": 'delimiter' is '" + delimiter +
                    R"('; must be one character of ASCII, such as "," or ";", or tab, whitespace or auto)");
}

char CsvForm::delimiter_of(const std::string& path) const {
  if (delimiter == kWhitespace) return CsvReader::kWhitespace;
  if (delimiter == kAuto) return extension_of_content(path) == ".tsv" ? '\t' : ',';
  return delimiter == "tab" ? '\t' : delimiter[0];
}

bool CsvForm::is_jsonl(const std::string& path) const {
  if (format != TableFormat::kByName) return format == TableFormat::kJsonl;
  const std::string extension = extension_of_content(path);
  return extension == ".jsonl" || extension == ".ndjson";
}

CsvRows::CsvRows(const TablePaths& paths, CsvForm form, const std::string& source) : form_(std::move(form)) {
  std::set<std::string> known;
  for (const Ref<Path>& path : paths.all) {
    for (std::string& file : matching_files(path, source)) {
      if (!known.insert(file).second)
        throw ConfigError(path.position, source + ": " + file + " is named twice; a row would count twice");
      if (!files_.empty() && form_.is_jsonl(file) != form_.is_jsonl(files_[0]))
        throw ConfigError(path.position, source + ": " + files_[0] + " and " + file +
                                             " have different formats; convert one of them");
      files_.push_back(std::move(file));
    }
  }
  are_jsonl_ = form_.is_jsonl(files_.at(0));
  if (are_jsonl_) jsonl_names_ = header_of_jsonl().names();
}

std::string CsvRows::name() const {
  return files_[0] + (files_.size() == 1 ? "" : " and " + std::to_string(files_.size() - 1) + " more");
}

void CsvRows::read(const std::function<void(const CsvHeader&)>& on_header, const OnRow& on_row) const {
  std::optional<CsvHeader> header;
  if (are_jsonl_) on_header(header.emplace(jsonl_names_, name(), false));
  for (size_t file = 0; file < files_.size(); ++file) {
    if (are_jsonl_)
      read_jsonl(file, *header, on_row);
    else
      read_csv(file, header, on_header, on_row);
  }
}

std::vector<std::string> CsvRows::names_of(const std::vector<std::string_view>& fields) const {
  std::vector<std::string> names;
  for (const std::string_view field : fields)
    names.push_back(form_.header ? std::string(trim(field)) : std::to_string(names.size()));
  return names;
}

void CsvRows::read_csv(size_t file, std::optional<CsvHeader>& header,
                       const std::function<void(const CsvHeader&)>& on_header, const OnRow& on_row) const {
  const std::string& path = files_[file];
  TableText text(path, form_.encoding);
  CsvReader reader([&text] { return text.next(); }, form_.delimiter_of(path), path);
  std::vector<std::string_view> fields;
  if (!reader.next(fields)) throw DataError(path, "is empty");
  const std::vector<std::string> names = names_of(fields);
  if (!header) on_header(header.emplace(names, path, form_.header));
  const std::vector<size_t> places = places_of(names, *header, path);
  std::vector<std::string_view> in_order(places.size());
  const std::string expected = std::string(", but the ") + (form_.header ? "header" : "first row") + " has " +
                               std::to_string(names.size());
  for (bool has_row = !form_.header || reader.next(fields); has_row; has_row = reader.next(fields)) {
    std::string why;
    if (fields.size() != names.size())
      why = std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") + expected;
    if (places.empty() || !why.empty()) {
      on_row({fields, file, reader.line(), std::move(why)});
      continue;
    }
    for (size_t i = 0; i < places.size(); ++i) in_order[i] = fields[places[i]];
    on_row({in_order, file, reader.line()});
  }
}

CsvHeader CsvRows::header_of_jsonl() const {
  constexpr size_t kMaxColumns = 100'000;
  std::vector<std::string> names;
  std::set<std::string, std::less<>> known;
  std::string bad;  // the first line that is no object
  for (const std::string& path : files_) {
    TableText text(path, form_.encoding);
    JsonlReader reader([&text] { return text.next(); }, path);
    while (reader.next()) {
      if (!reader.why().empty()) {
        if (bad.empty()) bad = path + ":" + std::to_string(reader.line()) + ": " + reader.why();
        continue;
      }
      for (const JsonlValue& value : reader.values())
        if (known.insert(value.name).second) names.push_back(value.name);
      if (names.size() > kMaxColumns)
        throw DataError(path + ":" + std::to_string(reader.line()),
                        "the lines up to here have more than " + with_thousands(kMaxColumns) +
                            " different names; give the same things the same names in each line");
    }
  }
  if (names.empty()) throw DataError(bad.empty() ? name() + ": is empty" : bad);
  return {std::move(names), name(), false};
}

void CsvRows::read_jsonl(size_t file, const CsvHeader& header, const OnRow& on_row) const {
  std::unordered_map<std::string_view, size_t> column_of;
  for (size_t i = 0; i < header.size(); ++i) column_of.emplace(header[i], i);
  TableText text(files_[file], form_.encoding);
  JsonlReader reader([&text] { return text.next(); }, files_[file]);
  std::vector<std::string_view> fields;
  while (reader.next()) {
    fields.assign(header.size(), std::string_view());
    for (const JsonlValue& value : reader.values())
      if (const auto at = column_of.find(value.name); at != column_of.end()) fields[at->second] = value.text;
    on_row({fields, file, reader.line(), reader.why()});
  }
}

}  // namespace tpack
