#include <optional>

#include "callbacks/proxy_callback.h"

namespace tpack {
namespace {

struct PeriodicCallbackParams {
  Slot<Callback> callback;
  std::optional<int64_t> every_k_steps;
  std::optional<int64_t> every_k_epochs;
};

/// Source: tensorpack callbacks/trigger.py, PeriodicCallback.
class PeriodicCallback final : public GatedCallback {
 public:
  using Params = PeriodicCallbackParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs the hooks of a callback only in every K-th step or epoch: what it does becomes "
               "rarer. With every_k_epochs, the very last step counts, too.")
        .example("PeriodicCallback: {callback: ModelSaver, every_k_epochs: 5}")
        .field("callback", &Params::callback, "the callback")
        .required()
        .field("every_k_steps", &Params::every_k_steps, at_least(1),
               "runs when global_step is a multiple of it (before a step, the number of steps done so far)")
        .field("every_k_epochs", &Params::every_k_epochs, at_least(1),
               "runs in epochs whose number is a multiple of it");
  }
  explicit PeriodicCallback(const Params& p) : GatedCallback(p.callback, "PeriodicCallback"), p_(p) {
    if (!p_.every_k_steps && !p_.every_k_epochs)
      throw ConfigError("callback PeriodicCallback: never runs; set every_k_epochs or every_k_steps");
  }

 private:
  bool is_enabled(Run& run) override {
    if (p_.every_k_steps && run.global_step() % *p_.every_k_steps == 0) return true;
    if (!p_.every_k_epochs) return false;
    const bool is_last =
        run.epoch() == run.length().max_epoch && run.local_step() + 1 == run.length().steps_per_epoch;
    return is_last || run.epoch() % *p_.every_k_epochs == 0;
  }

  Params p_;
};

TPACK_REGISTER(Callback, PeriodicCallback, "PeriodicCallback");

}  // namespace
}  // namespace tpack
