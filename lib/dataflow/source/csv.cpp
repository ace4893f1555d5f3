#include "dataflow/format/csv.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/file_stamp.h"
#include "dataflow/fitted_data.h"
#include "dataflow/format/mapped_file.h"
#include "dataflow/source.h"
#include "dataflow/source/csv_columns.h"
#include "dataflow/source/csv_labels.h"
#include "system/log.h"

namespace tpack {
namespace {

enum class TextEncoding : uint8_t { kUtf8, kLatin1 };
enum class DecimalSign : uint8_t { kPoint, kComma };

}  // namespace

template <>
struct EnumNames<TextEncoding> {
  static constexpr std::array<std::pair<const char*, TextEncoding>, 2> kNames = {
      {{"utf-8", TextEncoding::kUtf8}, {"latin1", TextEncoding::kLatin1}}};
};
template <>
struct EnumNames<DecimalSign> {
  static constexpr std::array<std::pair<const char*, DecimalSign>, 2> kNames = {
      {{".", DecimalSign::kPoint}, {",", DecimalSign::kComma}}};
};

namespace {

struct CsvParams {
  Ref<Path> file;
  std::vector<NumberColumns> columns;
  std::vector<LabelColumn> labels;
  std::string delimiter = ",";
  bool header = true;
  std::optional<double> missing = {};
  DecimalSign decimal = DecimalSign::kPoint;
  TextEncoding encoding = TextEncoding::kUtf8;
  bool shuffle = true;
};

/// All of a CSV file is read when it is opened: numbers as float32, class names as int32 labels. A row with
/// a bad field becomes a bad sample.
class CsvTable final : public RandomAccessSource {
 public:
  using Params = CsvParams;
  static Schema<Params> schema() {
    return Schema<Params>("Reads numbers and class names from a CSV file, one sample per row.")
        .example(
            "CSV: {file: iris.csv, columns: {x: [\"sepal_.*\", petal_length]}, labels: {label: species}}")
        .field("file", &Params::file, "the file")
        .required()
        .field("columns", &Params::columns,
               "columns of numbers by component: a name gives a number, a list or a regular expression for "
               "whole names gives a vector; float32. Other flows have the columns that data.train found, by "
               "their names")
        .field("labels", &Params::labels,
               "columns of class names by component; labels are int32, from 0, in the order of the sorted "
               "names of data.train; {label: {column: species, classes: [...]}} gives another order; a list "
               "of columns is a set of labels, any number of which may hold: a float32 vector, 0 or 1 for "
               "each (or a number "
               "between), named after the columns")
        .field("delimiter", &Params::delimiter, R"(the character between fields; "\t" is a tab)")
        .field("header", &Params::header,
               "true: the first row has the names of the columns; false: their names are 0, 1, 2, ...")
        .field("missing", &Params::missing,
               "number that replaces missing ones (empty, NA, NaN, null, ?); default: such rows are bad "
               "samples")
        .field("decimal", &Params::decimal, "the decimal sign of numbers: a point or a comma")
        .field("encoding", &Params::encoding, "of the text: utf-8, or latin1 (ISO 8859-1)")
        .field("shuffle", &Params::shuffle, "use a new order in each pass");
  }
  explicit CsvTable(Params p) : p_(std::move(p)), path_(resolved_path(p_.file)) {
    if (p_.columns.empty() && p_.labels.empty())
      throw ConfigError(
          "CSV: no columns; set 'columns', such as {x: [width, height], y: price}, or 'labels'");
    if (p_.delimiter.size() != 1 || std::string("\"\r\n").find(p_.delimiter) != std::string::npos) {
      throw ConfigError("CSV: 'delimiter' is '" + p_.delimiter +
                        R"('; must be one character of ASCII, such as ",", ";" or "\t")");
    }
    if (p_.decimal == DecimalSign::kComma && p_.delimiter == ",")
      throw ConfigError(R"(CSV: 'decimal' and 'delimiter' are both a comma; set delimiter: ";" or "\t")");
    for (const NumberColumns& numbers : p_.columns) {
      for (const LabelColumn& label : p_.labels) {
        if (numbers.component == label.component)
          throw ConfigError(label.column.position, "CSV: component '" + label.component +
                                                       "' is in 'columns' and in 'labels'; rename one");
      }
    }
    wanted_numbers_ = p_.columns;
    for (const LabelColumn& label : p_.labels) {
      check_classes(label);
      if (label.set.empty())
        wanted_labels_.push_back(label);
      else
        wanted_numbers_.push_back({label.component, label.set, true, true});
    }
  }

