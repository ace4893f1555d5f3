#include "core/text.h"
#include "train/callback.h"

// tensorpack's wrappers around a callback. Each is read as the callback itself with `every` or `when`, which
// every callback has.
namespace tpack {
namespace {

/// The parameters of a wrapper: the callback, and when it runs.
template <class P>
Schema<P> around_a_callback(const char* summary) {
  return Schema<P>(summary).field("callback", &P::callback, "the callback").required();
}

/// Source: tensorpack callbacks/trigger.py, PeriodicTrigger.
struct PeriodicTrigger {
  using Params = PeriodicTrigger;
  Slot<Callback> callback;
  std::optional<int64_t> every_k_steps;
  std::optional<int64_t> every_k_epochs;
  bool before_train = false;

  static Schema<Params> schema() {
    return around_a_callback<Params>(
               "Triggers a callback every K steps or epochs instead of after each epoch: another spelling of "
               "`every`, which every callback has.")
        .example("PeriodicTrigger: {callback: {InferenceRunner: {data: validation}}, every_k_epochs: 2}")
        .field("every_k_steps", &Params::every_k_steps, at_least(1),
               "triggers when global_step is a multiple of it")
        .field("every_k_epochs", &Params::every_k_epochs, at_least(1),
               "triggers after epochs whose number is a multiple of it")
        .field("before_train", &Params::before_train, "also triggers when a new run begins");
  }
  ConfigNode rewritten() const {
    std::vector<ConfigNode::Entry> every;
    if (every_k_steps) every.push_back({"steps", *every_k_steps});
    if (every_k_epochs) every.push_back({"epochs", *every_k_epochs});
    if (before_train) every.push_back({"before_train", true});
    if (every.empty())
      throw ConfigError("callback PeriodicTrigger: never triggers; set every_k_epochs or every_k_steps");
    return Callback::with_common(callback.item,
                                 {{"every", ConfigNode::map(every, callback.item.position())}});
  }
};

/// Source: tensorpack callbacks/trigger.py, PeriodicCallback.
struct PeriodicCallback {
  using Params = PeriodicCallback;
  Slot<Callback> callback;
  std::optional<int64_t> every_k_steps;
  std::optional<int64_t> every_k_epochs;

  static Schema<Params> schema() {
    return around_a_callback<Params>(
               "Runs the hooks of a callback only in every K-th step or epoch: another spelling of `when: "
               "step % K == 0`, which every callback has. With every_k_epochs, they also run in the very "
               "last step.")
        .example("PeriodicCallback: {callback: ModelSaver, every_k_epochs: 5}")
        .field("every_k_steps", &Params::every_k_steps, at_least(1),
               "runs when global_step is a multiple of it (before a step, the number of steps done so far)")
        .field("every_k_epochs", &Params::every_k_epochs, at_least(1),
               "runs in epochs whose number is a multiple of it");
  }
  ConfigNode rewritten() const {
    std::vector<std::string> any;
    if (every_k_steps) any.push_back("step % " + std::to_string(*every_k_steps) + " == 0");
    if (every_k_epochs)
      any.push_back("epoch % " + std::to_string(*every_k_epochs) +
                    " == 0 or (epoch == max_epoch and local_step + 1 == steps_per_epoch)");
    if (any.empty())
      throw ConfigError("callback PeriodicCallback: never runs; set every_k_epochs or every_k_steps");
    return Callback::with_common(callback.item,
                                 {{"when", ConfigNode::string(join(any, " or "), callback.item.position())}});
  }
};

/// Source: tensorpack callbacks/trigger.py, EnableCallbackIf.
struct EnableIf {
  using Params = EnableIf;
  Slot<Callback> callback;
  Formula condition;

  static Schema<Params> schema() {
    return around_a_callback<Params>(
               "Runs the hooks of a callback in epochs and steps only if a condition is true; hooks before "
               "and after training always run: another spelling of `when`, which every callback has.")
        .example(
            "EnableIf: {callback: {InferenceRunner: {data: validation}}, condition: epoch > 3 and epoch % 2 "
            "== 0}")
        .field("condition", &Params::condition, "an expression, as for `when`")
        .required();
  }
  ConfigNode rewritten() const {
    return Callback::with_common(callback.item, {{"when", Codec<Formula>::dump(condition)}});
  }
};

TPACK_REGISTER(Callback, PeriodicTrigger, "PeriodicTrigger");
TPACK_REGISTER(Callback, PeriodicCallback, "PeriodicCallback");
TPACK_REGISTER(Callback, EnableIf, "EnableIf", "EnableCallbackIf");

}  // namespace
}  // namespace tpack
