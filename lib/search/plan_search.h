#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/halving.h"
#include "search/search_file.h"

namespace tpack {

/// The options of `tpack sweep` that define the search.
struct SearchOptions {
  std::string config;                 // a file
  std::vector<std::string> settings;  // KEY=YAML
  std::string log_dir;                // empty: train_log/NAME-sweep
  Method method = Method::kGrid;
  int64_t trials = 0;  // 0: all combinations of a grid, or in halving without ranges
  int64_t seed = 1;    // for drawing values
  MetricRequest metric;
  int64_t eta = 3;           // of halving
  int64_t least_epochs = 1;  // of halving
};

/// A search whose runs are all known to be valid.
struct PlannedSearch {
  SearchPlan plan;
  std::vector<SearchSetting> settings;
  std::vector<SearchPoint> points;
  std::string folder;
  /// The rungs of halving; other methods have one, with all runs. The epochs of the last one are those of the
  /// config.
  std::vector<Rung> rungs;
  int64_t starting_epoch = 1;
  int64_t most_towers = 1;         // of a run's trainer
  std::string run_of_most_towers;  // "the run with KEY=VALUE"

  /// Numbers, folders and values, and the epochs of halving, for the terminal.
  std::string str() const;
};

/// Reads the settings, draws the values and checks the config of each run as `tpack check` does. Errors:
/// ConfigError with all mistakes of all runs; DataError, ResourceError.
PlannedSearch plan_search(const SearchOptions& options);

}  // namespace tpack
