#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/rng.h"

namespace tpack {

/// Numbers from `low` to `high` inclusive; only integers if both ends are integers.
struct ValueRange {
  double low = 0;
  double high = 0;
  bool is_log = false;  // the logarithm is drawn uniformly
  bool is_integer = false;

  /// A number as YAML; rounded to four significant digits if it is not an integer.
  std::string draw(Rng& rng) const;
};

/// One `--set KEY=VALUE` of a search: the same value for all runs, or one of several values in each run.
struct SearchSetting {
  std::string text;                 // as it was written
  std::string key;                  // with dots
  std::vector<std::string> values;  // YAML; the possible values; empty: fixed, or a range
  std::optional<ValueRange> range;

  bool is_searched() const { return range.has_value() || !values.empty(); }
};

/// Reads the settings of a search. A list has the values of runs (`KEY=[8, 16]`; `KEY=[[8, 16]]` has one
/// value, a list); a text in a list is a range: `[LOW..HIGH]`, `[LOW..HIGH log]`. Any other value applies to
/// all runs. Errors: ConfigError with every mistake.
std::vector<SearchSetting> parse_search_settings(const std::vector<std::string>& texts);

/// The values of one run, in the order of the searched settings.
using SearchPoint = std::vector<std::string>;

/// The `--set` options of the run with these values.
std::vector<std::string> overrides_of(const std::vector<SearchSetting>& settings, const SearchPoint& point);

/// The searched keys.
std::vector<std::string> searched_keys(const std::vector<SearchSetting>& settings);

/// The last words of each key that distinguish it from the others: "learning_rate", or
/// "d.optimizer.Adam.beta1".
std::vector<std::string> short_keys(const std::vector<std::string>& keys);

/// The name of a run's folder: its number, and the values that are possible in file names:
/// "003-learning_rate=0.001,width=8".
std::string run_name(size_t number, const std::vector<std::string>& keys, const SearchPoint& point);

}  // namespace tpack
