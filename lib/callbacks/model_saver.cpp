#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "callbacks/numerics.h"
#include "checkpoint/retention.h"
#include "system/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

enum class SaveFailure : uint8_t { kContinue, kStop };

struct ModelSaverParams {
  int64_t keep = 3;
  std::optional<int64_t> every_epochs;
  std::optional<int64_t> every_steps;
  std::optional<double> keep_every_hours;
  SaveFailure on_error = SaveFailure::kContinue;
};

}  // namespace

template <>
struct EnumNames<SaveFailure> {
  static constexpr std::array<std::pair<const char*, SaveFailure>, 2> kNames = {
      {{"continue", SaveFailure::kContinue}, {"stop", SaveFailure::kStop}}};
};

namespace {

/// The time between checkpoints that stay is that of the wall clock; it begins with the run, and a resumed
/// run continues it. Source: tensorpack callbacks/saver.py, ModelSaver.
class ModelSaver final : public Callback, public CheckpointWriting {
 public:
  using Params = ModelSaverParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Saves checkpoints to resume from: checkpoints/model-STEP.h5, by default after each epoch, "
               "and at the end. Never saves variables that are NaN or infinite.")
        .example("ModelSaver: {keep: 3, every_epochs: 2}")
        .field("keep", &Params::keep, at_least(1),
               "number of newest checkpoints to keep; older ones are removed, except those requested by a "
               "signal (SIGUSR1)")
        .field("keep_every_hours", &Params::keep_every_hours, above(0),
               "hours: the first checkpoint after each of these times is never removed, in addition to the "
               "newest ones; a resumed run continues to count")
        .field("every_epochs", &Params::every_epochs, at_least(1), "epochs between saves")
        .field("every_steps", &Params::every_steps, at_least(1), "steps between saves")
        .field("on_error", &Params::on_error,
               "action after a failed save: report it and continue, or stop the run");
  }
  // Two of them would remove each other's checkpoints.
  explicit ModelSaver(Params p)
      : Callback({.only_one = true,
                  .ranks_are_fixed = "one process writes the checkpoints",
                  .no_every = p.every_epochs || p.every_steps
                                  ? "every_epochs or every_steps is also set; keep one of them"
                                  : nullptr}),
        p_(p) {
    if (!p_.every_epochs && !p_.every_steps) p_.every_epochs = 1;
  }

  void before_train(Run& run) override {
    if (p_.keep_every_hours && !stayed_at_s_) stayed_at_s_ = run.time_s();
  }
  void trigger_step(Run& run) override {
    stepped_ = true;
    if (!p_.every_steps || run.global_step() % *p_.every_steps != 0) return;
    trigger(run);
  }
  void trigger_epoch(Run& run) override {
    const bool due = p_.every_epochs && run.epoch() % *p_.every_epochs == 0;
    if (due || run.epoch() == run.length().max_epoch) trigger(run);
  }
  void after_train(Run& run) override {
    if (!stepped_ || !run.ended_well() || asked_at_ == moment(run)) return;
    const std::string bad = bad_variable(run);
    if (bad.empty())
      save_soon(run);
    else  // a finished run does not fail because of it
      log::warning("callback ModelSaver saves no checkpoint at the end: " + bad);
  }
  void trigger(Run& run) override {
    check_variables(run);  // a checkpoint with NaN must not replace good ones
    save_soon(run);
  }
  std::vector<std::string> checkpoints() const override { return {kCheckpointNames}; }

  void save(State& state) const override {
    if (!staying_.empty()) state.put("staying", std::vector<double>(staying_.begin(), staying_.end()));
    if (stayed_at_s_) state.put("stayed_at_s", *stayed_at_s_);
  }
  void load(const State& state) override {
    for (const double step : state.get("staying", std::vector<double>()))
      staying_.insert(static_cast<int64_t>(step));
    if (state.has("stayed_at_s")) stayed_at_s_ = state.get<double>("stayed_at_s");
  }

 private:
  static std::pair<int64_t, int64_t> moment(const Run& run) { return {run.epoch(), run.global_step()}; }
  void save_soon(Run& run) {
    if (asked_at_ == moment(run)) return;  // the last step of an epoch may be due twice
    asked_at_ = moment(run);
    const auto stayed_at_before = stayed_at_s_;
    const double now_s = run.time_s();
    const bool stays = is_time_to_stay(now_s);
    if (stays) staying_.insert(run.global_step());
    CheckpointRequest request;
    request.name = checkpoint_name(run.global_step());
    request.saved = [this, &run, step = run.global_step()](const std::string& path) {
      log::info("saved " + path);
      std::set<int64_t> spared = staying_;
      spared.insert(run.asked_for().begin(), run.asked_for().end());
      prune(path, step, spared);
    };
    request.failed = [this, stays, stayed_at_before, now_s, step = run.global_step()](const Error& error) {
      if (stays) staying_.erase(step);
      if (stays && stayed_at_s_ == now_s) stayed_at_s_ = stayed_at_before;  // a later one stays instead
      if (p_.on_error == SaveFailure::kStop) throw ResourceError(error.what());
    };
    run.request_checkpoint(std::move(request));
  }

  /// Whether a checkpoint of this time is the first one after keep_every_hours; the next time then counts
  /// from it.
  bool is_time_to_stay(double now_s) {
    constexpr double kHour = 3600;
    if (!p_.keep_every_hours || now_s - stayed_at_s_.value_or(now_s) < *p_.keep_every_hours * kHour)
      return false;
    stayed_at_s_ = now_s;
    return true;
  }

  void prune(const std::string& path, int64_t step, const std::set<int64_t>& spared) const {
    try {
      remove_old_checkpoints(std::filesystem::path(path).parent_path().string(), static_cast<size_t>(p_.keep),
                             step, spared);
    } catch (const ResourceError& error) {
      log::warning(error.what());
    }
  }

  Params p_;
  std::pair<int64_t, int64_t> asked_at_ = {-1, -1};  // epoch and step of the last request
  bool stepped_ = false;
  std::set<int64_t> staying_;          // steps of checkpoints that are never removed
  std::optional<double> stayed_at_s_;  // time of the last one; before the first one, of the start of the run
};

TPACK_REGISTER(Callback, ModelSaver, "ModelSaver");

}  // namespace
}  // namespace tpack
