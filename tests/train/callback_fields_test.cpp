// Every field of every callback has an effect.
#include <gmock/gmock.h>

#include "core/clock.h"
#include "core/text.h"
#include "support/captured_log.h"
#include "support/failing_file_io.h"
#include "support/live_fields.h"
#include "support/small_training.h"
#include "support/terminal_stderr.h"
#include "train/callback.h"

namespace tpack {
namespace {

std::string name_in(const std::string& item) { return parse_yaml(item, "callback.yaml").entries()[0].key; }

std::unique_ptr<Callback> callback_of(const std::string& item) {
  return Registry<Callback>::make_item(parse_yaml(item, "callback.yaml"));
}

/// The error message that a run ends with.
std::string error_of(TestRun& run) {
  try {
    run.go();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// The learning rate after each step, and the scalars; of those that depend on the clock, only the names.
std::string figures_of(TestRun& run, const std::vector<double>& rates) {
  std::string text;
  for (const double rate : rates) text += shortest(rate) + " ";
  for (const std::string& name : run.monitors.names()) {
    text += "\n" + name;
    if (depends_on_clock(name)) continue;
    for (const auto& [step, value] : run.monitors.get_history(name))
      text += " " + std::to_string(step) + ": " + shortest(value);
  }
  return text;
}

/// The results of a run from its third epoch on: its statistics, and the names of its checkpoints.
std::string traces_of(const std::string& item, FileIo& io) {
  const CapturedLog log;
  const TemporaryFolder folder;
  SmallTraining training;
  training.trainer().initialize();
  TestRun run({.starting_epoch = 3, .max_epoch = 7, .steps_per_epoch = 4}, training.trainer());
  run.options.folder = folder.str();
  run.options.io = &io;
  run.options.flows = {{"validation", small_flow(11, "- BatchData: {batch_size: 1}")},
                       {"test", small_flow(7, "- BatchData: {batch_size: 1}")}};
  // What callbacks after it monitor.
  if (name_in(item) != "MovingAverageSummary") run.add("MovingAverageSummary");
  std::vector<double> rates;
  run.add("probed", callback_of(item));
  run.add("rates", std::make_unique<FunctionCallback>(
                       [&](Run& at) { rates.push_back(at.hyper_parameter("learning_rate")); }));
  std::string text = error_of(run) + "\n";
  text += figures_of(run, rates);
  if (std::filesystem::exists(folder / "checkpoints"))
    text += "\n" + join(names_in(folder / "checkpoints"), " ");
  return text;
}

std::string traces_of(const std::string& item) { return traces_of(item, FileIo::system()); }

std::string traces_with_and_without_a_failed_save(const std::string& item) {
  FailingFileIo failing(1);
  const std::string failed = traces_of(item, failing);
  return traces_of(item) + "\n" + failed;
}

/// When a run whose first step corrupts a weight ends.
std::string end_of_a_spoiled_run(const std::string& item) {
  FakeTrainer trainer;
  trainer.on_step = [&](int64_t step) {
    if (step == 0) trainer.weights().data<float>()[0] = INFINITY;
  };
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer);
  run.add("probed", callback_of(item));
  return error_of(run);
}

/// Whether a long run is estimated to take hours, if the second of its first four epochs was long.
std::string estimate_after_a_long_epoch(const std::string& item) {
  const CapturedLog log;
  FakeTrainer trainer;
  trainer.on_step = [](int64_t step) {
    const Stopwatch watch;
    while (step == 1 && watch.seconds() < 0.3) {
    }
  };
  TestRun run({.max_epoch = 100'000, .steps_per_epoch = 1}, trainer);
  run.add("probed", callback_of(item));
  run.add("stop", std::make_unique<FunctionCallback>([](Run& at) {
            if (at.global_step() == 4) at.request_stop("enough");
          }));
  const std::string error = error_of(run);
  const std::string lines = log.text();
  return error +
         (lines.substr(lines.rfind("estimated")).find(" h ") == std::string::npos ? ", soon" : ", hours");
}

/// Which statistics are shown on a terminal.
std::string figures_on_a_terminal(const std::string& item) {
  FakeTrainer trainer;
  for (const char* name : {"accuracy", "cost"}) trainer.figures[name] = [](int64_t) { return 0.5; };
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, trainer);
  run.add("probed", callback_of(item));
  TerminalStderr terminal(120);
  std::string text = error_of(run);
  const std::string shown = terminal.text();
  for (const auto& [name, figure] : trainer.figures) {
    if (shown.find(name + " 0.5") != std::string::npos) text += " " + name;
  }
  return text;
}

/// Callbacks whose fields have no visible effect in a common run.
const std::map<std::string, live::Build> kScenes = {
    {"CheckNumerics", end_of_a_spoiled_run},
    {"EstimatedTimeLeft", estimate_after_a_long_epoch},
    {"ModelSaver", traces_with_and_without_a_failed_save},
    {"ProgressBar", figures_on_a_terminal},
};

TEST(Callbacks, have_no_field_without_effect) {
  const live::Components components = {
      {"EstimatedTimeLeft",
       {.base = "{last_k_epochs: 3, median: false}", .values = {{"last_k_epochs", "1"}, {"median", "true"}}}},
      {"InferenceRunner",
       {.base = "{data: validation}", .values = {{"data", "test"}, {"metrics", "[accuracy]"}}}},
      {"MaxSaver", {.base = "{monitor: cost}", .values = {{"monitor", "accuracy"}}}},
      {"MinSaver", {.base = "{monitor: cost}", .values = {{"monitor", "accuracy"}}}},
      {"ProgressBar", {.values = {{"name", "cost"}}}},
      {"ScheduledHyperParamSetter",
       {.base = "{param: learning_rate, values: [[1, 0.5], [4, 0.25]]}",
        .values = {
            {"param", "momentum"}, {"values", "[[1, 0.5], [5, 0.25]]"}, {"set_at_beginning", "false"}}}}};
  const auto build = [](const std::string& item) {
    const auto scene = kScenes.find(name_in(item));
    return scene == kScenes.end() ? traces_of(item) : scene->second(item);
  };
  EXPECT_THAT(live::dead_fields(Registry<Callback>::table(), components, build), testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
