#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/metric.h"
#include "search/setting.h"

namespace tpack {

/// The name of the file in the folder of a sweep.
inline constexpr const char* kSearchFile = "sweep.json";

/// How the values of runs are chosen.
enum class Method : uint8_t { kGrid, kRandom, kHalving };
/// "grid", "random", "halving".
const char* method_name(Method method);

/// The settings that determine the runs and how long each is trained.
struct SearchPlan {
  Method method = Method::kGrid;
  std::vector<std::string> settings;  // as they were written
  int64_t trials = 0;                 // number of drawn runs; 0: all combinations
  int64_t seed = 1;
  SearchMetric metric;
  int64_t eta = 0;           // 0: the method is not halving
  int64_t least_epochs = 0;  // of the first rung; 0: the method is not halving
  std::string config;        // of the first run, with every default, as YAML
};

/// How `now` differs from the plan of a folder: "--seed was 1, is 2". More drawn runs (without halving) are
/// not a difference: the first ones are the same.
std::vector<std::string> plan_differences(const SearchPlan& before, const SearchPlan& now);

enum class RunState : uint8_t {
  kWaiting,
  kRunning,
  kFinished,
  kGateMissed,   // finished, but a statistic missed its gate
  kStopped,      // by halving, after some epochs
  kInterrupted,  // by the user; continues next time
  kFailed
};
/// "waiting", "gate missed", ...
const char* state_name(RunState state);

/// One run of a search.
struct SearchRun {
  std::string name;    // of its folder
  SearchPoint values;  // of the searched keys
  RunState state = RunState::kWaiting;
  /// The best value of the metric at the end of each trained rung; NaN without one.
  std::vector<double> scores;
  double seconds = 0;  // of training, the sum of all starts
  int exit_code = 0;   // of the last start
  std::string reason;  // the reason of a failure, or the missed gate

  /// Its training in this rung has ended, with or without an error.
  bool has_trained(size_t rung) const { return scores.size() > rung; }
};

/// What sweep.json says.
struct SearchRecord {
  SearchPlan plan;
  std::vector<std::string> keys;
  std::vector<SearchRun> runs;

  std::string to_json() const;
  /// Errors: ConfigError with `path` if the text is not such a file. Runs in state running become
  /// interrupted.
  static SearchRecord from_json(const std::string& text, const std::string& path);
};

}  // namespace tpack
