#pragma once

#include <vector>

#include "table/csv_guess.h"
#include "table/csv_rows.h"

namespace tpack {

/// Guesses from a part of the rows.
class GuessPart final : public CsvRows::Part {
 public:
  GuessPart(size_t columns, const FieldStyle& style) : guesses_(columns), style_(style) {}
  const std::vector<ColumnGuess>& guesses() const { return guesses_; }
  void add(const CsvRow& row) override {
    if (!row.why.empty()) return;
    for (size_t i = 0; i < row.fields.size(); ++i) guesses_[i].see(row.fields[i], style_);
  }

 private:
  std::vector<ColumnGuess> guesses_;
  FieldStyle style_;
};

}  // namespace tpack
