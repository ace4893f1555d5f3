#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "table/csv_values.h"

namespace tpack {

/// A column whose fields have several labels each, such as "red round large": 1 for each label that a row
/// has, 0 for the others. The labels are given, or learned from rows and sorted.
class CsvTags final : public CsvValues {
 public:
  /// `separator`: " " for any white space. `given`: the labels in order; empty: learned from rows.
  CsvTags(size_t column, std::string name, std::string separator, std::vector<std::string> given);

  const std::vector<std::string>& names() const override { return name_; }
  std::vector<std::string> labels() const override { return labels_; }
  std::unique_ptr<CsvValues> part(size_t rows) const override;
  void append(CsvValues& part) override;
  /// An empty field has no labels. A label that is not given is bad.
  void add(const std::vector<std::string_view>& fields, CsvNumberReader& reader) override;
  void fill_bad(size_t row) override { ends_.resize(row + 1, numbers_.size()); }
  void fit(std::span<const int64_t> rows) override;
  State learned() const override;
  void use(const State& learned) override;
  TensorSpec spec() const override { return {DType::kFloat32, {std::ssize(labels_)}}; }
  void get(size_t row, float* out) const override;
  std::vector<std::string> remarks() const override;

 private:
  std::vector<std::string_view> words_of(std::string_view field) const;
  size_t number_of(std::string_view tag);
  void take_labels(std::vector<std::string> labels);

  size_t column_;
  std::vector<std::string> name_;
  std::string separator_;
  std::vector<std::string> given_;
  std::vector<std::string> labels_;
  std::map<std::string, size_t, std::less<>> seen_;  // number by tag
  std::vector<std::string> tags_;                    // by number
  std::vector<int64_t> label_of_;                    // by number of a tag; -1: it is not a label
  std::vector<size_t> numbers_;                      // of the tags of all rows, one after the other
  std::vector<size_t> ends_;                         // of each row in `numbers_`
};

}  // namespace tpack
