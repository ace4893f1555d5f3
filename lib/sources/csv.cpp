#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <new>
#include <unordered_set>

#include "core/error.h"
#include "core/pattern.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/count_classes.h"
#include "dataflow/file_stamp.h"
#include "dataflow/fitted_data.h"
#include "dataflow/sample_error.h"
#include "dataflow/source.h"
#include "system/log.h"
#include "table/csv_content.h"
#include "table/csv_feature_columns.h"
#include "table/csv_guess_part.h"
#include "table/csv_settings.h"
#include "table/csv_tags.h"

namespace tpack {
namespace {

/// All of a CSV file is read when it is opened: numbers as float32, class names as int32 labels. A row with
/// a bad field becomes a bad sample.
class CsvTable final : public RandomAccessSource,
                       public SourceFiles,
                       public LearnedValues,
                       public SampleFacts,
                       public TableRows {
 public:
  using Params = CsvParams;
  static Schema<Params> schema() { return csv_schema(); }
  explicit CsvTable(Params p) : p_(std::move(p)) {
    p_.check();
    wanted_numbers_ = p_.columns;
    for (const LabelColumn& label : p_.labels) {
      check_classes(label);
      if (!label.is_set())
        wanted_labels_.push_back(label);
      else if (label.separator.empty())
        wanted_numbers_.push_back({label.component, label.set, true, true});
      else
        wanted_numbers_.push_back(
            {label.component, {label.column}, true, true, label.separator, label.classes});
    }
  }

  /// Patterns, and classes that are not in the config, need the file.
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
      const auto& classes =
          content_.labels.empty() ? wanted_labels_[i].classes : content_.labels[i].classes();
      components.push_back({wanted_labels_[i].component, {DType::kInt32, {}}, false, classes});
    }
    return Spec(std::move(components));
  }
  const char* path_field() const override { return "file"; }
  int64_t size() const override { return static_cast<int64_t>(content_.lines.size()); }
  bool shuffled() const override { return p_.shuffle; }
  SourceFacts facts() const override {
    SourceFacts facts{.samples = size(), .unit = "rows"};
    for (size_t i = 0; i < content_.labels.size(); ++i) {
      auto& classes = facts.classes_of[wanted_labels_[i].component];
      classes = count_classes(content_.labels[i].classes(), content_.labels[i].values());
      if (i == 0) facts.classes = classes;
    }
    if (!unused_.empty())
      facts.remarks.push_back("columns that data.train does not have are not read: " + join_first(unused_));
    for (const auto& values : content_.values) {
      const std::vector<std::string> more = values->remarks();
      facts.remarks.insert(facts.remarks.end(), more.begin(), more.end());
    }
    for (const auto& [column, value] : content_.reader.rounded())
      facts.remarks.push_back("column '" + column +
                              "' has numbers above 16,777,216 that float32 rounds, such as " + value +
                              "; subtract an offset in the file; leave out a column of ids");
    facts.bad = std::ssize(content_.bad);
    if (!content_.bad.empty()) {
      const auto& [row, why] = *content_.bad.begin();
      facts.remarks.push_back(with_thousands(facts.bad) +
                              (content_.bad.size() == 1 ? " bad row: " : " bad rows; the first one is ") +
                              (rows_.files().size() > 1 ? file_of(static_cast<int64_t>(row))
                                                        : "line " + std::to_string(content_.lines[row])) +
                              ": " + why);
    }
    return facts;
  }
  std::string fingerprint() const override {
    std::string stamps;
    for (const std::string& file : rows_.files()) stamps += file_stamp(file);
    return stamps;
  }
  std::vector<FittedComponent> fitted() const override {
    std::vector<FittedComponent> all;
    for (size_t i = 0; i < content_.values.size(); ++i) {
      const State learned = content_.values[i]->learned();
      all.push_back({name(),
                     wanted_numbers_[i].component,
                     content_.values[i]->names(),
                     {},
                     learned.empty() ? "" : learned.to_json()});
    }
    for (size_t i = 0; i < wanted_labels_.size(); ++i) {
      const LabelColumn& wanted = wanted_labels_[i];
      all.push_back({name(),
                     wanted.component,
                     {wanted.column.name},
                     content_.labels.empty() ? wanted.classes : content_.labels[i].classes()});
    }
    return all;
  }
  std::string file_of(int64_t index) const override {
    const auto row = static_cast<size_t>(index);
    const auto next = std::upper_bound(content_.first_rows.begin(), content_.first_rows.end(), row);
    return rows_.files()[static_cast<size_t>(next - content_.first_rows.begin()) - 1] + ":" +
           std::to_string(content_.lines[row]);
  }

