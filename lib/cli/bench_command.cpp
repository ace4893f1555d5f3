#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "reports/bench.h"
#include "reports/scale_out.h"

namespace tpack {
namespace {

struct BenchCommandOptions {
  ConfigArguments config;
  BenchOptions bench;
  size_t slowest = 10;
  bool json = false;
  bool time_all = false;
  bool scale_out = false;
  ScaleOutOptions network;
  std::string compression = "none";
};

int run_bench(BenchCommandOptions& options) {
  Experiment experiment = load_experiment(options.config.file, options.config.overrides);
  if (options.time_all) experiment.config.engine.timings = Timings::kAll;
  if (options.scale_out) {
    options.network.compressed = options.compression != "none";
    const ScaleOutReport report = predict_scale_out(experiment, options.bench, options.network);
    std::cout << (options.json ? report.to_json() + "\n" : report.str());
    return 0;
  }
  const BenchReport report = bench(experiment, options.bench);
  std::cout << (options.json ? report.to_json(options.slowest) + "\n" : report.str(options.slowest));
  return 0;
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
  CLI::Option* const simulate = command.add_flag(
      "--simulate-allreduce", options->scale_out,
      "measure a step on this machine, and predict its time on 2 to 256 nodes with one rank each");
  const auto above_zero = CLI::PositiveNumber;
  command
      .add_option("--gbit-per-s", options->network.gbit_per_s,
                  "bandwidth between two nodes, in each direction")
      ->capture_default_str()
      ->check(above_zero)
      ->needs(simulate);
  command.add_option("--latency-ms", options->network.latency_ms, "one way")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->needs(simulate);
  command.add_option("--bucket-mb", options->network.bucket_mb, "as of the trainer Horovod")
      ->capture_default_str()
      ->check(above_zero)
      ->needs(simulate);
  command.add_option("--compression", options->compression, "as of the trainer Horovod")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "fp16", "bf16"}))
      ->needs(simulate);
  command.callback([options, &action] { action = [options] { return run_bench(*options); }; });
}

const Subcommand kBenchCommand("bench", "Time the training step, the data, and both", add_bench_options);

}  // namespace
}  // namespace tpack
