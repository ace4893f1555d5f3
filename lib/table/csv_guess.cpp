#include "table/csv_guess.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "core/text.h"
#include "table/csv.h"

namespace tpack {
namespace {

bool has_digit(std::string_view text) { return text.find_first_of("0123456789") != std::string_view::npos; }

}  // namespace

FieldType Codec<ColumnTypes>::type() {
  return FieldType::map_of(Codec<ColumnType>::type(), "types by column");
}

std::optional<ColumnTypes> Codec<ColumnTypes>::parse(const ConfigNode& node, Reader& reader) {
  if (!node.is_map()) {
    reader.wrong_type(node, "types by column, such as {Pclass: category}");
    return std::nullopt;
  }
  ColumnTypes types{.position = node.position()};
  const size_t before = reader.errors().count();
  for (const auto& [column, value, position] : node.entries()) {
    const auto type = Codec<ColumnType>::parse(value, reader);
    if (type) types.all.emplace_back(column, *type);
  }
  return reader.errors().count() == before ? std::optional(std::move(types)) : std::nullopt;
}

ConfigNode Codec<ColumnTypes>::dump(const ColumnTypes& types) {
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [column, type] : types.all) entries.push_back({column, Codec<ColumnType>::dump(type)});
  return ConfigNode::map(std::move(entries));
}

std::optional<YesNo> parse_yes_no(std::string_view field) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords = {
      {{"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"}, {"1", "0"}}};
  constexpr size_t kLongest = 5;
  const std::string_view text = trim(field);
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "1.0" || lower == "0.0") lower.resize(1);
  for (size_t i = 0; i < kWords.size(); ++i)
    if (lower == kWords[i].first || lower == kWords[i].second) return YesNo{i, lower == kWords[i].first};
  return std::nullopt;
}

void ColumnGuess::see(std::string_view field, const FieldStyle& style) {
  ++rows_;
  const auto number = csv_number(field, style.decimal);
  if (!number && is_missing_in_csv(field)) {
    ++missing_;
    return;
  }
  if (flags_ + 1 == present()) see_flag(field);  // all fields until now
  const std::string_view text = trim(field);
  if (!number) return see_other(text, style);
  constexpr size_t kCompactDate = 8;
  if (text.size() == kCompactDate && parse_date(text)) ++compact_dates_;
  forms_.see_plain(*number, text, style.sign());
  see_number(*number);
}

void ColumnGuess::see_flag(std::string_view text) {
  const auto flag = parse_yes_no(text);
  if (!flag || flag_words_.value_or(flag->words) != flag->words) return;
  ++flags_;
  flag_words_ = flag->words;
  (flag->is_yes ? has_yes_ : has_no_) = true;
}

void ColumnGuess::see_number(double number) {
  if (plain_ == 0) first_ = number;
  const bool is_integer = number == std::trunc(number);
  if (is_integer) ++integers_;
  counts_up_ = counts_up_ && is_integer && (plain_ == 0 || number == last_ + 1);
  last_ = number;
  ++plain_;
  if (few_numbers_.size() <= kFewValues) few_numbers_.insert(number);
}

void ColumnGuess::see_other(std::string_view text, const FieldStyle& style) {
  counts_up_ = false;
  add_text(text);
  if (dates_.see(text, style.dates)) return;
  if (const auto number = forms_.see(text, style.sign(), style.delimiter)) {
    ++written_;
    if (few_written_.size() <= kFewValues) few_written_.insert(*number);
    return;
  }
  ++others_;
  if (style.decimal == DecimalSign::kPoint && has_decimal_comma(text)) {
    if (decimal_commas_++ == 0) decimal_comma_ = text;
  }
  if (words_.size() < kMaxWords) words_.emplace(text);
}

void ColumnGuess::add_text(std::string_view text) {
  if (texts_.contains(text)) return;
  if (texts_.size() < kMaxValues)
    texts_.emplace(text);
  else
    has_more_texts_ = true;
}

