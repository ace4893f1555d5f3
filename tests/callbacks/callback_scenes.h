#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/text.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/small_training.h"
#include "train/callback.h"

/// Runs that show the effects of the fields of a callback.
namespace tpack {

inline std::string name_in(const std::string& item) {
  return component_item(parse_yaml(item, "callback.yaml"), "callback").name;
}

inline std::unique_ptr<Callback> callback_of(const std::string& item) {
  return Registry<Callback>::make_item(parse_yaml(item, "callback.yaml"));
}

/// The error message of the callbacks' setup.
inline std::string error_of_setup(TestRun& run) {
  return error_from<Error>([&] { run.loop(); });
}

/// The error message that a run ends with. Errors: those of the setup, after which there is no run.
inline std::string error_of_run(TestRun& run) {
  run.loop();
  return error_from<Error>([&] { run.go(); });
}

/// The learning rate after each step, and the scalars; of those that depend on the clock, only the names.
inline std::string figures_of(TestRun& run, const std::vector<double>& rates) {
  std::string text;
  for (const double rate : rates) text += shortest(rate) + " ";
  for (const std::string& name : run.monitors.names()) {
    text += "\n" + name;
    if (differs_between_runs(name)) continue;
    for (const auto& [step, value] : run.monitors.get_history(name))
      text += " " + std::to_string(step) + ": " + shortest(value);
  }
  return text;
}

/// The results of a run from its third epoch on: its statistics, and the names of its checkpoints.
inline std::string traces_of(const std::string& item, FileIo& io = FileIo::system()) {
  const CapturedLog log;
  const TemporaryFolder folder;
  SmallRun run({.starting_epoch = 3, .max_epoch = 7, .steps_per_epoch = 4}, folder.str());
  run.options.io = &io;
  run.options.flows = {{"validation", small_flow(11, "- BatchData: {batch_size: 1}")},
                       {"test", small_flow(7, "- BatchData: {batch_size: 1}")}};
  // What callbacks after it monitor.
  if (name_in(item) != "MovingAverageSummary") run.add("MovingAverageSummary");
  if (!name_in(item).ends_with("InferenceRunner")) run.add("InferenceRunner", {{"data", "validation"}});
  std::vector<double> rates;
  run.add("probed", callback_of(item));
  run.on_step("rates", [&](Run& at) { rates.push_back(at.hyper_parameter("learning_rate")); });
  std::string text = error_of_run(run) + "\n";
  text += figures_of(run, rates);
  if (std::filesystem::exists(folder / "checkpoints"))
    text += "\n" + join(names_in(folder / "checkpoints"), " ");
  return text;
}

}  // namespace tpack
