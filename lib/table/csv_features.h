#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/csv_guess.h"
#include "table/csv_scale.h"
#include "table/csv_values.h"

namespace tpack {

/// Columns of any type as one vector of numbers for a network:
///
/// - a number x: (x - mean) / deviation, or as its scale defines; a missing one is the median. If numbers are
///   missing in the training data, then also 1 for a missing one and 0 for others.
/// - a bool: 1 or 0; a missing one is the more common of both, and marked as with numbers.
/// - a category: 1 for the category, 0 for each other; and a number for missing ones and all categories that
///   the training data do not have.
/// - a date: its days as a number, and the sine and cosine of its month, its day of the week, and its time if
///   it has one.
class CsvFeatures final : public CsvValues {
 public:
  struct Column {
    size_t index = 0;  // in the file
    std::string name;
    ColumnType type = ColumnType::kNumber;
    const MissingRule* missing = nullptr;  // null: the median, the most common of two, or a place of its own
    NumberScaling scaling = {};
    NumberForm form = {};
    DateOrder dates = DateOrder::kAuto;
    std::string missing_word = {};  // stands for no value; empty: none but those of is_missing_in_csv
  };

  explicit CsvFeatures(std::vector<Column> columns, std::vector<std::string> remarks = {});
  /// The columns that another flow has, to be found in a file: without their indices.
  static std::vector<Column> columns_of(const State& learned);

  const std::vector<std::string>& names() const override { return names_; }
  std::vector<int64_t> widths() const override;
  std::unique_ptr<CsvValues> part(size_t rows) const override;
  void append(CsvValues& part) override;
  void add(const std::vector<std::string_view>& fields, CsvNumberReader& reader) override;
  void fill_bad(size_t row) override {
    open_.resize((row + 1) * rows_.columns(), std::numeric_limits<float>::quiet_NaN());
  }
  void fit(std::span<const int64_t> rows) override;
  State learned() const override;
  void use(const State& learned) override;
  TensorSpec spec() const override;
  void get(size_t row, float* out) const override;
  std::vector<std::string> remarks() const override;
  std::vector<std::string> warnings() const override;

 private:
  static constexpr size_t kMaxCategories = 100;  // with a place of their own, the most common ones

  /// One column, with what is learned of it.
  struct Encoder {
    Column column;
    std::map<std::string, float, std::less<>> codes = {};  // of a category: by text, in the order of the file
    std::vector<std::string> texts = {};                   // by code
    // Learned:
    double fill = 0;  // as NumberScaling::prepared gives it
    bool has_missing = false;
    bool has_time = false;                     // of a date
    std::vector<std::string> categories = {};  // sorted
    std::vector<int32_t> place = {};           // of a code among the categories

    size_t width() const;
    void index_categories();
  };

  static bool is_missing(const Column& column, std::string_view field);
  static float number_of(const Column& column, std::string_view field, CsvNumberReader& reader);
  void add_date(const Column& column, std::string_view field);
  void add_missing(const Column& column);
  static float yes_or_no(const Column& column, std::string_view field);
  static float code_of(Encoder& encoder, std::string_view text);
  void fit_numbers(Encoder& encoder, std::vector<float> present, size_t rows);
  void fit_categories(Encoder& encoder, const std::vector<float>& codes);

  std::vector<Encoder> encoders_;
  std::vector<std::string> names_;
  std::vector<std::string> remarks_;  // of the choice of columns
  std::vector<std::string> of_fit_;   // remarks of the last `fit`, of which there may be several
  RowBlocks rows_;                    // a number, a code, or the days and seconds of a date; NaN: missing
  std::vector<float> open_;           // of a part: its rows
};

}  // namespace tpack
