#include "reports/bench_precisions.h"

#include <map>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"
#include "draw/figures.h"
#include "draw/text_table.h"
#include "run/precision_times.h"

namespace tpack {
namespace {

constexpr int kRounds = 3;

/// The step alone; with its data if nothing can be held fixed.
const BenchFigure& step_of(const BenchReport& report) {
  if (report.train) return *report.train;
  if (!report.both) throw ConfigError("--compare: this config has no training step");
  return *report.both;
}

}  // namespace

PrecisionReport bench_precisions(const std::function<Experiment(Precision precision)>& load,
                                 std::span<const Precision> precisions, const BenchOptions& options) {
  PrecisionReport report{.rounds = kRounds};
  std::vector<std::vector<double>> seconds(precisions.size());
  std::string digest;
  std::string cache_dir;
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < precisions.size(); ++i) {
      Experiment experiment = load(precisions[i]);
      const BenchReport one = bench(experiment, options);
      report.batch = one.batch;
      digest = one.step_digest;
      cache_dir = experiment.config.engine.cache_dir;
      seconds[i].push_back(step_of(one).median_s);
      if (round == 0) report.rows.push_back({precisions[i], step_of(one)});
    }
  }
  std::map<Precision, double> medians;
  for (size_t i = 0; i < precisions.size(); ++i) {
    BenchFigure& step = report.rows[i].step;
    const double samples = step.samples_per_s * step.median_s;
    step.median_s = median(seconds[i]);
    step.samples_per_s = samples / step.median_s;
    medians[precisions[i]] = step.median_s;
  }
  save_precision_times(cache_dir, digest, medians);
  return report;
}

std::string PrecisionReport::str() const {
  const double first = rows.front().step.median_s;
  TextTable table(
      {"precision", "step, ms", "samples/s", std::string("times ") + name_of(rows.front().precision)});
  for (const Row& row : rows)
    table.add({name_of(row.precision), fixed(row.step.median_s * 1e3, 3),
               with_thousands(static_cast<int64_t>(row.step.samples_per_s)),
               fixed(first / row.step.median_s, 2)});
  return "batch " + std::to_string(batch) + ", medians of " + std::to_string(rounds) +
         " benches in turn\n\n" + table.str();
}

std::string PrecisionReport::to_json() const {
  const double first = rows.front().step.median_s;
  nlohmann::ordered_json root = {{"batch", batch}, {"rounds", rounds}};
  for (const Row& row : rows)
    root["precisions"].push_back({{"precision", name_of(row.precision)},
                                  {"step_ms", row.step.median_s * 1e3},
                                  {"samples_per_s", row.step.samples_per_s},
                                  {"times_first", first / row.step.median_s}});
  return root.dump(1);
}

}  // namespace tpack