void ColumnGuess::append(const ColumnGuess& later) {
  const bool are_all_flags = are_flags() && later.are_flags() &&
                             (!flag_words_ || !later.flag_words_ || *flag_words_ == *later.flag_words_);
  if (are_all_flags) {
    flags_ += later.flags_;
    if (later.flag_words_) flag_words_ = later.flag_words_;
    has_yes_ = has_yes_ || later.has_yes_;
    has_no_ = has_no_ || later.has_no_;
  }
  const bool goes_on = plain_ == 0 || later.plain_ == 0 || later.first_ == last_ + 1;
  counts_up_ = counts_up_ && later.counts_up_ && goes_on;
  if (plain_ == 0) first_ = later.first_;
  if (later.plain_ > 0) last_ = later.last_;
  rows_ += later.rows_;
  missing_ += later.missing_;
  plain_ += later.plain_;
  written_ += later.written_;
  integers_ += later.integers_;
  compact_dates_ += later.compact_dates_;
  if (decimal_commas_ == 0) decimal_comma_ = later.decimal_comma_;
  decimal_commas_ += later.decimal_commas_;
  others_ += later.others_;
  forms_.append(later.forms_);
  dates_.append(later.dates_);
  for (const double number : later.few_numbers_)
    if (few_numbers_.size() <= kFewValues) few_numbers_.insert(number);
  for (const double number : later.few_written_)
    if (few_written_.size() <= kFewValues) few_written_.insert(number);
  for (const std::string& word : later.words_)
    if (words_.size() < kMaxWords) words_.insert(word);
  for (const std::string& text : later.texts_) add_text(text);
  has_more_texts_ = has_more_texts_ || later.has_more_texts_;
}

std::string ColumnGuess::missing_word() const {
  if (words_.size() != 1 || has_digit(*words_.begin())) return {};
  const bool is_among_numbers = numbers() > 0 && numbers() + others_ == present();
  const bool is_among_dates = dates_.dates() > others_ && dates_.dates() + others_ == present();
  return is_among_numbers || is_among_dates ? *words_.begin() : "";
}

bool ColumnGuess::are_numbers() const {
  if (!forms_.doubt().empty()) return false;
  if (numbers() == present()) return true;
  // If there are many different numbers, a few other fields are mistakes.
  const bool are_most = numbers() * 100 >= present() * 95;
  if (numbers() > 0 && !missing_word().empty()) return has_many_numbers() || has_mostly_single_texts();
  return has_many_numbers() && are_most;
}

bool ColumnGuess::are_dates() const {
  if (compact_dates_ == present() && present() > 2) return true;
  if (dates_.dates() == 0 || dates_.is_mixed() || !dates_.open().empty()) return false;
  return dates_.dates() == present() || (numbers() == 0 && !missing_word().empty());
}

ColumnType ColumnGuess::type() const {
  if (values() < 2 || is_row_number()) return ColumnType::kIgnore;
  if (are_flags() && has_yes_ && has_no_) return ColumnType::kBool;
  if (are_dates()) return ColumnType::kDate;
  if (are_numbers()) return ColumnType::kNumber;
  return has_mostly_single_texts() ? ColumnType::kIgnore : ColumnType::kCategory;
}

std::string ColumnGuess::doubt() const {
  if (numbers() == present() && !forms_.doubt().empty()) return forms_.doubt();
  if (dates_.dates() > 0 && dates_.dates() + others_ == present() && dates_.is_mixed())
    return "dates of which some begin with the day and others with the month";
  if (dates_.dates() == present() && !dates_.open().empty())
    return "dates such as '" + dates_.open() +
           "', where day and month are ambiguous; set dates: day_first or month_first";
  if (decimal_commas_ > 0 && numbers() + decimal_commas_ == present())
    return "numbers with a decimal comma, such as '" + decimal_comma_ + "'; set `decimal`";
  const bool are_most = numbers() * 2 > present() && (has_many_numbers() || has_mostly_single_texts());
  if (!are_most || words_.empty() || words_.size() >= kMaxWords) return {};
  std::vector<std::string> words;
  for (const std::string& word : words_) words.push_back("'" + word + "'");
  return "numbers except " + join(words, ", ") + "; if such words mean missing, set na_values";
}

std::string ColumnGuess::why() const {
  if (present() == 0) return "empty";
  if (values() < 2) return "one value only";
  if (is_row_number()) return "row numbers";
  const std::string true_reason = doubt();
  return true_reason.empty() ? "most texts occur once" : true_reason;
}

bool names_an_id(const std::string& column) {
  return column == "id" || column.ends_with("_id") || column.ends_with("Id") || column.ends_with("ID");
}

bool names_a_time(const std::string& column) {
  constexpr std::array kNames = {"date", "datetime", "timestamp", "ds"};
  std::string letters;
  for (const char c : column) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return std::find(kNames.begin(), kNames.end(), letters) != kNames.end();
}

}  // namespace tpack
