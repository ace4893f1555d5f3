#include <optional>

#include "train/callback.h"

namespace tpack {
namespace {

struct PeriodicTriggerParams {
  Slot<Callback> callback;
  std::optional<int64_t> every_k_steps;
  std::optional<int64_t> every_k_epochs;
  bool before_train = false;
};

/// Source: tensorpack callbacks/trigger.py, PeriodicTrigger.
struct PeriodicTrigger {
  using Params = PeriodicTriggerParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Triggers a callback every K steps or epochs, in place of after each epoch: another "
               "spelling of `every`, which each callback has.")
        .example("PeriodicTrigger: {callback: {InferenceRunner: {data: validation}}, every_k_epochs: 2}")
        .field("callback", &Params::callback, "what is triggered")
        .required()
        .field("every_k_steps", &Params::every_k_steps, at_least(1),
               "triggers when global_step is a multiple of it")
        .field("every_k_epochs", &Params::every_k_epochs, at_least(1),
               "triggers after epochs whose number is a multiple of it")
        .field("before_train", &Params::before_train, "also triggers when a new run begins");
  }
  static std::unique_ptr<Callback> make(const Params& p) {
    if (!p.every_k_steps && !p.every_k_epochs && !p.before_train)
      throw ConfigError("callback PeriodicTrigger: never triggers; set every_k_epochs or every_k_steps");
    auto callback = Registry<Callback>::make_item(p.callback.item);
    callback->trigger_every({.steps = p.every_k_steps,
                             .epochs = p.every_k_epochs,
                             .before_train = p.before_train,
                             .position = p.callback.item.position()});
    return callback;
  }
};

TPACK_REGISTER(Callback, PeriodicTrigger, "PeriodicTrigger");

}  // namespace
}  // namespace tpack
