#include <cmath>

#include "core/text.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct SimpleMovingAverageParams {
  std::vector<Ref<Stat>> names;
  int64_t window_size = 1;
};

/// Source: tensorpack callbacks/summary.py, SimpleMovingAverage.
class SimpleMovingAverage final : public Callback {
 public:
  using Params = SimpleMovingAverageParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Reports NAME/SMA, the plain mean of a statistic over the last steps, each time a window of "
               "steps has passed.")
        .example("SimpleMovingAverage: {names: [cost], window_size: 4}")
        .field("names", &Params::names, "statistics of the training step")
        .required()
        .field("window_size", &Params::window_size, between(1, 1000000), "steps")
        .required();
  }
  explicit SimpleMovingAverage(Params p) : Callback({.identity = joined_names(p.names)}), p_(std::move(p)) {
    if (p_.names.empty())
      throw ConfigError("callback SimpleMovingAverage: 'names' is empty; name a statistic");
  }

  void setup(Setup& setup) override {
    indices_.clear();
    for (const Ref<Stat>& name : p_.names) {
      indices_.push_back(setup.statistic(name));
      setup.provides(reported(name), ScalarOrder::When::kStep,
                     setup.run().part<StepStatistics>().statistics()[indices_.back()].known_goal());
    }
    windows_.resize(p_.names.size());
  }
  /// A step that did not compute a statistic does not count in its mean.
  void after_run(Run& run) override {
    for (size_t i = 0; i < indices_.size(); ++i) {
      const auto value = run.statistic(indices_[i]);
      if (value && run.statistic_is_of_last_step(indices_[i])) windows_[i].push_back(*value);
    }
  }
  /// At multiples of the window, so that each value counts once.
  void trigger_step(Run& run) override {
    if (run.global_step() % p_.window_size != 0) return;
    for (size_t i = 0; i < windows_.size(); ++i) {
      double sum = 0;
      for (const double value : windows_[i]) sum += value;
      if (!windows_[i].empty())
        run.monitors().put_scalar(reported(p_.names[i]), sum / static_cast<double>(windows_[i].size()));
      windows_[i].clear();
    }
  }
  void save(State& state) const override {
    state.put("window_size", p_.window_size);
    for (size_t i = 0; i < windows_.size(); ++i) state.put("values_" + std::to_string(i), windows_[i]);
  }
  void load(const State& state) override {
    if (state.get<int64_t>("window_size") != p_.window_size) return;  // starts again
    for (size_t i = 0; i < windows_.size(); ++i)
      windows_[i] = state.get<std::vector<double>>("values_" + std::to_string(i), {});
  }

 private:
  static std::string reported(const Ref<Stat>& name) { return name.name + "/SMA"; }

  Params p_;
  std::vector<size_t> indices_;
  std::vector<std::vector<double>> windows_;  // by name; since the last report
};

TPACK_REGISTER(Callback, SimpleMovingAverage, "SimpleMovingAverage");

}  // namespace
}  // namespace tpack
