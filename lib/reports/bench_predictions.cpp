#include "reports/bench_predictions.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "backend/inference_tower.h"
#include "backend/open_device.h"
#include "core/clock.h"
#include "core/text.h"
#include "draw/figures.h"
#include "draw/text_table.h"
#include "predict/predictor.h"
#include "system/machine.h"

namespace tpack {
namespace {

std::vector<PredictOutput> outputs_of(const Experiment& experiment) {
  const ConfigNode& outputs = experiment.config.predict.outputs;
  if (!experiment.tower || outputs.is_null())
    throw ConfigError("--predict needs outputs: add --set 'predict={data: train, outputs: [LAYER]}'");
  Diagnostics errors;
  std::vector<PredictOutput> parsed = parse_predict_outputs(outputs, errors);
  errors.throw_if_any();
  return parsed;
}

int64_t batch_of(const Experiment& experiment) {
  const DataFlow* train = experiment.train_flow();
  return train == nullptr ? 1 : train->batch_size().value_or(1);
}

}  // namespace

PredictionBench bench_predictions(const Experiment& experiment, const BenchOptions& options) {
  const std::vector<PredictOutput> outputs = outputs_of(experiment);
  EngineSettings engine = experiment.config.engine;
  if (engine.algorithm == DeviceOptions::Algorithm::kAuto)
    engine.algorithm = DeviceOptions::Algorithm::kHeuristic;
  InferenceTower tower(*experiment.tower, open_device(default_device().name, engine));
  std::vector<std::string> names;
  for (const TowerInput& input : experiment.tower->inputs()) names.push_back(input.name);
  const ModelHandle handle = tower.handle();
  PredictionBench report{.batch = batch_of(experiment),
                         .threads = handle.device->threads(),
                         .precision = name_of(engine.precision)};
  const Predictor needs(handle, outputs, names);
  std::vector<Tensor> batch;
  for (const TowerInput& input : experiment.tower->inputs()) {
    if (std::ranges::find(needs.needed_inputs(), input.name) != needs.needed_inputs().end())
      batch.emplace_back(input.batch_spec(report.batch));
  }
  Predictor predictor(handle, outputs, needs.needed_inputs());
  std::vector<double> seconds;
  for (int i = 0; i < options.warm_up + options.steps; ++i) {
    const Stopwatch watch;
    predictor.run(batch);
    if (i >= options.warm_up) seconds.push_back(watch.seconds());
  }
  report.prediction.median_s = median(seconds);
  report.prediction.samples_per_s = static_cast<double>(report.batch) / report.prediction.median_s;
  report.peak_rss_mb = static_cast<double>(peak_resident_memory()) / 1e6;
  return report;
}

std::string PredictionBench::str() const {
  TextTable table({"batch", "threads", "precision", "ms", "samples/s", "peak memory"});
  table.add({std::to_string(batch), std::to_string(threads), precision, fixed(prediction.median_s * 1e3, 3),
             fixed(prediction.samples_per_s, 1), human_bytes(static_cast<uint64_t>(peak_rss_mb * 1e6))});
  return table.str();
}

std::string PredictionBench::to_json() const {
  return nlohmann::ordered_json{{"batch", batch},
                                {"threads", threads},
                                {"precision", precision},
                                {"prediction_ms", prediction.median_s * 1e3},
                                {"samples_per_s", prediction.samples_per_s},
                                {"peak_rss_mb", peak_rss_mb}}
      .dump(1);
}

}  // namespace tpack
