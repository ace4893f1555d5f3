#include "table/csv_columns.h"

#include <algorithm>

#include "core/error.h"
#include "core/pattern.h"
#include "core/text.h"
#include "table/csv.h"

namespace tpack {
namespace {

struct LabelColumnParams {
  std::string column;
  std::vector<std::string> classes;
  std::string separator;
};

Schema<LabelColumnParams> label_column_schema() {
  return Schema<LabelColumnParams>("A column of class names.")
      .field("column", &LabelColumnParams::column, "name of the column")
      .required()
      .shorthand()
      .field("classes", &LabelColumnParams::classes,
             "names of the classes in the order of their labels; default: the names in the file, sorted")
      .field("separator", &LabelColumnParams::separator,
             "separator of several labels in a row, such as \" \" (any white space), \",\" or \"|\"; the "
             "result is 0 or 1 for each label of the file, float32 [labels]; default: a row has one class");
}

/// Column names may look like numbers.
std::optional<ColumnRef> parse_column(const ConfigNode& node, Reader& reader) {
  if (node.is_string() || node.kind() == ConfigNode::Kind::kInt)
    return ColumnRef{node.text(), node.position()};
  reader.wrong_type(node, "the name of a column, or a pattern");
  return std::nullopt;
}

std::vector<ColumnRef> parse_columns(const ConfigNode& list, Reader& reader) {
  std::vector<ColumnRef> columns;
  if (list.size() == 0) reader.fail(list, "an empty list; name at least one column");
  for (const ConfigNode& column : list.items()) {
    if (auto parsed = parse_column(column, reader)) columns.push_back(std::move(*parsed));
  }
  return columns;
}

ConfigNode dumped_columns(const std::vector<ColumnRef>& columns) {
  std::vector<ConfigNode> names;
  for (const ColumnRef& column : columns) names.emplace_back(column.name);
  return ConfigNode::list(std::move(names));
}

LabelColumn parse_labels(const std::string& component, const ConfigNode& value, Reader& reader) {
  if (value.is_list()) return {component, {"", value.position()}, {}, parse_columns(value, reader), {}};
  const bool is_index = value.kind() == ConfigNode::Kind::kInt;
  const ConfigNode named = is_index ? ConfigNode::string(value.text(), value.position()) : value;
  const auto p = label_column_schema().parse(named, "component " + component, reader.errors());
  const ConfigNode* column = value.find("column");
  return {component,
          {p.column, column == nullptr ? value.position() : column->position()},
          p.classes,
          {},
          p.separator};
}

/// The separator of the words in names that were not split; empty if there is none.
std::string delimiter_in(const std::vector<std::string>& names) {
  for (const auto& [character, word] :
       {std::pair(';', "\";\""), std::pair('\t', "tab"), std::pair('|', "\"|\""), std::pair(',', "\",\"")}) {
    const auto has = [c = character](const std::string& name) { return name.find(c) != std::string::npos; };
    const size_t most = character == ';' || character == '\t' ? 2 : 1;  // commas of numbers split one
    if (names.size() <= most && std::any_of(names.begin(), names.end(), has))
      return std::string("set delimiter: ") + word;
  }
  return "";
}

}  // namespace

FieldType Codec<std::vector<NumberColumns>>::type() {
  const FieldType columns = FieldType::either({FieldType::list_of(FieldType::text()), FieldType::text()},
                                              "a column or a list of columns");
  return FieldType::map_of(columns, "columns by component");
}

std::optional<std::vector<NumberColumns>> Codec<std::vector<NumberColumns>>::parse(const ConfigNode& node,
                                                                                   Reader& reader) {
  const size_t before = reader.errors().count();
  if (!node.is_map()) {
    reader.wrong_type(node, "columns by component, such as {x: [width, height], y: price}");
    return std::nullopt;
  }
  std::vector<NumberColumns> all;
  for (const auto& [component, value, position] : node.entries()) {
    const ConfigNode list = value.is_list() ? value : ConfigNode::list({value}, value.position());
    all.push_back({component, parse_columns(list, reader), value.is_list()});
  }
  return reader.errors().count() == before ? std::optional(std::move(all)) : std::nullopt;
}

ConfigNode Codec<std::vector<NumberColumns>>::dump(const std::vector<NumberColumns>& all) {
  std::vector<ConfigNode::Entry> entries;
  for (const NumberColumns& one : all) {
    entries.push_back(
        {one.component, one.is_list ? dumped_columns(one.columns) : ConfigNode(one.columns.front().name)});
  }
  return ConfigNode::map(std::move(entries));
}

FieldType Codec<std::vector<LabelColumn>>::type() {
  const FieldType one =
      FieldType::section(label_column_schema().fields(), "a column of class names", "column");
  return FieldType::map_of(
      FieldType::either({one, FieldType::list_of(FieldType::text())},
                        "a column of class names or of several labels, or a list of binary columns"),
      "columns of labels by component");
}

std::optional<std::vector<LabelColumn>> Codec<std::vector<LabelColumn>>::parse(const ConfigNode& node,
                                                                               Reader& reader) {
  const size_t before = reader.errors().count();
  if (!node.is_map()) {
    reader.wrong_type(node, "columns by component, such as {label: species}");
    return std::nullopt;
  }
  std::vector<LabelColumn> all;
  for (const auto& [component, value, position] : node.entries())
    all.push_back(parse_labels(component, value, reader));
  return reader.errors().count() == before ? std::optional(std::move(all)) : std::nullopt;
}

ConfigNode Codec<std::vector<LabelColumn>>::dump(const std::vector<LabelColumn>& all) {
  std::vector<ConfigNode::Entry> entries;
  for (const LabelColumn& one : all) {
    entries.push_back({one.component, one.set.empty() ? label_column_schema().dump(
                                                            {one.column.name, one.classes, one.separator})
                                                      : dumped_columns(one.set)});
  }
  return ConfigNode::map(std::move(entries));
}

bool is_auto(const NumberColumns& numbers) {
  return !numbers.is_list && numbers.columns[0].name == kAutoWord;
}

bool may_mean(const ColumnRef& ref, const std::string& column) {
  return ref.name == column || full_match(column, ref.name);
}

void check_classes(const LabelColumn& label) {
  std::vector<std::string> sorted = label.classes;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw ConfigError(label.column.position,
                      "CSV: 'classes' of component '" + label.component + "' has '" + *twice + "' twice");
  }
}