  /// Patterns, and classes that the config does not name, need the file.
  bool knows_spec() const override {
    return std::all_of(wanted_numbers_.begin(), wanted_numbers_.end(), has_plain_names) &&
           std::all_of(wanted_labels_.begin(), wanted_labels_.end(),
                       [](const auto& label) { return !label.classes.empty(); });
  }
  Spec spec() const override {
    std::vector<ComponentSpec> components;
    for (size_t i = 0; i < wanted_numbers_.size(); ++i)
      components.push_back({wanted_numbers_[i].component, number_spec(i), false, names_in_set(i)});
    for (size_t i = 0; i < wanted_labels_.size(); ++i) {
      const auto& classes = labels_.empty() ? wanted_labels_[i].classes : labels_[i].classes();
      components.push_back({wanted_labels_[i].component, {DType::kInt32, {}}, false, classes});
    }
    return Spec(std::move(components));
  }
  int64_t size() const override { return static_cast<int64_t>(lines_.size()); }
  bool shuffled() const override { return p_.shuffle; }
  SourceFacts facts() const override {
    SourceFacts facts{.samples = size(), .unit = "rows"};
    for (size_t i = 0; i < labels_.size(); ++i) {
      auto& classes = facts.classes_of[wanted_labels_[i].component];
      for (const std::string& name : labels_[i].classes()) classes.push_back({name, 0});
      for (const int32_t label : labels_[i].values())
        if (label >= 0) ++classes[static_cast<size_t>(label)].samples;
      if (i == 0) facts.classes = classes;
    }
    if (!unused_.empty())
      facts.remarks.push_back("columns that data.train does not have are not read: " + join_first(unused_));
    for (const auto& [column, value] : rounded_)
      facts.remarks.push_back("column '" + column +
                              "' has integers above 16,777,216 that float32 rounds, such as " + value);
    facts.bad = std::ssize(bad_);
    if (!bad_.empty()) {
      const auto& [row, why] = *bad_.begin();
      facts.remarks.push_back(with_thousands(facts.bad) +
                              (bad_.size() == 1 ? " bad row: " : " bad rows; the first one is ") + "line " +
                              std::to_string(lines_[row]) + ": " + why);
    }
    return facts;
  }
  std::string fingerprint() const override { return file_stamp(path_); }
  std::vector<FittedComponent> fitted() const override {
    std::vector<FittedComponent> all;
    for (size_t i = 0; i < numbers_.size(); ++i)
      all.push_back({name(), wanted_numbers_[i].component, numbers_[i].names});
    for (size_t i = 0; i < wanted_labels_.size(); ++i) {
      const LabelColumn& wanted = wanted_labels_[i];
      all.push_back({name(),
                     wanted.component,
                     {wanted.column.name},
                     labels_.empty() ? wanted.classes : labels_[i].classes()});
    }
    return all;
  }
  std::string file_of(int64_t index) const override {
    return path_ + ":" + std::to_string(lines_[static_cast<size_t>(index)]);
  }

  std::shared_ptr<RandomAccessSource> reopen_with(const std::string& path,
                                                  const std::vector<std::string>& components) const override {
    const auto is_idle = [&](const auto& one) {
      return std::find(components.begin(), components.end(), one.component) == components.end();
    };
    Params p = p_;
    p.file = {path, {}};
    p.shuffle = false;
    std::erase_if(p.columns, is_idle);
    std::erase_if(p.labels, is_idle);
    for (const LabelColumn& label : p.labels) {
      const bool is_known = !label.classes.empty() || opened_fit(label.component);
      if (label.set.empty() && !is_known)
        throw ConfigError(label.column.position,
                          "CSV: the labels of '" + label.component +
                              "' depend on the classes in the file; name them: {column: " +
                              label.column.name + ", classes: [...]}");
    }
    auto reader = std::make_shared<CsvTable>(std::move(p));
    reader->is_reader_ = true;
    reader->follow_as(*this);
    return reader;
  }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    const auto row = static_cast<size_t>(index);
    if (const auto bad = bad_.find(row); bad != bad_.end()) {
      constexpr const char* kFix =
          "; to leave such rows out, write the flow as {on_error: replace, flow: [...]} (or use skip)";
      throw DataError(bad->second + (is_reader_ ? "" : kFix));  // who reads one file has no such setting
    }
    size_t component = 0;
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const size_t width = numbers_[i].columns.size();
      const float* const from = numbers_[i].values.data() + row * width;
      std::copy_n(from, width, out.renew(component++, number_spec(i)).data<float>());
    }
    for (const CsvLabels& labels : labels_)
      *out.renew(component++, {DType::kInt32, {}}).data<int32_t>() = labels.values()[row];
  }

