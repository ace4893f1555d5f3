#include <optional>

#include "core/text.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct StopAtParams {
  Ref<Stat> monitor;
  std::optional<double> at_least;
  std::optional<double> at_most;
};

/// Ends a run that is good enough.
class StopAt final : public Callback {
 public:
  using Params = StopAtParams;
  static Schema<Params> schema() {
    return Schema<Params>("Ends the run when a statistic reaches a value.")
        .example("StopAt: {monitor: accuracy, at_least: 0.97}")
        .field("monitor", &Params::monitor,
               "the statistic; a step or a callback earlier in the list must report it")
        .required()
        .field("at_least", &Params::at_least, "ends the run at this value or a larger one")
        .field("at_most", &Params::at_most, "ends the run at this value or a smaller one");
  }
  explicit StopAt(Params p) : Callback({.identity = p.monitor.name}), p_(std::move(p)) {
    if (p_.at_least.has_value() == p_.at_most.has_value())
      throw ConfigError(
          "StopAt: set 'at_least' or 'at_most', as in {monitor: validation_accuracy, at_least: 0.97}");
  }

  void setup(Setup& setup) override { setup.needs(p_.monitor, "callback StopAt"); }
  void trigger(Run& run) override {
    const Monitors::History& history = run.monitors().get_history(p_.monitor.name);
    if (history.empty()) return;
    const double value = history.back().second;
    const bool is_reached = p_.at_least ? value >= *p_.at_least : value <= *p_.at_most;
    if (is_reached)
      run.request_stop(p_.monitor.name + " is " + short_text(value) +
                       (p_.at_least ? ", at least " : ", at most ") +
                       shortest(p_.at_least.value_or(p_.at_most.value_or(0))));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Callback, StopAt, "StopAt");

}  // namespace
}  // namespace tpack
