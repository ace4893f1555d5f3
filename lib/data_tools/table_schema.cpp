#include "data_tools/table_schema.h"

#include <algorithm>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"
#include "draw/text_table.h"
#include "table/csv.h"

namespace tpack {
namespace {

constexpr const char* kComponent = "x";

/// The first and the last date of a column, in one order of day and month.
class DateRange {
 public:
  void see(std::optional<int64_t> seconds, std::string_view text) {
    if (!seconds) return;
    if (low_.empty() || *seconds < first_) {
      first_ = *seconds;
      low_ = text;
    }
    if (high_.empty() || *seconds > last_) {
      last_ = *seconds;
      high_ = text;
    }
  }
  const std::string& low() const { return low_; }
  const std::string& high() const { return high_; }

 private:
  int64_t first_ = 0;
  int64_t last_ = 0;
  std::string low_;
  std::string high_;
};

/// Sees the fields of one column.
class ColumnObserver {
 public:
  void see(std::string_view field, const FieldStyle& style) {
    guess_.see(field, style);
    const std::string_view text = trim(field);
    if (is_missing_in_csv(text)) {
      ++missing_;
      return;
    }
    const DateReadings date = read_date(text);
    day_first_.see(date.day_first, text);
    month_first_.see(date.month_first, text);
    if (const auto number = csv_number(text, style.decimal))
      numbers_.push_back(*number);
    else if (const auto written = parse_written_number(text, style.sign()))
      numbers_.push_back(written->value);
    see_text(text);
  }

  /// `given`: the type from the settings, if set.
  ColumnSummary summary(const std::string& name, const std::optional<ColumnType>& given) {
    ColumnSummary one{name, given.value_or(guess_.type())};
    const bool is_number = one.type == ColumnType::kNumber;
    const bool has_word = (is_number || one.type == ColumnType::kDate) && !guess_.missing_word().empty();
    if (!given && one.type == ColumnType::kIgnore) one.why = guess_.why();
    if (!given && one.type == ColumnType::kCategory) one.why = guess_.doubt();
    if (is_number && guess_.form().is_written) one.why = guess_.form().str();
    if (has_word) one.why += (one.why.empty() ? "'" : ", '") + guess_.missing_word() + "' counts as missing";
    one.examples = examples_;
    one.missing = missing_ + (has_word ? static_cast<int64_t>(guess_.missing_words()) : 0);
    one.distinct = std::ssize(distinct_);
    one.has_more_distinct = has_more_;
    const DateRange& dates = guess_.dates().order() == DateOrder::kDayFirst ? day_first_ : month_first_;
    if (one.type == ColumnType::kDate && !dates.low().empty()) {
      one.low = dates.low();
      one.high = dates.high();
    } else if (is_number && !numbers_.empty()) {
      std::sort(numbers_.begin(), numbers_.end());
      const size_t half = numbers_.size() / 2;
      one.low = shortest(numbers_.front());
      one.median =
          shortest(numbers_.size() % 2 == 1 ? numbers_[half] : (numbers_[half - 1] + numbers_[half]) / 2);
      one.high = shortest(numbers_.back());
    }
    return one;
  }

 private:
  static constexpr size_t kMaxDistinct = 10'000;
  static constexpr size_t kExamples = 3;

  void see_text(std::string_view text) {
    if (has_more_) return;
    std::string own(text);
    if (distinct_.contains(own)) return;
    has_more_ = distinct_.size() == kMaxDistinct;
    if (has_more_) return;
    if (examples_.size() < kExamples) examples_.push_back(own);
    distinct_.insert(std::move(own));
  }

