#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "search/search.h"

namespace tpack {

/// A cross-validation: the config is trained once for each fold of its `split`.
struct FoldOptions {
  std::string config;                  // a file
  std::vector<std::string> overrides;  // KEY=YAML, as for `tpack train`
  std::string log_dir;                 // empty: train_log/NAME-folds
  int64_t folds = 5;
};

/// The search over `split.fold`. Errors: as plan_search.
PlannedSearch plan_folds(const FoldOptions& options);

/// The statistics of the last epoch that all folds have, in the order of the folds.
using FoldStatistics = std::map<std::string, std::vector<double>>;
FoldStatistics fold_statistics(const SearchRecord& record, const std::string& folder);

/// Mean and sample standard deviation (with n - 1) of each statistic, and the values, for the terminal.
std::string fold_table(const FoldStatistics& statistics);
/// The same as JSON: {"folds": 5, "statistics": {"validation_accuracy": {"mean": , "deviation": , "values":
/// []}}}.
std::string fold_json(const FoldStatistics& statistics, const SearchRecord& record);

inline constexpr const char* kFoldsFile = "folds.json";

}  // namespace tpack
