#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "checkpoint/retention.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/launch_ranks.h"
#include "cli/options.h"
#include "cli/resume_command.h"
#include "cli/signals.h"
#include "comm/mpi.h"
#include "comm/world.h"
#include "core/text.h"
#include "evaluation/out_of_fold.h"
#include "experiment/experiment.h"
#include "reports/fitted_batch.h"
#include "run/run_status.h"
#include "run/run_summary.h"
#include "run/train.h"
#include "search/folds.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

struct TrainCommandOptions {
  std::string program;  // as on the command line
  ConfigArguments config;
  TrainOptions train;
  std::string resume;
  int procs = 0;      // 0: this process trains
  int64_t folds = 0;  // 0: no cross-validation
  int jobs = 1;       // folds at a time
  bool json = false;
  std::vector<std::string> fitted = {};  // words for `batch_size: auto`, for ranks
};

/// Runs a training and prints its result, also if it failed.
int with_summary(const TrainCommandOptions& options, const std::function<int()>& train) {
  if (!options.json) return train();
  // With mistakes in the config there is no run to report.
  const Experiment experiment = load_experiment(options.train.config, options.train.overrides);
  const std::string folder = run_folder_path(options.train, experiment.config.name);
  const auto ended_at = [&folder] {
    std::error_code none;
    return std::filesystem::last_write_time(folder + "/exit.json", none);
  };
  const auto before = ended_at();
  const int code = train();
  // If the run could not begin, the files belong to an earlier one.
  if (!started_by_mpirun() && ended_at() != before) std::cout << run_summary(folder) << std::flush;
  return code;
}

/// The config of the run that will be continued; empty: a new run.
std::string continued_config(const TrainOptions& options) {
  if (options.resume.mode == ResumeRequest::Mode::kFile) {
    const auto texts = load_checkpoint_texts(options.resume.file).texts;
    const auto config = texts.find(layout::kConfig);
    return config == texts.end() ? "" : config->second;
  }
  if (options.resume.mode != ResumeRequest::Mode::kAuto) return "";
  std::vector<std::string> overrides = options.overrides;
  overrides.emplace_back("data.train.BatchData.batch_size=1");  // any number: for the name of the folder
  const std::string folder = run_folder_path(options, load_experiment(options.config, overrides).config.name);
  return newest_valid_checkpoint(folder + "/checkpoints")
             ? read_whole_file(folder + "/config.yaml").value_or("")
             : "";
}

void fit_batch(TrainCommandOptions& options) {
  if (!has_automatic_batch(options.config.file, options.config.overrides)) return;
  fit_batch(options.config, continued_config(options.train));
  options.train.overrides = options.config.overrides;
  options.fitted = {"--set", options.config.overrides.back()};
}

/// The words of this process's command line without --procs, with `further` ones, and the program by its
/// path.
std::vector<std::string> command_of_a_rank(const std::vector<std::string>& further) {
  std::vector<std::string> words = split(read_whole_file("/proc/self/cmdline").value_or(""), '\0');
  words.pop_back();  // each word ends with a zero
  words[0] = std::filesystem::read_symlink("/proc/self/exe");
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] != "--procs" && !words[i].starts_with("--procs=")) continue;
    const size_t count = words[i] == "--procs" ? 2 : 1;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i + count));
    break;
  }
  words.insert(words.end(), further.begin(), further.end());
  return words;
}

/// The first signal ends it; errors are reported here, because they end all ranks.
int train_here(const TrainCommandOptions& options) {
  SignalWatcher signals({.says_early_end = !started_by_procs()});
  const auto exit_code = [&signals] { return 128 + (signals.signal() == 0 ? SIGTERM : signals.signal()); };
  std::unique_ptr<Comm> world;
  try {
    bind_launched_rank();
    world = make_world();
    if (world->size() > 1) log::set_prefix("[rank " + std::to_string(world->rank()) + "] ");
    const auto on_watched = [&signals] { signals.expect_orderly_end(); };
    const auto save_request = [] {
      const int number = SignalWatcher::take_save_request();
      return number == 0 ? std::string() : std::string("SIG") + sigabbrev_np(number);
    };
    const LoopResult result =
        train(options.train, *world, {signals.stop_token(), on_watched, exit_code, save_request});
    if (result.ending != StopReason::kInterrupted) return 0;
    if (world->rank() == 0)
      log::info("to resume, run: " +
                resume_command(options.program, options.train, {world->size(), started_by_procs()}));
    signals.expect_end();
    // mpirun ends all others when a rank ends with another code than 0.
    if (tell_launcher_of_interrupt(world->size(), signals.signal())) return 0;
    world->end_alone();
    return exit_code();
  } catch (...) {
    const Failure failure = current_failure();
    if (world && hand_to_launcher(world->rank(), world->size(), failure))
      log_failure(failure);
    else
      report(failure);
    if (world && world->size() > 1) abort_world(failure.exit_code);
    return failure.exit_code;
  }
}

