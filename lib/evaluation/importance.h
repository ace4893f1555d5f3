#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dataflow/data_flow.h"
#include "predict/evaluator.h"

namespace tpack {

/// A unit to permute: a column of a table with all its numbers, a number of a vector, or an input.
struct ImportanceUnit {
  std::string name;
  size_t input = 0;                  // of the tower
  std::vector<int64_t> places = {};  // elements of a sample; empty: all
};

/// The units of the inputs that predictions depend on. `flow` is the evaluator's flow, prepared.
std::vector<ImportanceUnit> importance_units(const Evaluator& evaluator,
                                             const std::vector<TowerInput>& inputs, const DataFlow& flow);

/// How much worse a statistic becomes when a unit has the values of other samples.
struct Importance {
  std::string name;                 // of the unit, or of several: "a + b"
  std::vector<double> values = {};  // of each permutation
  double mean = 0;
  double deviation = 0;  // of the values
  /// The 95 % confidence interval of the mean over permutations (Student's t).
  double low = 0;
  double high = 0;
};

struct ImportanceOptions {
  std::string statistic;  // of the evaluator
  int64_t repeats = 10;   // permutations of each unit
  uint64_t seed = 0;
};

/// Permutation importance (Breiman 2001; Fisher, Rudin and Dominici 2019), as scikit-learn's
/// permutation_importance defines it: the value without permutation minus the value with it, or the reverse
/// if lower values are better. Correlated units (0.8 or more) are also permuted together, because each alone
/// looks unimportant while the others stay; these groups come after the units, which are sorted by their
/// means.
class ImportanceTable {
 public:
  /// Errors: ConfigError for an unknown statistic, or one without a direction; those of the data.
  ImportanceTable(Evaluator& evaluator, const std::vector<ImportanceUnit>& units,
                  const ImportanceOptions& options);

  const std::vector<Importance>& rows() const { return rows_; }
  std::string str() const;
  nlohmann::ordered_json to_json() const;
  std::string svg() const;

 private:
  std::string title_;
  std::vector<Importance> rows_;
};

}  // namespace tpack
