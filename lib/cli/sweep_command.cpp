#include <cerrno>
#include <csignal>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "core/error.h"
#include "core/text_encoding.h"
#include "search/results.h"
#include "search/search.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr const char* kSweepExample =
    "Each --set KEY=[A, B] is searched; any other --set is the same for all runs.\n\n  tpack sweep mine.yaml "
    "--set 'optimizer.Adam.learning_rate=[1e-3, 3e-4]' --jobs 2\n  tpack sweep mine.yaml --set "
    "'optimizer.Adam.learning_rate=[1e-5..1e-2 log]' --search random --trials 20\n  tpack sweep mine.yaml "
    "--set 'vars.width=[8..64]' --search halving --trials 27 --set max_epoch=9\n\nThe same command continues "
    "an interrupted sweep. docs/sweep.md explains it.";

struct SweepOptions {
  ConfigArguments config;
  SearchOptions search;
  SearchJobs jobs;
  std::string method = method_name(Method::kGrid);
  std::string goal;
  bool dry_run = false;
  bool json = false;
};

Method method_of(const std::string& name) {
  for (const Method method : {Method::kRandom, Method::kHalving})
    if (name == method_name(method)) return method;
  return Method::kGrid;
}

/// Errors: GateMissed if no run met its gates.
void require_a_good_one(const SearchOutcome& outcome) {
  const std::vector<SearchRun>& runs = outcome.record.runs;
  const SearchRun* missed = nullptr;
  for (const SearchRun& run : runs) {
    if (run.state == RunState::kFinished) return;
    if (run.state == RunState::kGateMissed && missed == nullptr) missed = &run;
  }
  if (missed == nullptr) return;
  throw GateMissed("no run met its gates; " + missed->name + ": " + missed->reason +
                   "; the table above has the best values; lower the gate, or search other values");
}

/// Errors: RunFailed.
void require_all(const SearchOutcome& outcome) {
  size_t failed = 0;
  std::string first;
  for (const SearchRun& run : outcome.record.runs) {
    if (run.state != RunState::kFailed) continue;
    if (failed++ == 0) first = run.name + ": " + run.reason;
  }
  if (failed == 0) return;
  throw RunFailed(std::to_string(failed) + " of " + std::to_string(outcome.record.runs.size()) +
                  " runs failed (" + first + "); --retry-failed starts them again");
}

int sweep(SweepOptions& options) {
  fit_batch(options.config);
  options.search.config = options.config.file;
  options.search.settings = options.config.overrides;
  options.search.method = method_of(options.method);
  if (!options.goal.empty())
    options.search.metric.goal = options.goal == goal_name(Goal::kMax) ? Goal::kMax : Goal::kMin;
  SignalWatcher signals;
  const PlannedSearch planned = plan_search(options.search);
  require_processors(planned, options.jobs.jobs);
  if (options.dry_run) {
    std::cout << printable_lines(planned.str());
    return 0;
  }
  log::info("sweep of " + std::to_string(planned.points.size()) + " runs in " + planned.folder);
  const auto exit_code = [&signals] { return 128 + (signals.signal() == 0 ? SIGTERM : signals.signal()); };
  const SearchOutcome outcome =
      run_search(planned, options.jobs, options.config.file,
                 {signals.stop_token(), [&signals] { signals.expect_orderly_end(); }, exit_code});
  const SearchResults results(outcome.record, planned.folder);
  std::cout << (options.json ? results.json() : results.table()) << std::flush;
  if (outcome.was_interrupted) {
    log::info("to continue the sweep, run the same command again");
    return exit_code();
  }
  require_all(outcome);
  require_a_good_one(outcome);
  return 0;
}

void add_search_options(CLI::App& command, SweepOptions& options) {
  command.add_option("--search", options.method, "how values are chosen")
      ->check(CLI::IsMember(
          {method_name(Method::kGrid), method_name(Method::kRandom), method_name(Method::kHalving)}))
      ->capture_default_str();
  command
      .add_option("--trials", options.search.trials,
                  "number of runs with random values, for random and halving")
      ->check(count_from(1));
  command.add_option("--seed", options.search.seed, "seed for the random values")->capture_default_str();
  command
      .add_option("--metric", options.search.metric.name,
                  "statistic that compares runs (default: the statistic of MinSaver or MaxSaver, or the "
                  "validation cost)")
      ->check(not_empty());
  command
      .add_option("--goal", options.goal,
                  "which values of the metric are better (default: as the config defines)")
      ->check(CLI::IsMember({goal_name(Goal::kMin), goal_name(Goal::kMax)}));
  command.add_option("--min-epochs", options.search.least_epochs, "for halving: epochs of the first rung")
      ->check(count_from(1))
      ->capture_default_str();
  command
      .add_option("--eta", options.search.eta,
                  "for halving: the best 1/ETA of the runs get ETA times the epochs")
      ->check(count_from(2))
      ->capture_default_str();
}

void add_sweep_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<SweepOptions>();
  command.footer(kSweepExample);
  add_config_arguments(command, options->config);
  add_search_options(command, *options);
  command.add_option("--jobs", options->jobs.jobs, "runs at a time; they share the processors")
      ->check(count_from(1))
      ->capture_default_str();
  command
      .add_option("--log-dir", options->search.log_dir,
                  "folder of the sweep, with a run folder for each run (default: train_log/NAME-sweep)")
      ->check(not_empty());
  command.add_flag("--retry-failed", options->jobs.retry_failed, "start failed runs again");
  add_json_flag(command, options->json);
  command.add_flag("--dry-run", options->dry_run, "check and list the runs; train nothing");
  command.callback([options, &action] {
    options->jobs.program = program_invocation_name;
    action = [options] { return sweep(*options); };
  });
}

const Subcommand kSweepCommand("sweep", "Search settings: train a config with several values",
                               add_sweep_options);

}  // namespace
}  // namespace tpack
