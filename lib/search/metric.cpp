#include "search/metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/text.h"
#include "monitor/stats_json.h"
#include "train/scalar_order.h"

namespace tpack {
namespace {

/// The statistics of MinSaver and MaxSaver.
std::vector<SearchMetric> saved_metrics(const Experiment& experiment) {
  std::vector<SearchMetric> metrics;
  for (const NamedCallback& named : experiment.callbacks)
    for (auto& [name, goal] : saves_best_of(*named.callback)) metrics.push_back({name, goal});
  return metrics;
}

/// The minimized statistics of the step (`flow` empty), or of a flow.
std::vector<std::string> minimized_of(const KnownStatistics& known, const std::string& flow) {
  std::vector<std::string> found;
  for (const std::string& name : known.minimized) {
    const std::string full = flow.empty() ? name : flow + "_" + name;
    if (known.statistics.contains(full)) found.push_back(full);
  }
  return found;
}

/// The default metric; empty if the config does not determine one.
std::string usual_name(const KnownStatistics& known) {
  std::vector<std::string> candidates;
  for (const std::string& flow : known.flows)
    for (std::string& name : minimized_of(known, flow)) candidates.push_back(std::move(name));
  if (candidates.empty()) candidates = minimized_of(known, "");
  return candidates.size() == 1 ? candidates[0] : "";
}

Goal goal_of(const std::string& name, const std::optional<Goal>& asked, const KnownStatistics& known) {
  const std::optional<Goal>& own = known.statistics.at(name);
  if (asked && own && *asked != *own)
    throw ConfigError(std::string("--goal ") + goal_name(*asked) + ": " + goal_text(*own, name) +
                      "; remove --goal");
  if (asked || own) return asked ? *asked : *own;
  for (const SearchMetric& metric : known.saved)
    if (metric.name == name) return metric.goal;
  throw ConfigError(
      "--metric " + name +
      ": the config does not define whether less or more is better; add --goal min or --goal max");
}

}  // namespace

KnownStatistics known_statistics(CheckedExperiment& checked) {
  const Experiment& experiment = checked.experiment();
  KnownStatistics known;
  known.statistics = checked.statistics();
  known.saved = saved_metrics(experiment);
  for (const StepStatistic& statistic : experiment.trainer->part<StepStatistics>().statistics())
    if (statistic.minimized) known.minimized.push_back(statistic.name);
  known.flows = experiment.flow_names();
  return known;
}

SearchMetric choose_metric(const MetricRequest& request, const KnownStatistics& known) {
  std::string name = request.name;
  if (name.empty() && !known.saved.empty()) name = known.saved[0].name;
  if (name.empty()) name = usual_name(known);
  if (name.empty() && !request.is_needed && !known.statistics.empty())
    return {known.statistics.begin()->first, Goal::kMin};
  if (name.empty())
    throw ConfigError(
        "--metric is missing: the config does not define the statistic that compares runs; use one of " +
        join(names_of(known.statistics), ", "));
  if (!known.statistics.contains(name)) {
    const ConfigError unknown = unknown_statistic({name, {}}, names_of(known.statistics), known.flows);
    throw ConfigError("--metric: " + std::string(unknown.what()));
  }
  return {name, goal_of(name, request.goal, known)};
}

MetricValues read_metric(const std::string& folder, const SearchMetric& metric) {
  MetricValues values;
  const auto records = read_stats_json(folder + "/" + kStatsFile);
  if (!records) return values;
  for (const StatRecord& record : *records) {
    values.epochs = std::max(values.epochs, record.at.epoch);
    for (const auto& [name, value] : record.scalars) {
      if (name != metric.name) continue;
      values.last = value;
      if (std::isnan(value)) continue;
      if (!values.best || is_better(value, *values.best, metric.goal)) values.best = value;
    }
  }
  return values;
}

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

}  // namespace tpack
