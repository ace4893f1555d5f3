#include "callbacks/best_saver.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "core/text.h"
#include "system/log.h"

namespace tpack {

Schema<BestSaver::Params> BestSaver::with_fields(Schema<Params> schema) {
  return schema
      .field("monitor", &Params::monitor, "the statistic; a callback earlier in the list must report it")
      .required()
      .field("file", &Params::file, "name of the file in the folder `checkpoints`; default: see above");
}

BestSaver::BestSaver(std::string who, std::string opposite, Params p, Goal goal)
    : Callback({.identity = p.monitor.name + (p.file.empty() ? "" : "-" + p.file),
                .only_one = true,
                .ranks_are_fixed = "one process writes the checkpoints"}),
      who_(std::move(who)),
      opposite_(std::move(opposite)),
      monitor_(std::move(p.monitor)),
      file_name_(std::move(p.file)),
      goal_(goal) {
  if (file_name_.empty()) {
    std::string stat = monitor_.name;
    std::replace(stat.begin(), stat.end(), '/', '-');
    file_name_ = std::string(goal_name(goal)) + "-" + stat + ".h5";
  }
  const bool is_ours = file_name_.starts_with("model-") || file_name_.find('/') != std::string::npos;
  if (is_ours || !file_name_.ends_with(".h5"))
    throw ConfigError(who_ + ": 'file' is '" + file_name_ +
                      "'; the name must end with .h5 and not begin with model-");
}

void BestSaver::setup(Setup& setup) {
  setup.needs_goal(monitor_, who_, {.asked = goal_, .if_opposite = "use " + opposite_, .keeps_best = true});
}

void BestSaver::before_train(Run& run) {
  if (!run.resumed() || run.folder().empty()) return;
  const std::string path = run.folder() + "/checkpoints/" + file_name_;
  if (!std::filesystem::exists(path)) return say_what_is_not_here(run);
  try {
    best_ = value_of(path);
  } catch (const CheckpointError& error) {
    log::warning(who_ + ": " + error.what() + "; the next " + monitor_.name + " counts as the best");
  }
}

/// The run may continue in another folder, or the file was archived with later ones.
void BestSaver::say_what_is_not_here(Run& run) const {
  if (is_timed()) return;  // it may not have seen that value
  std::optional<std::pair<int64_t, double>> best;
  for (const auto& [step, value] : run.monitors().get_history(monitor_.name)) {
    if (!std::isnan(value) && (!best || is_better(value, best->second, goal_))) best = {step, value};
  }
  if (!best) return;
  log::warning(who_ + ": " + monitor_.name + " was " + short_text(best->second) + " after global_step " +
               std::to_string(best->first) + ", but this folder has no " + file_name_ +
               "; the next value counts as the best");
}

/// The statistic at the step of a checkpoint.
double BestSaver::value_of(const std::string& path) const {
  const CheckpointContent content = load_checkpoint_texts(path);
  const auto history = content.texts.find(layout::kHistory);
  Monitors monitors({});
  if (history != content.texts.end()) monitors.load(history->second, path);
  const Monitors::History& values = monitors.get_history(monitor_.name);
  if (values.empty() || values.back().first != content.step)
    throw CheckpointError(path, "has no value of " + monitor_.name);
  return values.back().second;
}

void BestSaver::trigger(Run& run) {
  const Monitors::History& history = run.monitors().get_history(monitor_.name);
  if (history.empty() || history.back().first != run.global_step()) return;  // nothing new
  const double value = history.back().second;
  if (std::isnan(value) || (best_ && !is_better(value, *best_, goal_))) return;
  CheckpointRequest request;
  request.name = file_name_;
  request.purpose = CheckpointRequest::Purpose::kKeepBest;
  request.saved = [this, value](const std::string& path) {
    best_ = value;
    log::info("saved " + path + ", " + monitor_.name + " is " + short_text(value));
  };
  run.request_checkpoint(std::move(request));
}

void BestSaver::after_train(Run& run) {
  const Monitors::History& history = run.monitors().get_history(monitor_.name);
  const auto is_nan = [](const auto& one) { return std::isnan(one.second); };
  if (best_ || history.empty() || !std::all_of(history.begin(), history.end(), is_nan)) return;
  log::warning(who_ + ": saved nothing, because " + monitor_.name + " was never a number");
}

}  // namespace tpack
