#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "experiment/bench.h"

namespace tpack {
namespace {

void add_bench_options(CLI::App& command, Action& action) {
  struct Options {
    ConfigArguments config;
    BenchOptions bench;
    size_t slowest = 10;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
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
  add_json_flag(command, options->json);
  command.callback([options, &action] {
    action = [options] {
      Experiment experiment = load_experiment(options->config.file, options->config.overrides);
      const BenchReport report = bench(experiment, options->bench);
      std::cout << (options->json ? report.to_json(options->slowest) + "\n" : report.str(options->slowest));
      return 0;
    };
  });
}

const Subcommand kBenchCommand("bench", "Time the training step, the data, and both", add_bench_options);

}  // namespace
}  // namespace tpack
