#include "callbacks/proxy_callback.h"
#include "callbacks/run_formula.h"

namespace tpack {
namespace {

struct EnableIfParams {
  Slot<Callback> callback;
  Formula condition;
};

/// Source: tensorpack callbacks/trigger.py, EnableCallbackIf.
class EnableIf final : public GatedCallback {
 public:
  using Params = EnableIfParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs the hooks of a callback in epochs and steps only where a condition holds; those before "
               "and after the training always.")
        .example(
            "EnableIf: {callback: {InferenceRunner: {data: validation}}, condition: epoch > 3 and epoch % 2 "
            "== 0}")
        .field("callback", &Params::callback, "the callback")
        .required()
        .field(
            "condition", &Params::condition,
            "an expression of epoch, step (the number of steps done), local_step, max_epoch, "
            "steps_per_epoch, hyper-parameters and the newest values of statistics (validation_cost < 0.5); "
            "it does not hold before these have values")
        .required();
  }
  explicit EnableIf(const Params& p)
      : GatedCallback(p.callback, "EnableIf"), condition_(p.condition, "callback EnableIf, 'condition'") {}

  void setup(Setup& setup) override {
    condition_.setup(setup, Expression::Result::kTruth);
    inner().setup(setup);
  }

 private:
  /// Only the chief has all statistics.
  bool is_enabled(Run& run) override {
    const bool is_shared = condition_.uses_statistics() && !is_for_chief();
    if (!is_shared) return condition_.holds(run);
    return run.of_chief(run.is_chief() && condition_.holds(run) ? 1 : 0) != 0;
  }

  RunFormula condition_;
};

TPACK_REGISTER(Callback, EnableIf, "EnableIf", "EnableCallbackIf");

}  // namespace
}  // namespace tpack