  ColumnGuess guess_;
  int64_t missing_ = 0;
  std::vector<double> numbers_;
  DateRange day_first_;
  DateRange month_first_;
  std::unordered_set<std::string> distinct_;
  bool has_more_ = false;
  std::vector<std::string> examples_;
};

std::string type_name(ColumnType type) {
  return EnumNames<ColumnType>::kNames[static_cast<size_t>(type)].first;
}

/// The text truncated to at most `characters` characters.
std::string shortened(const std::string& text, size_t characters) {
  if (character_count(text) <= characters) return text;
  size_t end = 0;
  for (size_t count = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins && ++count == characters) break;
  }
  return text.substr(0, end) + "…";
}

std::string distinct_text(const ColumnSummary& column) {
  return (column.has_more_distinct ? "over " : "") + with_thousands(column.distinct);
}

}  // namespace

std::string TableSchema::str() const {
  std::string text = name + ": " + with_thousands(rows) + (rows == 1 ? " row" : " rows") + advice + "\n";
  if (bad_rows > 0)
    text += with_thousands(bad_rows) + (bad_rows == 1 ? " bad row: " : " bad rows; the first one is ") +
            first_bad + "\n";
  TextTable table({"column", "type", "missing", "distinct", "min", "median", "max", "examples"});
  for (const ColumnSummary& column : columns) {
    std::vector<std::string> examples;
    for (const std::string& example : column.examples) examples.push_back(shortened(example, 20));
    table.add({column.name, type_name(column.type) + (column.why.empty() ? "" : " (" + column.why + ")"),
               with_thousands(column.missing), distinct_text(column), column.low.value_or("-"),
               column.median.value_or("-"), column.high.value_or("-"), join(examples, ", ")});
  }
  return text + table.str();
}

nlohmann::ordered_json TableSchema::to_json() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const auto or_null = [](const std::optional<std::string>& text) {
    return text ? nlohmann::ordered_json(*text) : nlohmann::ordered_json(nullptr);
  };
  for (const ColumnSummary& column : columns) {
    all.push_back({{"name", column.name},
                   {"type", type_name(column.type)},
                   {"why", column.why},
                   {"examples", column.examples},
                   {"missing", column.missing},
                   {"distinct", column.has_more_distinct ? nlohmann::ordered_json(nullptr)
                                                         : nlohmann::ordered_json(column.distinct)},
                   {"min", or_null(column.low)},
                   {"median", or_null(column.median)},
                   {"max", or_null(column.high)}});
  }
  return {{"table", name}, {"rows", rows}, {"bad_rows", bad_rows}, {"columns", std::move(all)}};
}

std::string TableSchema::yaml(const ConfigNode& settings) const {
  std::vector<ConfigNode::Entry> types;
  for (const ColumnSummary& column : columns) types.push_back({column.name, type_name(column.type)});
  const ConfigNode item = settings.with("columns", ConfigNode({{kComponent, kAutoWord}}))
                              .with("types", ConfigNode::map(std::move(types)));
  return "# Move the column to predict from `types` to `labels: {y: COLUMN}` (classes), or to `columns` (a "
         "number).\n" +
         to_yaml(ConfigNode::list({ConfigNode({{"CSV", item}})}));
}

TableSchema table_schema(const CsvParams& settings) {
  settings.check();
  const CsvRows files(settings.file, settings.form());
  const FieldStyle style = settings.style(files);
  TableSchema schema{files.name()};
  std::vector<std::string> names;
  std::vector<ColumnObserver> columns;
  const auto on_header = [&](const CsvHeader& header) {
    names = header.names();
    columns.resize(names.size());
    if (header.looks_like_data() || names.size() == 1) schema.advice = header.advice();
  };
  files.read(on_header, [&](const CsvRow& row) {
    ++schema.rows;
    if (!row.why.empty()) {
      if (schema.bad_rows++ == 0)
        schema.first_bad = files.files()[row.file] + ":" + std::to_string(row.line) + ": " + row.why;
      return;
    }
    for (size_t i = 0; i < columns.size(); ++i) columns[i].see(row.fields[i], style);
  });
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto& types = settings.types.all;
    const auto given =
        std::find_if(types.begin(), types.end(), [&](const auto& one) { return one.first == names[i]; });
    schema.columns.push_back(
        columns[i].summary(names[i], given == types.end() ? std::nullopt : std::optional(given->second)));
  }
  return schema;
}

}  // namespace tpack
