#include "search/folds.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/text_table.h"
#include "experiment/experiment.h"
#include "monitor/monitors.h"
#include "monitor/stats_json.h"

namespace tpack {
namespace {

struct Spread {
  double mean = 0;
  double deviation = 0;
};

Spread spread_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Spread spread;
  for (const double value : values) spread.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = values.size() < 2 ? 0 : std::sqrt(squares / (n - 1));
  return spread;
}

/// The scalars of the last epoch of a run, except those that depend on the clock.
std::map<std::string, double> last_statistics(const std::string& folder) {
  std::map<std::string, double> last;
  const auto records = read_stats_json(folder + "/" + kStatsFile);
  if (!records) return last;
  for (const StatRecord& record : *records)
    for (const auto& [name, value] : record.scalars)
      if (!differs_between_runs(name)) last[name] = value;
  return last;
}

/// A list is one value here, but several values in a search.
std::string as_one_value(const std::string& setting) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos || !trim(std::string_view(setting).substr(equals + 1)).starts_with('['))
    return setting;
  return setting.substr(0, equals + 1) + "[" + setting.substr(equals + 1) + "]";
}

/// The section `split` with folds instead of a share for validation.
ConfigNode with_folds(const ConfigNode& root, int64_t folds) {
  const ConfigNode* given = root.find("split");
  ConfigNode split = given != nullptr && given->is_map() ? *given : ConfigNode::map({});
  const ConfigNode* shares = split.find("shares");
  if (shares != nullptr) {
    const ConfigNode others = shares->is_map() ? shares->without("validation") : ConfigNode::map({});
    split = others.size() == 0 ? split.without("shares") : split.with("shares", others);
  }
  return split.with("folds", folds);
}

}  // namespace

PlannedSearch plan_folds(const FoldOptions& options) {
  const LoadedConfig loaded = load_experiment_config(options.config, options.overrides);
  SearchOptions search;
  search.config = options.config;
  for (const std::string& setting : options.overrides) search.settings.push_back(as_one_value(setting));
  if (loaded.root.find("split") != nullptr)
    search.settings.emplace_back("split=!delete");  // otherwise the shares would be merged
  search.settings.push_back("split=" + to_json(with_folds(loaded.root, options.folds)));
  std::vector<std::string> folds;
  for (int64_t fold = 0; fold < options.folds; ++fold) folds.push_back(std::to_string(fold));
  search.settings.push_back("split.fold=[" + join(folds, ", ") + "]");
  search.log_dir = options.log_dir;
  if (search.log_dir.empty()) {
    const ConfigNode* name = loaded.root.find("name");
    const std::string stem = std::filesystem::path(options.config).stem();
    search.log_dir = "train_log/" + (name != nullptr && name->is_string() ? name->text() : stem) + "-folds";
  }
  search.metric.is_needed = false;
  return plan_search(search);
}

FoldStatistics fold_statistics(const SearchRecord& record, const std::string& folder) {
  FoldStatistics all;
  for (const SearchRun& run : record.runs)
    for (const auto& [name, value] : last_statistics(folder + "/" + run.name)) all[name].push_back(value);
  std::erase_if(all, [&](const auto& one) { return one.second.size() != record.runs.size(); });
  return all;
}

std::string fold_table(const FoldStatistics& statistics) {
  TextTable table({"statistic", "mean", "deviation", "of each fold"});
  for (const auto& [name, values] : statistics) {
    const Spread spread = spread_of(values);
    std::vector<std::string> each;
    for (const double value : values) each.push_back(short_number(value));
    table.add({name, short_number(spread.mean), short_number(spread.deviation), join(each, " ")});
  }
  return table.str();
}

std::string fold_json(const FoldStatistics& statistics, const SearchRecord& record) {
  nlohmann::ordered_json json = {{"folds", record.runs.size()}, {"runs", nlohmann::ordered_json::array()}};
  for (const SearchRun& run : record.runs) json["runs"].push_back(run.name);
  for (const auto& [name, values] : statistics) {
    const Spread spread = spread_of(values);
    json["statistics"][name] = {{"mean", spread.mean}, {"deviation", spread.deviation}, {"values", values}};
  }
  return json.dump(2) + "\n";
}

}  // namespace tpack