  bool is_bad(int64_t index) const override { return content_.bad.contains(static_cast<size_t>(index)); }
  std::optional<std::vector<int32_t>> class_numbers(const std::string& component) const override {
    for (size_t i = 0; i < content_.labels.size(); ++i)
      if (wanted_labels_[i].component == component) return content_.labels[i].values();
    throw ConfigError("CSV: component '" + component + "' has no class numbers");
  }
  std::vector<std::string> column(const std::string& name) const override {
    std::vector<std::string> texts;
    size_t at = 0;
    rows_.read(
        [&](const CsvHeader& header) {
          at = header.find({name, {}}).front();
        },
        [&](const CsvRow& row) {
          texts.emplace_back(at < row.fields.size() ? trim(row.fields[at]) : std::string_view());
        });
    return texts;
  }

  std::vector<int64_t> column_widths(const std::string& component) const override {
    for (size_t i = 0; i < content_.values.size(); ++i)
      if (wanted_numbers_[i].component == component) return content_.values[i]->widths();
    return {};
  }
  std::string id_column() const override { return id_; }
  std::string time_column() const override { return time_; }

  void learn_from(const std::vector<int64_t>& rows) override {
    std::vector<int64_t> good;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(good),
                 [&](int64_t row) { return !is_bad(row); });
    for (const auto& values : content_.values) values->fit(good);
  }

  std::shared_ptr<RandomAccessSource> reopen_with(const std::string& path,
                                                  const std::vector<std::string>& components) const override {
    const auto is_idle = [&](const auto& one) {
      return std::find(components.begin(), components.end(), one.component) == components.end();
    };
    Params p = p_;
    p.file = {{{path, {}}}};
    p.shuffle = false;
    if (std::filesystem::path(path)
            .extension()
            .empty()) {  // if the name has no known ending: same format as the own file
      const std::string own = p_.file.all.front().name;
      if (p.format == TableFormat::kByName)
        p.format = p_.form().is_jsonl(own) ? TableFormat::kJsonl : TableFormat::kCsv;
      if (p.delimiter == CsvForm().delimiter) p.delimiter = std::string(1, p_.form().delimiter_of(own));
    }
    std::erase_if(p.columns, is_idle);
    std::erase_if(p.labels, is_idle);
    for (const LabelColumn& label : p.labels) {
      const bool is_known = !label.classes.empty() || opened_fit(label.component);
      if (!label.is_set() && !is_known)
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

  std::optional<TextLines> text_lines() const override {
    const bool is_jsonl = p_.form().is_jsonl(p_.file.all.front().name);
    return p_.header && !is_jsonl ? TextLines::kAfterHeader : TextLines::kAll;
  }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    const auto row = static_cast<size_t>(index);
    if (const auto bad = content_.bad.find(row); bad != content_.bad.end()) {
      throw DataError(bad->second + (is_reader_ ? "" : kLeaveRowsOut));  // a single file has no such setting
    }
    size_t component = 0;
    for (size_t i = 0; i < content_.values.size(); ++i)
      content_.values[i]->get(row, out.renew(component++, number_spec(i)).data<float>());
    for (const CsvLabels& labels : content_.labels)
      *out.renew(component++, {DType::kInt32, {}}).data<int32_t>() = labels.values()[row];
  }

 protected:
  void prepare() override {
    try {
      read_table();
    } catch (const std::bad_alloc&) {
      reject_for_memory();
    } catch (const ResourceError&) {
      reject_for_memory();
    }
  }

 private:
  [[noreturn]] void reject_for_memory() {
    const auto rows = std::ssize(content_.lines);
    for (auto& values : content_.values) values.reset();  // room for the message
    throw ResourceError(
        rows_.name() + ": the table does not fit into the memory that this process may use (after " +
        with_thousands(rows) +
        " rows); to keep only some of the rows in memory, put it in Streamed: {source: {CSV: {...}}}; or "
        "name fewer columns: a number takes 4 bytes");
  }

  void read_rows() {
    rows_.read_parts([this](const CsvHeader& header) { find_columns(header); },
                     [this](size_t rows) { return content_.part(rows); },
                     [this](std::unique_ptr<CsvRows::Part> part, CsvRows::PlaceOfPart place) {
                       content_.append(static_cast<CsvContent&>(*part), place);
                     });
  }

  void read_table() {
    rows_ = CsvRows(p_.file, p_.form());
    guesses_.clear();
    written_.clear();
    const auto is_guessed = [&](const NumberColumns& one) {
      return is_auto(one) && !opened_fit(one.component);
    };
    if (std::any_of(p_.columns.begin(), p_.columns.end(), is_guessed)) guess_columns();
    read_rows();
    if (content_.reader.has_seen_written() && has_own_numbers()) {
      guess_columns();  // the notation
      read_rows();
    }
    if (content_.lines.empty()) throw DataError(rows_.name(), "has no rows after its header");
    for (size_t i = 0; i < content_.labels.size(); ++i) {
      const std::string lack = content_.labels[i].compare_with_train(rows_.name(), wanted_labels_[i].column);
      if (!lack.empty() && !is_reader_) log::warning(lack);
    }
    if (!is_reader_ && content_.bad.size() == content_.lines.size()) {
      throw DataError(file_of(0), content_.bad.at(0) + "; all " + with_thousands(size()) + " rows are bad");
    }
    for (CsvLabels& labels : content_.labels) labels.number();
    for (size_t i = 0; i < content_.values.size(); ++i) learn_or_follow(i);
  }

  /// False if a name may be a pattern.
  static bool has_plain_names(const NumberColumns& numbers) {
    if (is_auto(numbers) || (!numbers.separator.empty() && numbers.classes.empty())) return false;
    const auto is_plain = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == ' ';
    };
    return std::all_of(numbers.columns.begin(), numbers.columns.end(), [&](const ColumnRef& ref) {
      return std::all_of(ref.name.begin(), ref.name.end(), is_plain);
    });
  }

  /// Before `prepare`, only for plain names.
  TensorSpec number_spec(size_t i) const {
    if (!content_.values.empty()) return content_.values[i]->spec();
    if (!wanted_numbers_[i].separator.empty())
      return {DType::kFloat32, {std::ssize(wanted_numbers_[i].classes)}};
    if (!wanted_numbers_[i].is_list) return {DType::kFloat32, {}};
    return {DType::kFloat32, {std::ssize(wanted_numbers_[i].columns)}};
  }

  /// The names of the labels; empty for other numbers.
  std::vector<std::string> names_in_set(size_t i) const {
    if (!wanted_numbers_[i].is_label_set) return {};
    if (!content_.values.empty()) return content_.values[i]->labels();
    if (!wanted_numbers_[i].separator.empty()) return wanted_numbers_[i].classes;
    std::vector<std::string> names;
    for (const ColumnRef& ref : wanted_numbers_[i].columns) names.push_back(ref.name);
    return names;
  }

  /// Also forgets results of a failed preparation.
  void find_columns(const CsvHeader& header) {
    content_ = {};
    content_.missing = &p_.missing;
    content_.reader = CsvNumberReader(style());
    unused_.clear();
    id_ = header.first_that(names_an_id);
    for (const auto& [name, type] : p_.types.all)
      if (type == ColumnType::kId && header.has(name)) {
        id_ = name;
        break;
      }
    time_ = header.first_that(names_a_time);
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
      if (is_auto(wanted) && !header.has(kAutoWord)) {
        content_.values.push_back(features(wanted, header, mistakes));
        continue;
      }
      std::vector<size_t> columns;
      for (const ColumnRef& ref : followed(wanted, header, mistakes)) {
        const std::vector<size_t> found = find(ref);
        columns.insert(columns.end(), found.begin(), found.end());
      }
      std::vector<std::string> names;
      for (const size_t column : columns) names.push_back(header[column]);
      if (!wanted.separator.empty()) {
        require_one(wanted.columns[0], columns.size(), wanted.component, mistakes);
        content_.values.push_back(
            std::make_unique<CsvTags>(columns[0], names[0], wanted.separator, wanted.classes));
        continue;
      }
      const bool is_vector = wanted.is_list || !header.has(wanted.columns[0].name);
      content_.values.push_back(std::make_unique<CsvNumbers>(std::move(columns), std::move(names),
                                                             wanted.is_label_set ? CsvNumbers::Form::kLabelSet
                                                             : is_vector         ? CsvNumbers::Form::kVector
                                                                                 : CsvNumbers::Form::kNumber,
                                                             p_.missing, written_of(wanted.component)));
    }
    for (const LabelColumn& wanted : wanted_labels_) {
      const std::vector<size_t> found = find(wanted.column);
      require_one(wanted.column, found.size(), wanted.component, mistakes);
      add_labels(wanted, found[0], header);
    }
    check_header(header, mistakes);
    mistakes.throw_if_any();
  }
  static void require_one(const ColumnRef& ref, size_t found, const std::string& component,
                          Diagnostics& mistakes) {
    if (found > 1)
      mistakes.add(ref.position, "CSV: '" + ref.name + "' matches " + std::to_string(found) +
                                     " columns; component '" + component + "' needs one");
  }
  /// The notation of the numbers of a component in data.train.
  std::map<std::string, NumberForm> written_of(const std::string& component) const {
    const auto known = opened_fit(component);
    if (!known) return written_;
    if (known->learned.empty()) return {};
    return CsvNumbers::written_in(State::from_json(known->learned, rows_.name()), known->columns);
  }
  void add_labels(const LabelColumn& wanted, size_t column, const CsvHeader& header) {
    using From = CsvLabels::From;
    const auto train = wanted.classes.empty() ? opened_fit(wanted.component) : std::nullopt;
    const bool has_train = train && !train->classes.empty();
    const From from = wanted.classes.empty() ? From::kFile : From::kConfig;
    content_.label_columns.push_back(header[column]);
    content_.labels.emplace_back(column, has_train ? train->classes : wanted.classes,
                                 has_train ? From::kTrain : from);
  }

  /// Mistakes and possible mistakes in the column names.
  void check_header(const CsvHeader& header, Diagnostics& mistakes) const {
    if (is_reader_) return;
    for (const auto& [column, words] : p_.na_values.by_column)
      if (!header.has(column)) mistakes.add(p_.na_values.position, header.unknown_in("na_values", column));
    if (mistakes.count() == 0 && header.looks_like_data())
      log::warning(header.path() + ": the columns are " + join_first(header.names()) + header.advice());
  }

  /// The columns of data.train for a component, if the config refers to them.
  std::vector<ColumnRef> followed(const NumberColumns& wanted, const CsvHeader& header,
                                  Diagnostics& mistakes) {
    const auto known = opened_fit(wanted.component);
    const auto columns = known ? followed_columns(wanted, header, known->columns) : std::nullopt;
    if (!columns) return wanted.columns;
    const Position& where = wanted.columns[0].position;
    try {
      header.require(known->columns, where, "component '" + wanted.component + "' of data.train");
    } catch (const ConfigError& error) {
      mistakes.add(error, where);
      return {};
    }
    add_unused(wanted, header, known->columns);
    return *columns;
  }
  /// Columns that match a pattern but are not in data.train.
  void add_unused(const NumberColumns& wanted, const CsvHeader& header,
                  const std::vector<std::string>& known) {
    const std::unordered_set<std::string> used(known.begin(), known.end());
    for (const std::string& name : header.names()) {
      const bool is_found = std::any_of(
          wanted.columns.begin(), wanted.columns.end(),
          [&](const ColumnRef& ref) { return !header.has(ref.name) && full_match(name, ref.name); });
      if (is_found && !used.contains(name)) unused_.push_back(name);
    }
  }

  /// Guesses the types of the columns from all rows.
  void guess_columns() {
    std::vector<std::string> names;
    rows_.read_parts(
        [&](const CsvHeader& header) {
          names = header.names();
          guesses_.assign(names.size(), {});
        },
        [&](size_t) { return std::make_unique<GuessPart>(guesses_.size(), style()); },
        [&](std::unique_ptr<CsvRows::Part> part, CsvRows::PlaceOfPart) {
          const auto& later = static_cast<GuessPart&>(*part).guesses();
          for (size_t i = 0; i < guesses_.size(); ++i) guesses_[i].append(later[i]);
        });
    for (size_t i = 0; i < names.size(); ++i)
      if (guesses_[i].form().is_written) written_[names[i]] = guesses_[i].form();
  }
  /// Whether some named columns do not use data.train.
  bool has_own_numbers() const {
    return std::any_of(wanted_numbers_.begin(), wanted_numbers_.end(), [&](const NumberColumns& wanted) {
      return !is_auto(wanted) && !opened_fit(wanted.component);
    });
  }

  std::unique_ptr<CsvValues> features(const NumberColumns& wanted, const CsvHeader& header,
                                      Diagnostics& mistakes) {
    const Position& where = wanted.columns[0].position;
    const auto known = opened_fit(wanted.component);
    FeatureColumns found;
    try {
      found = known ? followed_features(header, State::from_json(known->learned, rows_.name()), where)
                    : guessed_features(header, guesses_, {p_.types, p_.scale, p_.clip}, where,
                                       [&](const std::string& column) { return is_in_another(column); });
    } catch (const ConfigError& error) {
      mistakes.add(error, where);
    }
    for (CsvFeatures::Column& column : found.columns) column.missing = p_.missing.find(column.name);
    return std::make_unique<CsvFeatures>(std::move(found.columns), std::move(found.remarks));
  }

  bool is_in_another(const std::string& column) const {
    const auto has = [&](const std::vector<ColumnRef>& refs) {
      return std::any_of(refs.begin(), refs.end(),
                         [&](const ColumnRef& ref) { return may_mean(ref, column); });
    };
    return std::any_of(p_.columns.begin(), p_.columns.end(),
                       [&](const NumberColumns& other) { return !is_auto(other) && has(other.columns); }) ||
           std::any_of(p_.labels.begin(), p_.labels.end(), [&](const LabelColumn& label) {
             return label.column.name == column || has(label.set);
           });
  }

  /// The information of the training data that the component needs.
  void learn_or_follow(size_t i) {
    const auto known = opened_fit(wanted_numbers_[i].component);
    if (known) {
      content_.values[i]->use(known->learned.empty() ? State()
                                                     : State::from_json(known->learned, rows_.name()));
      for (const std::string& warning : content_.values[i]->warnings())
        log::warning(rows_.name() + ": " + warning);
      return;
    }
    std::vector<int64_t> good;
    for (int64_t row = 0; row < size(); ++row)
      if (!is_bad(row)) good.push_back(row);
    content_.values[i]->fit(good);
  }

  FieldStyle style() const { return p_.style(rows_); }

  Params p_;
  CsvRows rows_;
  std::string id_;                             // the column that identifies rows; empty if there is none
  std::string time_;                           // the column with the time of rows; empty if there is none
  bool is_reader_ = false;                     // for a file that need not have all classes
  std::vector<NumberColumns> wanted_numbers_;  // `columns`, then the sets of `labels`
  std::vector<LabelColumn> wanted_labels_;     // the rest of `labels`
  CsvContent content_;                         // values of each of wanted_numbers_, and so on
  std::vector<ColumnGuess> guesses_;           // by column, if they are needed
  std::map<std::string, NumberForm> written_;  // by column, the notation of numbers that are not plain
  std::vector<std::string> unused_;            // columns that match a pattern but are not in data.train
};

TPACK_REGISTER(Source, CsvTable, "CSV");

}  // namespace
}  // namespace tpack
