#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "core/text.h"
#include "system/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct BestSaverParams {
  Ref<Stat> monitor;
  std::string file;  // empty: PREFIX-STATISTIC.h5
};

const char* saver_of(Goal goal) { return goal == Goal::kMin ? "MinSaver" : "MaxSaver"; }

/// Saves a checkpoint of the epoch if a scalar is better than in all epochs saved before. Only a value
/// reported at this step counts, so a different epoch is never saved by mistake. The best value is that of
/// the file in the run folder: a resumed run reads it from there, not from its checkpoint, so that the file
/// is never replaced by a worse one.
class BestSaver : public Callback, public CheckpointWriting {
 public:
  std::vector<std::string> checkpoints() const override { return {file_name_}; }
  std::vector<std::pair<std::string, Goal>> saves_best_of() const override {
    return {{monitor_.name, goal_}};
  }
  void setup(Setup& setup) override;
  void before_train(Run& run) override;
  void trigger(Run& run) override;
  void after_train(Run& run) override;

 protected:
  BestSaver(BestSaverParams p, Goal goal);

 private:
  void say_what_is_not_here(Run& run) const;
  double value_of(const std::string& path) const;

  std::string who_;  // for messages
  Ref<Stat> monitor_;
  std::string file_name_;
  Goal goal_;
  std::optional<double> best_;   // of the file
  std::optional<double> asked_;  // of the last request, until its file is written
};

BestSaver::BestSaver(BestSaverParams p, Goal goal)
    : Callback({.identity = p.monitor.name + (p.file.empty() ? "" : "-" + p.file),
                .only_one = true,
                .ranks_are_fixed = "one process writes the checkpoints"}),
      who_(std::string("callback ") + saver_of(goal)),
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
  setup.needs_goal(
      monitor_, who_,
      {.asked = goal_,
       .if_opposite = std::string("use ") + saver_of(goal_ == Goal::kMin ? Goal::kMax : Goal::kMin),
       .keeps_best = true});
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
  const std::optional<double>& before = asked_ ? asked_ : best_;
  if (std::isnan(value) || (before && !is_better(value, *before, goal_))) return;
  asked_ = value;
  CheckpointRequest request;
  request.name = file_name_;
  request.purpose = CheckpointRequest::Purpose::kKeepBest;
  request.saved = [this, value](const std::string& path) {
    best_ = value;
    if (asked_ == value) asked_.reset();
    log::info("saved " + path + ", " + monitor_.name + " is " + short_text(value));
  };
  request.failed = [this, value](const Error& /*error*/) {
    if (asked_ == value) asked_.reset();
  };
  run.request_checkpoint(std::move(request));
}

void BestSaver::after_train(Run& run) {
  const Monitors::History& history = run.monitors().get_history(monitor_.name);
  const auto is_nan = [](const auto& one) { return std::isnan(one.second); };
  if (best_ || history.empty() || !std::all_of(history.begin(), history.end(), is_nan)) return;
  log::warning(who_ + ": saved nothing, because " + monitor_.name + " was never a number");
}

template <Goal kGoal>
class SaverOf final : public BestSaver {
 public:
  using Params = BestSaverParams;
  static Schema<Params> schema() {
    const bool is_min = kGoal == Goal::kMin;
    return Schema<Params>(std::string("Saves checkpoints/") + goal_name(kGoal) +
                          "-STATISTIC.h5 whenever a statistic is the " + (is_min ? "smallest" : "largest") +
                          " so far.")
        .example(std::string(saver_of(kGoal)) + ": {monitor: validation_" + (is_min ? "cost}" : "accuracy}"))
        .field("monitor", &Params::monitor, "the statistic; a callback earlier in the list must report it")
        .required()
        .field("file", &Params::file, "name of the file in the folder `checkpoints`; default: see above");
  }
  explicit SaverOf(Params p) : BestSaver(std::move(p), kGoal) {}
};

/// Source: tensorpack callbacks/saver.py, MinSaver.
using MinSaver = SaverOf<Goal::kMin>;
TPACK_REGISTER(Callback, MinSaver, "MinSaver");
/// Source: tensorpack callbacks/saver.py, MaxSaver.
using MaxSaver = SaverOf<Goal::kMax>;
TPACK_REGISTER(Callback, MaxSaver, "MaxSaver");

}  // namespace
}  // namespace tpack
