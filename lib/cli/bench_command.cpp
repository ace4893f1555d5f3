#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/text.h"
#include "reports/bench.h"
#include "reports/bench_baseline.h"
#include "reports/bench_precisions.h"
#include "reports/bench_predictions.h"
#include "reports/scale_out.h"

namespace tpack {
namespace {

struct BenchCommandOptions {
  ConfigArguments config;
  BenchOptions bench;
  size_t slowest = 10;
  bool json = false;
  bool time_all = false;
  bool predict = false;
  bool scale_out = false;
  ScaleOutOptions network;
  std::string compression = "none";
  std::string baseline;
  double tolerance_percent = 5;
  std::vector<std::string> precisions;  // to compare; empty: none
};

/// Benches again, up to twice, where a step seems slower: another process may have disturbed the first one.
/// Errors: GateMissed.
void compare_with_baseline(BenchCommandOptions& options, const BenchReport& before,
                           const BenchReport& first) {
  const double tolerance = options.tolerance_percent / 100;
  const auto is_slower = [&](const std::vector<ComparedTime>& times) {
    return std::ranges::any_of(times, [&](const ComparedTime& time) { return time.is_slower(tolerance); });
  };
  std::vector<BenchReport> now = {first};
  std::vector<ComparedTime> times = compare_benches(before, options.baseline, now);
  options.bench.trace.clear();
  while (is_slower(times) && now.size() < 3) {
    Experiment again = load_experiment(options.config.file, options.config.overrides);
    now.push_back(bench(again, options.bench));
    times = compare_benches(before, options.baseline, now);
  }
  (options.json ? std::cerr : std::cout) << "\n" << comparison_text(times, tolerance);
  if (is_slower(times))
    throw GateMissed("a step is more than " + short_text(options.tolerance_percent) +
                     " % slower than in --baseline " + options.baseline + " (median of " +
                     std::to_string(now.size()) + " benches)");
}

int compare_precisions(const BenchCommandOptions& options) {
  std::vector<Precision> precisions;
  for (const std::string& name : options.precisions) {
    for (const auto& [known, precision] : EnumNames<Precision>::kNames)
      if (name == known) precisions.push_back(precision);
  }
  const auto load = [&](Precision precision) {
    std::vector<std::string> overrides = options.config.overrides;
    overrides.push_back(std::string("engine.precision=") + name_of(precision));
    Experiment experiment = load_experiment(options.config.file, overrides);
    if (options.time_all) experiment.config.engine.timings = Timings::kAll;
    return experiment;
  };
  const PrecisionReport report = bench_precisions(load, precisions, options.bench);
  std::cout << (options.json ? report.to_json() + "\n" : report.str());
  return 0;
}

int run_bench(BenchCommandOptions& options) {
  fit_batch(options.config);
  if (!options.precisions.empty()) return compare_precisions(options);
  Experiment experiment = load_experiment(options.config.file, options.config.overrides);
  if (options.predict) {
    const PredictionBench report = bench_predictions(experiment, options.bench);
    std::cout << (options.json ? report.to_json() + "\n" : report.str());
    return 0;
  }
  if (options.time_all) experiment.config.engine.timings = Timings::kAll;
  if (options.scale_out) {
    options.network.compressed = options.compression != "none";
    const ScaleOutReport report = predict_scale_out(experiment, options.bench, options.network);
    std::cout << (options.json ? report.to_json() + "\n" : report.str());
    return 0;
  }
  std::optional<BenchReport> before;  // read first: a wrong file is not worth a bench
  if (!options.baseline.empty()) before = read_bench(options.baseline);
  const BenchReport report = bench(experiment, options.bench);
  std::cout << (options.json ? report.to_json(options.slowest) + "\n" : report.str(options.slowest));
  if (before) compare_with_baseline(options, *before, report);
  return 0;
}

/// Rejects a file in a folder that does not exist: nothing is measured if the result cannot be written.
std::string needs_folder(const std::string& path) {
  if (path.empty()) return "is empty";
  if (std::filesystem::is_directory(path)) return "'" + path + "' is a folder; use a file name";
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  return std::filesystem::is_directory(folder) ? "" : "no such folder: '" + folder.string() + "'";
}

/// The network that `simulate` assumes.
void add_network_options(CLI::App& command, BenchCommandOptions& options, CLI::Option* simulate) {
  const auto above_zero = CLI::PositiveNumber;
  command
      .add_option("--gbit-per-s", options.network.gbit_per_s,
                  "bandwidth between two nodes, in each direction")
      ->capture_default_str()
      ->check(above_zero)
      ->needs(simulate);
  command.add_option("--latency-ms", options.network.latency_ms, "one way")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->needs(simulate);
  command.add_option("--bucket-mb", options.network.bucket_mb, "as of the trainer Horovod")
      ->capture_default_str()
      ->check(above_zero)
      ->needs(simulate);
  command.add_option("--compression", options.compression, "as of the trainer Horovod")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "fp16", "bf16"}))
      ->needs(simulate);
}

void add_bench_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<BenchCommandOptions>();
  add_config_arguments(command, options->config);
  command.add_option("--steps", options->bench.steps, "steps to time")
      ->capture_default_str()
      ->check(count_from(1));
  command.add_option("--warm-up", options->bench.warm_up, "steps to run before the timed ones")
      ->capture_default_str()
      ->check(count_from(0));
  command.add_option("--nodes", options->slowest, "number of slowest nodes to list")
      ->capture_default_str()
      ->check(count_from(0));
  command.add_flag("--time-all", options->time_all,
                   "time every kernel first, without a time limit (minutes for large networks); later runs "
                   "on this machine use the timings");
  add_json_flag(command, options->json);
  CLI::Option* const trace =
      command
          .add_option(
              "--trace", options->bench.trace,
              "write the kernels of one more step to this file (JSON), for Perfetto or chrome://tracing")
          ->check(needs_folder);
  CLI::Option* const baseline = command.add_option(
      "--baseline", options->baseline,
      "what --json printed before, on the same hardware: exit code 8 if a training step is slower now (three "
      "benches are then made)");
  command
      .add_option("--tolerance", options->tolerance_percent,
                  "how much slower it may be, in percent: 5, or 5%")
      ->capture_default_str()
      ->transform(
          [](const std::string& text) {
            return text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
          },
          "")
      ->check(CLI::NonNegativeNumber)
      ->needs(baseline);
  CLI::Option* const compare =
      command
          .add_option("--compare", options->precisions,
                      "measure the step in these precisions, in turn, and print how they compare: fp32,bf16; "
                      "tpack train repeats the result at its start")
          ->delimiter(',')
          ->type_name("NAME,NAME")
          ->allow_extra_args(false)
          ->check(CLI::IsMember(precision_names()))
          ->excludes(baseline)
          ->excludes(trace)
          ->excludes("--precision");
  CLI::Option* const simulate = command.add_flag(
      "--simulate-allreduce", options->scale_out,
      "measure a step on this machine, and predict its time on 2 to 256 nodes with one rank each");
  command
      .add_flag("--predict", options->predict,
                "measure the prediction of a batch instead of a training step, as tpack infer computes it")
      ->excludes(baseline)
      ->excludes(compare)
      ->excludes(trace)
      ->excludes(simulate);
  baseline->excludes(simulate);
  compare->excludes(simulate);
  trace->excludes(simulate);
  add_network_options(command, *options, simulate);
  command.callback([options, &action] { action = [options] { return run_bench(*options); }; });
}

const Subcommand kBenchCommand("bench", "Time the training step, the data, and both", add_bench_options);

}  // namespace
}  // namespace tpack