 protected:
  void prepare() override {
    require_path("CSV", p_.file);
    const MappedFile file(path_);
    const auto bytes = file.bytes();
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::string converted;
    if (p_.encoding == TextEncoding::kLatin1)
      text = converted = utf8_of_latin1(text);
    else
      require_utf8(text);
    CsvReader reader(text, p_.delimiter[0], path_);
    std::vector<std::string_view> fields;
    if (!reader.next(fields)) throw DataError(path_, "is empty");
    const CsvHeader header(names_of(fields), path_, p_.header);
    find_columns(header);
    bool has_row = !p_.header || reader.next(fields);
    for (; has_row; has_row = reader.next(fields)) add_row(header, fields, reader.line());
    if (lines_.empty()) throw DataError(path_, "has no rows after its header");
    for (size_t i = 0; i < labels_.size(); ++i) {
      const std::string lack = labels_[i].compare_with_train(path_, wanted_labels_[i].column);
      if (!lack.empty() && !is_reader_) log::warning(lack);
    }
    if (bad_.size() == lines_.size()) {
      throw DataError(file_of(0), bad_.at(0) + "; all " + with_thousands(size()) + " rows are bad");
    }
    for (CsvLabels& labels : labels_) labels.number();
  }

 private:
  /// Errors: DataError with the line.
  void require_utf8(std::string_view text) const {
    const auto bad = first_invalid_utf8(text);
    if (!bad || text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
      return;  // the reader knows UTF-16
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
    const size_t begin = text.rfind('\n', *bad) + 1;
    throw DataError(path_ + ":" + std::to_string(line),
                    "is not UTF-8 ('" + printable(text.substr(begin, *bad - begin + 1)) +
                        "'); save the file as UTF-8, or set encoding: latin1");
  }

  struct Numbers {
    std::vector<size_t> columns;
    bool is_vector = false;
    bool is_label_set = false;
    std::vector<std::string> names;  // of the columns
    std::vector<float> values;       // [rows, columns]
  };
  static void check_classes(const LabelColumn& label) {
    std::vector<std::string> sorted = label.classes;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      throw ConfigError(label.column.position,
                        "CSV: 'classes' of component '" + label.component + "' has '" + *twice + "' twice");
    }
  }

