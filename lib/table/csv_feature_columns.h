#pragma once

#include <functional>
#include <string>
#include <vector>

#include "table/csv_features.h"

namespace tpack {

/// The columns of an `auto` component in a file, and what is worth telling of the choice.
struct FeatureColumns {
  std::vector<CsvFeatures::Column> columns;
  std::vector<std::string> remarks = {};
};

/// Those that data.train has. Errors: ConfigError for columns that the file lacks.
FeatureColumns followed_features(const CsvHeader& header, const State& learned, const Position& where);
/// What the config says of some columns.
struct FeatureSettings {
  const ColumnTypes& types;
  const ColumnScales& scales;
  const ColumnClips& clips;
};
/// All columns of use but those for which `is_taken` is true. Errors: ConfigError.
FeatureColumns guessed_features(const CsvHeader& header, const std::vector<ColumnGuess>& guesses,
                                const FeatureSettings& settings, const Position& where,
                                const std::function<bool(const std::string& column)>& is_taken);

}  // namespace tpack
