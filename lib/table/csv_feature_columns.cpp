#include "table/csv_feature_columns.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/pattern.h"
#include "core/text.h"

namespace tpack {

FeatureColumns followed_features(const CsvHeader& header, const State& learned, const Position& where) {
  FeatureColumns found{CsvFeatures::columns_of(learned)};
  std::vector<std::string> names;
  for (const CsvFeatures::Column& column : found.columns) names.push_back(column.name);
  header.require(names, where, "data.train");
  for (CsvFeatures::Column& column : found.columns) column.index = header.first(column.name);
  return found;
}

namespace {

/// Errors: ConfigError for a column that the file does not have.
void require_known(const std::string& setting, const Position& where, const std::string& column,
                   const CsvHeader& header) {
  if (!header.has(column)) throw ConfigError(where, header.unknown_in(setting, column));
}
/// Errors: ConfigError for a second column of the name.
void require_one(const std::string& column, const CsvHeader& header, const Position& where) {
  if (header.count(column) > 1)
    throw ConfigError(where,
                      "CSV: " + header.path() + " has two columns '" + column +
                          "', which 'auto' cannot distinguish" +
                          (header.looks_like_data() ? header.advice() : "; rename one of them in the file"));
}
/// Errors: ConfigError for a column that is not a number of `auto`.
void require_number(const std::string& setting, const Position& where, const std::string& column,
                    const FeatureColumns& found) {
  std::vector<std::string> numbers;
  for (const CsvFeatures::Column& one : found.columns)
    if (one.type == ColumnType::kNumber) numbers.push_back(one.name);
  if (std::find(numbers.begin(), numbers.end(), column) == numbers.end())
    throw ConfigError(where, "CSV: '" + setting + "': column '" + column +
                                 "' is not a number column of 'auto'" +
                                 (numbers.empty() ? "" : "; number columns are " + join_first(numbers)) +
                                 "; to make it one, set `types`");
}

/// The type of a column from the config, or the guess.
ColumnType type_of(const std::string& name, const ColumnGuess& guess, const ColumnTypes& types,
                   bool& is_given) {
  const auto given =
      std::find_if(types.all.begin(), types.all.end(), [&](const auto& one) { return one.first == name; });
  is_given = given != types.all.end();
  return is_given ? given->second : guess.type();
}

/// The first column if pandas wrote it as the row index: without a name, or with the name that pandas gives
/// it.
bool is_unnamed_index(size_t index, const std::string& name, const ColumnGuess& guess) {
  return index == 0 && (name.empty() || full_match(name, "Unnamed: 0([.]\\d+)?")) && guess.are_integers();
}

/// Integers in a column named as an id identify rows, customers or products; their order has no meaning.
bool is_called_id(const std::string& name, const ColumnGuess& guess) {
  return names_an_id(name) && guess.type() == ColumnType::kNumber && guess.are_integers();
}

/// Errors: ConfigError for a column that is a date by `types`, but day and month are ambiguous.
void require_order_of_dates(const std::string& name, const ColumnGuess& guess, const ColumnTypes& types) {
  if (guess.dates().open().empty()) return;
  throw ConfigError(types.position,
                    "CSV: 'types': column '" + name + "' has dates such as '" + guess.dates().open() +
                        "', where day and month are ambiguous; set dates: day_first or month_first");
}

/// A column to read, with its guess.
CsvFeatures::Column column_of(size_t index, const std::string& name, ColumnType type,
                              const ColumnGuess& guess, const FeatureSettings& settings) {
  CsvFeatures::Column column{index, name, type};
  if (type == ColumnType::kNumber) {
    column.scaling = NumberScaling(settings.scales, settings.clips, name);
    column.form = guess.form();
  }
  if (type == ColumnType::kBool) column.scaling = NumberScaling(ColumnScale::kNone);
  if (type == ColumnType::kDate) column.dates = guess.dates().order();
  if (type == ColumnType::kNumber || type == ColumnType::kDate) column.missing_word = guess.missing_word();
  return column;
}

/// Remarks after the name of a column to read.
std::string note_of(const CsvFeatures::Column& column, const ColumnGuess& guess, bool is_given) {
  std::vector<std::string> notes;
  const ColumnScale scale = column.scaling.kind();
  if (column.type == ColumnType::kNumber && scale != ColumnScale::kStandardize)
    notes.emplace_back(EnumNames<ColumnScale>::kNames[static_cast<size_t>(scale)].first);
  if (column.form.is_written) notes.push_back(column.form.str());
  if (column.type == ColumnType::kCategory && !is_given && !guess.doubt().empty())
    notes.push_back(guess.doubt());
  return notes.empty() ? "" : " (" + join(notes, ", ") + ")";
}

/// "'-' counts as missing in age, fare", by word.
void add_missing_words(FeatureColumns& found) {
  std::map<std::string, std::vector<std::string>> columns;
  for (const CsvFeatures::Column& column : found.columns)
    if (!column.missing_word.empty()) columns[column.missing_word].push_back(column.name);
  for (const auto& [word, names] : columns)
    found.remarks.push_back("'" + word + "' counts as missing in " + join(names, ", ") +
                            ", because it is the only other text");
}

}  // namespace

FeatureColumns guessed_features(const CsvHeader& header, const std::vector<ColumnGuess>& guesses,
                                const FeatureSettings& settings, const Position& where,
                                const std::function<bool(const std::string&)>& is_taken) {
  const auto& [types, scales, clips] = settings;
  for (const auto& [column, type] : types.all) require_known("types", types.position, column, header);
  for (const auto& [column, scale] : scales.by_column)
    require_known("scale", scales.position, column, header);
  for (const auto& [column, limits] : clips.by_column) require_known("clip", clips.position, column, header);
  FeatureColumns found;
  std::map<ColumnType, std::vector<std::string>> of_type;
  for (size_t i = 0; i < header.size(); ++i) {
    const std::string& name = header[i];
    if (is_taken(name)) continue;
    require_one(name, header, where);
    bool is_given = false;
    const ColumnType type = type_of(name, guesses[i], types, is_given);
    if (!is_given && is_unnamed_index(i, name, guesses[i])) {
      of_type[ColumnType::kIgnore].push_back("'" + name + "' (an index without a name)");
      continue;
    }
    if (!is_given && is_called_id(name, guesses[i])) {
      of_type[ColumnType::kId].push_back(
          name + " (by their names; not read; to read one, set `types` to number or category)");
      continue;
    }
    if (type == ColumnType::kIgnore || type == ColumnType::kId) {
      of_type[type].push_back(name + (is_given ? "" : " (" + guesses[i].why() + ")"));
      continue;
    }
    if (type == ColumnType::kDate && is_given) require_order_of_dates(name, guesses[i], types);
    found.columns.push_back(column_of(i, name, type, guesses[i], settings));
    of_type[type].push_back(name + note_of(found.columns.back(), guesses[i], is_given));
  }
  for (const auto& [column, scale] : scales.by_column)
    require_number("scale", scales.position, column, found);
  for (const auto& [column, limits] : clips.by_column) require_number("clip", clips.position, column, found);
  if (found.columns.empty())
    throw ConfigError(where, "CSV: " + header.path() + " has no column that 'auto' can use" +
                                 (header.advice().empty() ? "; set `types`" : header.advice()));
  for (const auto& [type, names] : of_type) {
    const std::string what = EnumNames<ColumnType>::kNames[static_cast<size_t>(type)].first;
    found.remarks.push_back((type == ColumnType::kIgnore ? "not read" : what) + ": " + join(names, ", "));
  }
  add_missing_words(found);
  return found;
}

}  // namespace tpack