  /// False if a name may be a pattern.
  static bool has_plain_names(const NumberColumns& numbers) {
    const auto is_plain = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == ' ';
    };
    return std::all_of(numbers.columns.begin(), numbers.columns.end(), [&](const ColumnRef& ref) {
      return std::all_of(ref.name.begin(), ref.name.end(), is_plain);
    });
  }

  TensorSpec number_spec(size_t i) const {
    const bool is_vector = numbers_.empty() ? wanted_numbers_[i].is_list : numbers_[i].is_vector;
    const size_t width = numbers_.empty() ? wanted_numbers_[i].columns.size() : numbers_[i].columns.size();
    if (!is_vector) return {DType::kFloat32, {}};
    return {DType::kFloat32, {static_cast<int64_t>(width)}};
  }

  /// The names of the labels; empty for other numbers.
  std::vector<std::string> names_in_set(size_t i) const {
    if (!wanted_numbers_[i].is_label_set) return {};
    if (!numbers_.empty()) return numbers_[i].names;
    std::vector<std::string> names;
    for (const ColumnRef& ref : wanted_numbers_[i].columns) names.push_back(ref.name);
    return names;
  }

  std::vector<std::string> names_of(const std::vector<std::string_view>& fields) const {
    std::vector<std::string> names;
    for (const std::string_view field : fields)
      names.push_back(p_.header ? std::string(trim(field)) : std::to_string(names.size()));
    return names;
  }

  /// Also forgets what a preparation that failed has read.
  void find_columns(const CsvHeader& header) {
    numbers_.clear();
    labels_.clear();
    lines_.clear();
    bad_.clear();
    unused_.clear();
    rounded_.clear();
    Diagnostics mistakes;
    const auto find = [&](const ColumnRef& ref) {
      try {
        return header.find(ref);
      } catch (const ConfigError& error) {
        mistakes.add(error, ref.position);
        return std::vector<size_t>{0};
      }
    };
    for (const NumberColumns& wanted : wanted_numbers_) {
      Numbers& numbers = numbers_.emplace_back();
      numbers.is_label_set = wanted.is_label_set;
      numbers.is_vector = wanted.is_list || !header.has(wanted.columns[0].name);
      for (const ColumnRef& ref : followed(wanted, header, mistakes)) {
        const std::vector<size_t> found = find(ref);
        numbers.columns.insert(numbers.columns.end(), found.begin(), found.end());
      }
      for (const size_t column : numbers.columns) numbers.names.push_back(header[column]);
    }
    for (const LabelColumn& wanted : wanted_labels_) {
      const std::vector<size_t> found = find(wanted.column);
      if (found.size() > 1) {
        mistakes.add(wanted.column.position, "CSV: '" + wanted.column.name + "' matches " +
                                                 std::to_string(found.size()) + " columns; component '" +
                                                 wanted.component + "' needs one");
      }
      using From = CsvLabels::From;
      const auto train = wanted.classes.empty() ? opened_fit(wanted.component) : std::nullopt;
      const bool has_train = train && !train->classes.empty();
      labels_.emplace_back(found[0], has_train ? train->classes : wanted.classes,
                           has_train                ? From::kTrain
                           : wanted.classes.empty() ? From::kFile
                                                    : From::kConfig);
    }
    mistakes.throw_if_any();
  }

  /// The columns that data.train has for a component, where the config has a pattern for them or the same
  /// names in another order; else those of the config.
  std::vector<ColumnRef> followed(const NumberColumns& wanted, const CsvHeader& header,
                                  Diagnostics& mistakes) {
    const auto is_pattern = [&](const ColumnRef& ref) { return !header.has(ref.name); };
    const bool has_pattern = std::any_of(wanted.columns.begin(), wanted.columns.end(), is_pattern);
    if (!has_pattern && wanted.columns.size() == 1) return wanted.columns;
    const auto known = opened_fit(wanted.component);
    if (!known || known->columns.empty()) return wanted.columns;
    const auto is_known = [&](const ColumnRef& ref) {
      return std::any_of(known->columns.begin(), known->columns.end(), [&](const std::string& name) {
        return name == ref.name || full_match(name, ref.name);
      });
    };
    // A name that means no column is unknown; other names than those of data.train are meant.
    if (!std::all_of(wanted.columns.begin(), wanted.columns.end(), is_known)) return wanted.columns;
    if (!has_pattern && wanted.columns.size() != known->columns.size()) return wanted.columns;
    std::vector<ColumnRef> columns;
    std::vector<std::string> missing;
    for (const std::string& name : known->columns) {
      columns.push_back({name, wanted.columns[0].position});
      if (!header.has(name)) missing.push_back("'" + name + "'");
    }
    if (missing.empty()) {
      add_unused(wanted, header, known->columns);
      return columns;
    }
    mistakes.add(wanted.columns[0].position,
                 "CSV: " + path_ + " lacks " + (missing.size() == 1 ? "column " : "columns ") +
                     join_first(missing) + ", which component '" + wanted.component +
                     "' of data.train has; it has the columns " + join_first(header.names()));
    return {};
  }
  /// Columns that a pattern finds and data.train does not have.
  void add_unused(const NumberColumns& wanted, const CsvHeader& header,
                  const std::vector<std::string>& known) {
    for (const std::string& name : header.names()) {
      const bool is_found = std::any_of(
          wanted.columns.begin(), wanted.columns.end(),
          [&](const ColumnRef& ref) { return !header.has(ref.name) && full_match(name, ref.name); });
      if (is_found && std::find(known.begin(), known.end(), name) == known.end()) unused_.push_back(name);
    }
  }

  void add_row(const CsvHeader& header, const std::vector<std::string_view>& fields, int64_t line) {
    std::string why;
    if (fields.size() != header.size()) {
      why = std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") + ", but the " +
            (p_.header ? "header" : "first row") + " has " + std::to_string(header.size());
    }
    for (Numbers& numbers : numbers_) {
      for (const size_t column : numbers.columns) {
        const float value = why.empty() ? number(fields[column], header[column], why) : 0;
        if (why.empty() && numbers.is_label_set && (value < 0 || value > 1))
          why = "column '" + header[column] + "' has " + shortest(value) +
                "; a label of a set must be 0, 1 or between";
        numbers.values.push_back(value);
      }
    }
    for (CsvLabels& labels : labels_) {
      if (why.empty()) why = labels.complaint_of(trim(fields[labels.column()]), header[labels.column()]);
    }
    for (CsvLabels& labels : labels_) {
      if (why.empty())
        labels.add(trim(fields[labels.column()]));
      else
        labels.add_bad();
    }
    if (!why.empty()) bad_[lines_.size()] = why;
    lines_.push_back(line);
  }

  /// Sets `why` if the field is bad.
  float number(std::string_view field, const std::string& column, std::string& why) {
    std::string with_point(p_.decimal == DecimalSign::kComma ? field : std::string_view());
    if (with_point.find('.') != std::string::npos && !is_missing_in_csv(field)) {
      why =
          "column '" + column + "' has '" + std::string(field.substr(0, 40)) +
          "', whose point is not a decimal sign, as `decimal` is ','; remove points that separate thousands "
          "from the file";
      return 0;
    }
    std::replace(with_point.begin(), with_point.end(), ',', '.');
    const std::optional<double> written = csv_number(with_point.empty() ? field : with_point);
    std::optional<double> value = written;
    if (!value && is_missing_in_csv(field)) {
      if (!p_.missing) why = "column '" + column + "' has no value; 'missing' can give one";
      value = p_.missing.value_or(0);
    }
    constexpr double kMax = std::numeric_limits<float>::max();
    if (value && std::abs(*value) <= kMax) {
      const auto rounded = static_cast<float>(*value);
      // Integers that lose digits are numbers of customers rather than measurements.
      if (*value == std::trunc(*value) && static_cast<double>(rounded) != *value)
        rounded_.emplace(column, std::string(trim(field)));
      return rounded;
    }
    const std::string text(trim(field));
    const bool has_comma = p_.decimal == DecimalSign::kPoint && full_match(text, "-?\\d*,\\d+");
    const bool has_thousands = full_match(text, R"(-?\d{1,3}(,\d{3})+(\.\d*)?)");
    why = "column '" + column + "' has '" + std::string(field.substr(0, 40)) +
          "', which is not a number of float32; " +
          (has_thousands
               ? "if its commas separate thousands, remove them from the file" +
                     std::string(p_.delimiter == "," ? "" : "; for a decimal comma, set decimal: \",\"")
           : has_comma ? "for a decimal comma, set decimal: \",\""
                       : "'labels' is for class names");
    return 0;
  }

  Params p_;
  std::string path_;
  bool is_reader_ = false;                      // of a file that need not have all classes
  std::vector<NumberColumns> wanted_numbers_;   // `columns`, then the sets of `labels`
  std::vector<LabelColumn> wanted_labels_;      // the rest of `labels`
  std::vector<Numbers> numbers_;                // of each of wanted_numbers_
  std::vector<CsvLabels> labels_;               // of each of wanted_labels_
  std::vector<int64_t> lines_;                  // of each row
  std::map<size_t, std::string> bad_;           // what is wrong, by row
  std::map<std::string, std::string> rounded_;  // by column: the first integer that float32 rounds
  std::vector<std::string> unused_;             // columns that a pattern finds and data.train does not have
};

TPACK_REGISTER(Source, CsvTable, "CSV");

}  // namespace
}  // namespace tpack