int launch(const TrainCommandOptions& options) {
  // Most mistakes in the config are reported once here. Each rank finds mistakes that need the data or the
  // callbacks.
  load_experiment(options.train.config, options.train.overrides).require_for_training();
  return launch_ranks(options.procs, command_of_a_rank(options.fitted));
}

/// Trains each fold in its own process. Errors: RunFailed if one fails.
int cross_validate(const TrainCommandOptions& options) {
  const PlannedSearch planned =
      plan_folds({options.train.config, options.train.overrides, options.train.log_dir, options.folds});
  require_processors(planned, options.jobs);
  if (std::filesystem::exists(planned.folder + "/" + kFoldsFile))
    log::info(planned.folder +
              " has folds that were trained before; they are not trained again, even if the data have "
              "changed; to train them again, remove the folder or use another one with --log-dir");
  SignalWatcher signals;
  const auto exit_code = [&signals] { return 128 + (signals.signal() == 0 ? SIGTERM : signals.signal()); };
  const SearchOutcome outcome = run_search(
      planned, {.program = options.program, .jobs = options.jobs, .retry_failed = true}, options.train.config,
      {signals.stop_token(), [&signals] { signals.expect_orderly_end(); }, exit_code});
  if (outcome.was_interrupted) {
    log::info("to continue, run the same command again");
    return exit_code();
  }
  for (const SearchRun& run : outcome.record.runs)
    if (run.state == RunState::kFailed) throw RunFailed("fold " + run.name + ": " + run.reason);
  const FoldStatistics statistics = fold_statistics(outcome.record, planned.folder);
  const std::string json = fold_json(statistics, outcome.record);
  std::cout << (options.json ? json : fold_table(statistics)) << std::flush;
  write_whole_file(planned.folder + "/" + kFoldsFile, json);
  std::vector<std::string> runs;
  for (const SearchRun& run : outcome.record.runs) runs.push_back(planned.folder + "/" + run.name);
  write_out_of_fold(runs, planned.folder + "/" + kOutOfFoldFile);
  return 0;
}

void add_train_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<TrainCommandOptions>();
  add_config_arguments(command, options->config);
  command.add_option("--log-dir", options->train.log_dir, "run folder (default: train_log/NAME)")
      ->check(not_empty());
  command
      .add_option("--resume", options->resume,
                  "auto: newest valid checkpoint; never: start over and move old content away; or a file")
      ->check(not_empty());
  command.add_option("--plan", options->train.plan, "use this plan.json")->check(not_empty());
  command
      .add_option("--procs", options->procs,
                  "start this many processes with mpirun on this machine; for trainers that support several "
                  "processes: Horovod, KMeans, PCA, NoOp")
      ->check(CLI::Range(1, 1024));
  command.add_flag("--replan", options->train.replan, "plan again instead of using the checkpoint's plan")
      ->excludes("--plan");
  command
      .add_option("--until-epoch", options->train.until_epoch,
                  "end after this epoch; --resume auto continues up to max_epoch")
      ->check(count_from(1));
  CLI::Option* folds =
      command
          .add_option(
              "--folds", options->folds,
              "cross-validation: train this many times, each time with another fold for validation and in "
              "its own folder; print mean and deviation of each statistic and write folds.json (see `split`)")
          ->check(CLI::Range(2, 1000))
          ->excludes("--procs")
          ->excludes("--resume")
          ->excludes("--plan")
          ->excludes("--replan")
          ->excludes("--until-epoch");
  command.add_option("--jobs", options->jobs, "folds at a time; they share the processors")
      ->check(count_from(1))
      ->needs(folds)
      ->capture_default_str();
  command.add_flag("--json", options->json,
                   "at the end, print the content of exit.json, the last statistics and the checkpoints as "
                   "JSON; with --folds, the statistics of all folds");
  command.callback([options, &action] {
    options->program = program_invocation_name;
    options->train.config = options->config.file;
    options->train.overrides = options->config.overrides;
    options->train.resume = ResumeRequest::parse(options->resume);
    action = [options] {
      fit_batch(*options);
      if (options->folds > 0) return cross_validate(*options);
      return with_summary(*options,
                          [&] { return options->procs > 0 ? launch(*options) : train_here(*options); });
    };
  });
}

const Subcommand kTrainCommand("train", "Train the experiment of a config", add_train_options);

}  // namespace
}  // namespace tpack
