#include "reports/run_charts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "core/field.h"
#include "core/text.h"
#include "monitor/stats_json.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

RunStats read_run(const std::string& path) {
  const fs::path file = fs::is_directory(path) ? fs::path(path) / kStatsFile : fs::path(path);
  if (!fs::exists(file))
    throw DataError(path,
                    std::string("no ") + kStatsFile + " in this folder; name a run folder of tpack train");
  auto records = read_stats_json(file.string());
  if (!records) throw DataError(file.string(), "is not a file of statistics, or is damaged");
  const bool has_values = std::any_of(records->begin(), records->end(),
                                      [](const StatRecord& record) { return !record.scalars.empty(); });
  if (!has_values) throw DataError(file.string(), "has no statistics yet");
  return {path, std::move(*records)};
}

Series series_of(const RunStats& run, const std::string& key) {
  Series series{key, {}};
  for (const StatRecord& record : run.records) {
    for (const auto& [name, value] : record.scalars) {
      if (name == key) series.points.push_back({static_cast<double>(record.at.global_step), value});
    }
  }
  return series;
}

/// A word that looks like a run but is not one.
bool is_missing_run(const std::string& word, size_t runs, const std::vector<std::string>& keys) {
  const bool is_key = std::find(keys.begin(), keys.end(), word) != keys.end();
  return runs == 0 || (word.find('/') != std::string::npos && !is_key);
}

}  // namespace

std::vector<std::string> statistics_of(const std::vector<RunStats>& runs) {
  std::vector<std::string> keys;
  for (const RunStats& run : runs) {
    for (const StatRecord& record : run.records) {
      for (const auto& [name, value] : record.scalars) {
        if (std::find(keys.begin(), keys.end(), name) == keys.end()) keys.push_back(name);
      }
    }
  }
  return keys;
}

std::vector<std::vector<std::string>> usual_panels(const std::vector<std::string>& keys) {
  std::vector<std::vector<std::string>> panels;
  for (const std::string& key : keys) {
    std::vector<std::string> panel = {key};
    for (const std::string& other : keys) {
      if (other.ends_with("_" + key)) panel.push_back(other);
    }
    if (panel.size() > 1) panels.push_back(std::move(panel));
  }
  if (!panels.empty()) return panels;
  // Without a validation: the statistics of the model, without terms of costs and measurements of the loop.
  const auto is_shown = [&](const std::string& key) {
    const auto ends = [&](const char* end) { return key.ends_with(end); };
    if (ends("learning_rate") || ends("_per_s") || ends("_time_share")) return false;
    return std::none_of(keys.begin(), keys.end(),
                        [&](const std::string& other) { return key.starts_with(other + "_"); });
  };
  for (const std::string& key : keys) {
    if (is_shown(key)) panels.push_back({key});
  }
  if (panels.empty() && !keys.empty()) panels.push_back({keys[0]});
  return panels;
}

Chart chart_of(const std::vector<RunStats>& runs, const std::vector<std::string>& keys) {
  Chart chart{{}, "step"};
  for (const std::string& key : keys) {
    for (const RunStats& run : runs) {
      Series series = series_of(run, key);
      if (series.points.empty()) continue;  // a key of another run
      if (runs.size() > 1) series.name += " " + run.name;
      const bool is_seen = std::any_of(series.points.begin(), series.points.end(),
                                       [](const auto& point) { return std::isfinite(point.y); });
      if (!is_seen) series.name += " (never a finite number)";
      chart.series.push_back(std::move(series));
    }
  }
  return chart;
}

std::vector<Chart> run_charts(const std::vector<std::string>& words) {
  std::vector<RunStats> runs;
  std::vector<std::string> others;
  for (const std::string& word : words) {
    if (fs::exists(word)) {
      runs.push_back(read_run(word));
    } else {
      others.push_back(word);
    }
  }
  const std::vector<std::string> known = statistics_of(runs);
  std::vector<std::string> sorted = known;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::vector<std::string>> panels;
  for (const std::string& word : others) {
    if (is_missing_run(word, runs.size(), known)) throw DataError(word, "no such run folder");
    panels.push_back(split(word, ','));
    for (const std::string& key : panels.back()) {
      if (std::find(known.begin(), known.end(), key) == known.end())
        throw unknown_reference("statistic", key, {}, sorted);
    }
  }
  if (panels.empty()) panels = usual_panels(known);
  std::vector<Chart> charts;
  for (const std::vector<std::string>& keys : panels) charts.push_back(chart_of(runs, keys));
  return charts;
}

}  // namespace tpack