CsvHeader::CsvHeader(std::vector<std::string> names, std::string path, bool is_row)
    : names_(std::move(names)), path_(std::move(path)), is_row_(is_row) {
  for (size_t i = 0; i < names_.size(); ++i) ++places_.emplace(names_[i], Places{i, 0}).first->second.count;
}

std::vector<size_t> CsvHeader::find(const ColumnRef& ref) const {
  const size_t named = count(ref.name);
  if (named > 1) {
    throw ConfigError(ref.position, "CSV: " + path_ + " has " + std::to_string(named) +
                                        " columns with the name '" + ref.name + "'" +
                                        (looks_like_data() ? advice() : "; rename them in the file"));
  }
  if (named == 1) return {first(ref.name)};
  std::vector<size_t> found;
  for (size_t i = 0; i < names_.size(); ++i)
    if (full_match(names_[i], ref.name)) found.push_back(i);
  if (found.empty()) reject(ref);
  return found;
}

bool CsvHeader::looks_like_data() const {
  std::vector<double> numbers;
  for (const std::string& name : names_)
    if (const auto number = csv_number(name)) numbers.push_back(*number);
  const auto descends = [](double a, double b) { return a >= b; };
  const bool ascend = std::adjacent_find(numbers.begin(), numbers.end(), descends) == numbers.end();
  return is_row_ && numbers.size() > 1 && !ascend;
}

std::string CsvHeader::advice() const {
  const std::string delimiter = is_row_ ? delimiter_in(names_) : "";
  if (!delimiter.empty()) return "; " + delimiter;
  return looks_like_data() ? data_advice() : "";
}

std::string CsvHeader::data_advice() const {
  return "; the first row of " + path_ + " looks like data (" + join_first(names_) +
         "), not like names; set header: false, and name columns by numbers from 0";
}

std::string CsvHeader::unknown_in(const std::string& setting, const std::string& column) const {
  return "CSV: '" + setting + "': unknown column '" + column + "'" + did_you_mean(column, names_) + "; " +
         path_ + " has the columns " + join_first(names_);
}

void CsvHeader::require(const std::vector<std::string>& columns, const Position& where,
                        const std::string& who) const {
  std::vector<std::string> absent;
  for (const std::string& column : columns)
    if (!has(column)) absent.push_back("'" + column + "'");
  if (absent.empty()) return;
  throw ConfigError(where, "CSV: " + path_ + " lacks " + (absent.size() == 1 ? "column " : "columns ") +
                               join_first(absent) + ", which " + who + " uses; it has the columns " +
                               join_first(names_) + advice());
}

void CsvHeader::reject(const ColumnRef& ref) const {
  const auto is_number = [](const std::string& name) { return csv_number(name).has_value(); };
  const bool are_mostly_numbers =
      is_row_ && 2 * std::count_if(names_.begin(), names_.end(), is_number) >= std::ssize(names_);
  if (are_mostly_numbers || looks_like_data())
    throw ConfigError(ref.position, "CSV: unknown column '" + ref.name + "'" + data_advice());
  const auto part = std::find_if(names_.begin(), names_.end(),
                                 [&](const std::string& name) { return name.starts_with(ref.name + "."); });
  if (part != names_.end())
    throw ConfigError(ref.position, "CSV: '" + ref.name + "' of " + path_ +
                                        " is a list or an object; name its columns, such as '" + *part +
                                        "', or use a pattern for all of them: [\"" + ref.name + "[.].*\"]");
  const std::string meant = advice().empty() ? did_you_mean(ref.name, names_) : "";
  const std::string known =
      names_.size() == 1 ? "the column '" + names_[0] + "'" : "the columns " + join_first(names_);
  throw ConfigError(ref.position,
                    "CSV: unknown column '" + ref.name + "'" + meant + "; " + path_ + " has " + known +
                        (names_.size() == 1 && advice().empty() ? "; check 'delimiter'" : advice()));
}

std::optional<std::vector<ColumnRef>> followed_columns(const NumberColumns& wanted, const CsvHeader& header,
                                                       const std::vector<std::string>& known) {
  const auto is_pattern = [&](const ColumnRef& ref) { return !header.has(ref.name); };
  const bool has_pattern = std::any_of(wanted.columns.begin(), wanted.columns.end(), is_pattern);
  if ((!has_pattern && wanted.columns.size() == 1) || known.empty()) return std::nullopt;
  const auto is_known = [&](const ColumnRef& ref) {
    return std::any_of(known.begin(), known.end(),
                       [&](const std::string& name) { return may_mean(ref, name); });
  };
  // A name that matches no column is unknown; names other than those of data.train are intended.
  if (!std::all_of(wanted.columns.begin(), wanted.columns.end(), is_known)) return std::nullopt;
  if (!has_pattern && wanted.columns.size() != known.size()) return std::nullopt;
  std::vector<ColumnRef> columns;
  for (const std::string& name : known) columns.push_back({name, wanted.columns[0].position});
  return columns;
}

}  // namespace tpack
