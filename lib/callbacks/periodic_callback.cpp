#include <optional>

#include "train/callback.h"

namespace tpack {
namespace {

struct PeriodicCallbackParams {
  Slot<Callback> callback;
  std::optional<int64_t> every_k_steps;
  std::optional<int64_t> every_k_epochs;
};

/// Source: tensorpack callbacks/trigger.py, PeriodicCallback.
struct PeriodicCallback {
  using Params = PeriodicCallbackParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs the hooks of a callback only in every K-th step or epoch: another spelling of `when: "
               "step % "
               "K == 0`, which each callback has. With every_k_epochs, the very last step counts, too.")
        .example("PeriodicCallback: {callback: ModelSaver, every_k_epochs: 5}")
        .field("callback", &Params::callback, "the callback")
        .required()
        .field("every_k_steps", &Params::every_k_steps, at_least(1),
               "runs when global_step is a multiple of it (before a step, the number of steps done so far)")
        .field("every_k_epochs", &Params::every_k_epochs, at_least(1),
               "runs in epochs whose number is a multiple of it");
  }
  static std::unique_ptr<Callback> make(const Params& p) {
    if (!p.every_k_steps && !p.every_k_epochs)
      throw ConfigError("callback PeriodicCallback: never runs; set every_k_epochs or every_k_steps");
    std::string condition;
    if (p.every_k_steps) condition = "step % " + std::to_string(*p.every_k_steps) + " == 0";
    if (p.every_k_epochs) {
      condition += (condition.empty() ? "" : " or ") + ("epoch % " + std::to_string(*p.every_k_epochs)) +
                   " == 0 or (epoch == max_epoch and local_step + 1 == steps_per_epoch)";
    }
    auto callback = Registry<Callback>::make_item(p.callback.item);
    callback->call_when(Formula(ConfigNode::string(condition, p.callback.item.position())),
                        "callback PeriodicCallback");
    return callback;
  }
};

TPACK_REGISTER(Callback, PeriodicCallback, "PeriodicCallback");

}  // namespace
}  // namespace tpack
