#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "table/csv.h"
#include "table/csv_columns.h"
#include "table/csv_missing.h"
#include "table/date_text.h"
#include "table/row_blocks.h"
#include "table/short_decimal.h"
#include "table/written_number.h"
#include "tensor/state.h"
#include "tensor/tensor.h"

namespace tpack {

enum class DecimalSign : uint8_t { kPoint, kComma };

template <>
struct EnumNames<DecimalSign> {
  static constexpr std::array<std::pair<const char*, DecimalSign>, 2> kNames = {
      {{".", DecimalSign::kPoint}, {",", DecimalSign::kComma}}};
};

inline constexpr const char* kDecimalDoc = "the decimal sign of numbers: a point or a comma";

/// The notation of numbers and dates in a table.
struct FieldStyle {
  DecimalSign decimal = DecimalSign::kPoint;
  char delimiter = ',';  // between fields
  DateOrder dates = DateOrder::kAuto;

  char sign() const { return decimal == DecimalSign::kComma ? ',' : '.'; }
};

/// csv_number (table/csv.h) of a field that may have a decimal comma, and then no point.
inline std::optional<double> csv_number(std::string_view field, DecimalSign decimal) {
  if (decimal == DecimalSign::kPoint) return csv_number(field, '.');
  return field.find('.') == std::string_view::npos ? csv_number(field, ',') : std::nullopt;
}

/// True for 1,5 and ,5.
bool has_decimal_comma(std::string_view field);

/// Thrown for a field that is bad, and with it the row.
struct BadField {
  std::string why;
};

/// Reads fields that are numbers of float32.
class CsvNumberReader {
 public:
  explicit CsvNumberReader(const FieldStyle& style) : style_(style) {}

  /// Reads the most common fields: numbers of a few digits, which float32 does not round to other integers;
  /// false for other fields, which need `read`.
  bool read_common(std::string_view field, float& out) const {
    double value = 0;
    if (!read_short_decimal(field, style_.sign(), value) || std::abs(value) > kAllIntegers) return false;
    out = static_cast<float>(value);
    return true;
  }
  /// NaN for a missing value; 1 and 0 for true and false. Errors: BadField.
  float read(std::string_view field, const std::string& column, const NumberForm& form = {});
  /// By column: the first large number that float32 rounds.
  const std::map<std::string, std::string>& rounded() const { return rounded_; }
  /// True if a bad field is a number in another notation, such as 1,234 or 5%.
  bool has_seen_written() const { return has_seen_written_; }
  DateOrder dates() const { return style_.dates; }
  /// For a part of the rows; for `append`.
  CsvNumberReader part() const { return CsvNumberReader(style_); }
  void append(CsvNumberReader& later) {
    rounded_.merge(later.rounded_);
    has_seen_written_ = has_seen_written_ || later.has_seen_written_;
  }

 private:
  static constexpr double kAllIntegers =
      1 << std::numeric_limits<float>::digits;  // integers up to this are exact

  float read_number(double value, std::string_view field, const std::string& column);
  std::optional<double> value_of(std::string_view field, const NumberForm& form) const;
  std::string complaint_of(std::string_view field, const NumberForm& form);

  FieldStyle style_;
  std::map<std::string, std::string> rounded_;
  bool has_seen_written_ = false;
};

/// The columns of one component while their file is read, and then its values. `fit` learns from rows; `get`
/// and other flows use the result.
class CsvValues {
 public:
  virtual ~CsvValues() = default;
  CsvValues() = default;
  CsvValues(const CsvValues&) = delete;
  CsvValues& operator=(const CsvValues&) = delete;

  /// Names of the columns, in order.
  virtual const std::vector<std::string>& names() const = 0;
  /// Names of the numbers in a set of labels, after `fit` or `use`.
  virtual std::vector<std::string> labels() const { return names(); }
  /// The number of numbers for each column.
  virtual std::vector<int64_t> widths() const {
    std::vector<int64_t> of_one(names().size(), 1);
    return of_one;
  }
  /// The same columns without rows, for a part of the table with about `rows` rows; for `append`.
  virtual std::unique_ptr<CsvValues> part(size_t rows) const = 0;
  /// Appends the rows of a part.
  virtual void append(CsvValues& part) = 0;
  /// Adds a row to a part. Errors: BadField, after which the part may have some of the row.
  virtual void add(const std::vector<std::string_view>& fields, CsvNumberReader& reader) = 0;
  /// Gives a bad row of a part, which it may have some of, all or none, any values.
  virtual void fill_bad(size_t row) = 0;
  /// Learns from these rows. Errors: DataError if they are not enough.
  virtual void fit(std::span<const int64_t> rows) = 0;
  /// The learned state; empty if there is nothing to learn.
  virtual State learned() const = 0;
  /// Uses the learned state of another flow. Errors: CheckpointError.
  virtual void use(const State& learned) = 0;
  /// After `fit` or `use`.
  virtual TensorSpec spec() const = 0;
  virtual void get(size_t row, float* out) const = 0;
  /// Remarks on the columns.
  virtual std::vector<std::string> remarks() const { return {}; }
  /// Differences from the learned state of another flow. After `use`.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// Columns of numbers: a vector, or one number. Labels of a set must be from 0 to 1.
class CsvNumbers final : public CsvValues {
 public:
  enum class Form : uint8_t { kNumber, kVector, kLabelSet };

  /// `written`: the notation of numbers, by column, if it is not the usual one. The rules must outlive it.
  /// Errors: ConfigError for a rule that does not apply to numbers.
  CsvNumbers(std::vector<size_t> columns, std::vector<std::string> names, Form form,
             const MissingRules& missing, const std::map<std::string, NumberForm>& written = {});
  /// The forms of the columns of another flow.
  static std::map<std::string, NumberForm> written_in(const State& learned,
                                                      const std::vector<std::string>& names);

  const std::vector<std::string>& names() const override { return names_; }
  std::unique_ptr<CsvValues> part(size_t rows) const override;
  void append(CsvValues& part) override { rows_.append(std::move(static_cast<CsvNumbers&>(part).open_)); }
  void add(const std::vector<std::string_view>& fields, CsvNumberReader& reader) override;
  void fill_bad(size_t row) override {
    open_.resize((row + 1) * columns_.size(), std::numeric_limits<float>::quiet_NaN());
  }
  void fit(std::span<const int64_t> rows) override;
  State learned() const override;
  void use(const State& learned) override;
  TensorSpec spec() const override;
  void get(size_t row, float* out) const override;
  std::vector<std::string> remarks() const override;

 private:
  std::vector<size_t> columns_;
  std::vector<std::string> names_;
  Form form_;
  const MissingRules* missing_;
  std::vector<NumberForm> written_;        // by column
  std::vector<const MissingRule*> rules_;  // by column; null: a missing value makes the row bad
  bool has_rules_ = false;
  RowBlocks rows_;            // NaN: missing
  std::vector<float> open_;   // of a part: its rows
  std::vector<float> fills_;  // by column
};

/// The replacement for missing numbers: the mean, median or most common of `values`, which have no NaN.
double fill_of(MissingRule::By by, std::vector<float> values);

}  // namespace tpack
