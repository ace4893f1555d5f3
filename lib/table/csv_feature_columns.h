#pragma once

#include <functional>
#include <string>
#include <vector>

#include "table/csv_features.h"

namespace tpack {

/// The columns of an `auto` component in a file, and remarks on the choice.
struct FeatureColumns {
  std::vector<CsvFeatures::Column> columns;
  std::vector<std::string> remarks = {};
};

/// The columns of data.train. Errors: ConfigError for columns that the file does not have.
FeatureColumns followed_features(const CsvHeader& header, const State& learned, const Position& where);
/// Settings of some columns in the config.
struct FeatureSettings {
  const ColumnTypes& types;
  const ColumnScales& scales;
  const ColumnClips& clips;
};
/// All useful columns except those for which `is_taken` is true. Errors: ConfigError.
FeatureColumns guessed_features(const CsvHeader& header, const std::vector<ColumnGuess>& guesses,
                                const FeatureSettings& settings, const Position& where,
                                const std::function<bool(const std::string& column)>& is_taken);

}  // namespace tpack
