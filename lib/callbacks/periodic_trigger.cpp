#include <optional>

#include "callbacks/proxy_callback.h"
#include "system/log.h"

namespace tpack {
namespace {

struct PeriodicTriggerParams {
  Slot<Callback> callback;
  std::optional<int64_t> every_k_steps;
  std::optional<int64_t> every_k_epochs;
  bool before_train = false;
};

/// In a step that is the last of an epoch whose end triggers, too, the callback is triggered once, with those
/// of the epoch. Source: tensorpack callbacks/trigger.py, PeriodicTrigger.
class PeriodicTrigger final : public ProxyCallback {
 public:
  using Params = PeriodicTriggerParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Triggers a callback every K steps or epochs, in place of after each epoch. Its hooks "
               "before and after steps run as always; PeriodicCallback leaves these out, too.")
        .example("PeriodicTrigger: {callback: {InferenceRunner: {data: validation}}, every_k_epochs: 2}")
        .field("callback", &Params::callback, "what is triggered")
        .required()
        .field("every_k_steps", &Params::every_k_steps, at_least(1),
               "triggers when global_step is a multiple of it")
        .field("every_k_epochs", &Params::every_k_epochs, at_least(1),
               "triggers after epochs whose number is a multiple of it")
        .field("before_train", &Params::before_train, "also triggers when a new run begins");
  }
  explicit PeriodicTrigger(const Params& p) : ProxyCallback(p.callback), p_(p) {
    if (!p_.every_k_steps && !p_.every_k_epochs && !p_.before_train)
      throw ConfigError("callback PeriodicTrigger: never triggers; set every_k_epochs or every_k_steps");
  }

  void setup(Setup& setup) override {
    using Triggered = ScalarOrder::Triggered;
    const auto when = !p_.every_k_steps    ? Triggered::kAfterEpochs
                      : !p_.every_k_epochs ? Triggered::kAfterSteps
                                           : Triggered::kAfterBoth;
    if (p_.before_train) setup.require_trigger_before_train();
    Setup own = setup.triggered(when);
    inner().setup(own);
    const RunLength& length = setup.run().length();
    const bool has_epoch = p_.every_k_epochs && *p_.every_k_epochs <= length.max_epoch;
    const bool has_step = p_.every_k_steps && *p_.every_k_steps <= length.steps();
    if (!has_epoch && !has_step && !p_.before_train)
      log::warning("callback PeriodicTrigger has no effect: the run ends before it triggers");
  }
  void before_train(Run& run) override {
    inner().before_train(run);
    if (p_.before_train && !run.resumed()) inner().trigger(run);
  }
  bool may_end_early(const Run& run, HookPhase phase) const override {
    const bool triggers = phase == HookPhase::kBeforeTrain   ? p_.before_train && !run.resumed()
                          : phase == HookPhase::kTriggerStep ? is_due_after_step(run)
                                                             : is_due_after_epoch(run);
    return (triggers && inner().may_end_early(run, HookPhase::kTriggerEpoch)) ||
           (phase != HookPhase::kTriggerEpoch && inner().may_end_early(run, phase));
  }
  void trigger_step(Run& run) override {
    inner().trigger_step(run);
    if (!is_due_after_step(run)) return;
    run.while_busy("a callback of PeriodicTrigger", [&] { inner().trigger(run); });
  }
  void trigger_epoch(Run& run) override {
    if (is_due_after_epoch(run)) inner().trigger(run);
  }

 private:
  bool is_due_after_step(const Run& run) const {
    if (!p_.every_k_steps || run.global_step() % *p_.every_k_steps != 0) return false;
    const bool is_last = run.local_step() + 1 == run.length().steps_per_epoch;
    return !is_last || !is_due_after_epoch(run);
  }
  bool is_due_after_epoch(const Run& run) const {
    return p_.every_k_epochs && run.epoch() % *p_.every_k_epochs == 0;
  }

  Params p_;
};

TPACK_REGISTER(Callback, PeriodicTrigger, "PeriodicTrigger");

}  // namespace
}  // namespace tpack
