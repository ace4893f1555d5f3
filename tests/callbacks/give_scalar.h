#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "support/fake_trainer.h"

namespace tpack {

/// Gives a scalar after each epoch: the given values in turn, and nothing in the epochs in `silent`.
class GiveScalar final : public Callback {
 public:
  GiveScalar(std::string name, std::vector<double> values, std::vector<int64_t> silent = {},
             std::optional<Goal> goal = {})
      : name_(std::move(name)), values_(std::move(values)), silent_(std::move(silent)), goal_(goal) {}
  void setup(Setup& setup) override { setup.provides(name_, ScalarOrder::When::kTrigger, goal_); }
  void trigger(tpack::Run& run) override {
    if (std::find(silent_.begin(), silent_.end(), run.epoch()) != silent_.end()) return;
    run.monitors().put_scalar(name_, values_.at(static_cast<size_t>(run.epoch()) - 1));
  }

 private:
  std::string name_;
  std::vector<double> values_;
  std::vector<int64_t> silent_;
  std::optional<Goal> goal_;
};

inline std::unique_ptr<Callback> give(std::string name, std::vector<double> values,
                                      std::vector<int64_t> silent = {}, std::optional<Goal> goal = {}) {
  return std::make_unique<GiveScalar>(std::move(name), std::move(values), std::move(silent), goal);
}

/// Every value of every statistic with its step, but for those that no two runs agree on: equal texts are
/// equal bits.
inline std::string bits_of_statistics(const Monitors& monitors) {
  std::string text;
  for (const std::string& name : monitors.names()) {
    if (differs_between_runs(name)) continue;
    text += name + ":";
    for (const auto& [step, value] : monitors.get_history(name)) {
      State bits;
      bits.put("value", value);
      text += " " + std::to_string(step) + " " + bits.to_json();
    }
  }
  return text;
}

}  // namespace tpack
