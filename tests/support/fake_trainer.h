#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comm/self_comm.h"
#include "train/loop.h"
#include "train/saved_state.h"
#include "train/trainer.h"

namespace tpack {

/// A trainer without programs: a step only counts, the test sets the statistics, and there are two variables,
/// the weights w [2] (each step adds 1) and the scalar learning_rate.
class FakeTrainer final : public Trainer,
                          public StepStatistics,
                          public TrainedVariables,
                          public StepData,
                          public ReplicaState {
 public:
  /// Value of a statistic after `global_step` steps.
  std::map<std::string, std::function<double(int64_t global_step)>> figures;
  std::function<void(int64_t global_step)> on_step;     // before the step counts
  int64_t data_ends_after = -1;                         // steps; -1: never
  std::set<std::string> minimized = {kCost};            // the figures that are costs
  std::set<std::string> means = {};                     // the figures that are of many steps
  std::function<bool(int64_t steps)> is_due = nullptr;  // whether the last step had figures; null: always
  StepSize size = {.batch = 4};
  double waited = 0;
  std::optional<InputQueue> queue;
  bool is_together = false;  // what saves_together says
  int64_t gathered = 0;      // calls of gather
  std::map<std::string, std::shared_ptr<const Schedule>> schedules_of = {};
  std::vector<int64_t> broadcast_at = {};  // steps before the calls of before_epoch

  FakeTrainer() {
    table_.declare({"w", {DType::kFloat32, {2}}, VariableScope::kModel, true, nullptr});
    table_.declare({"learning_rate", {DType::kFloat32, {}}, VariableScope::kOptimizer, false, nullptr, true});
    store_ = std::make_unique<VariableStore>(table_);
    store_->set_number("learning_rate", 0.1);
  }

  bool step(int64_t global_step, const std::stop_token& /*stop*/) override {
    if (on_step) on_step(global_step);
    if (steps_ == data_ends_after) return false;
    ++steps_;
    samples_ += size.batch * size.towers;
    for (float& value : weights().span<float>()) value += 1;
    return true;
  }
  std::vector<StepStatistic> statistics() const override {
    std::vector<StepStatistic> all;
    for (const auto& [name, figure] : figures)
      all.push_back({name, minimized.contains(name), means.contains(name)});
    return all;
  }
  std::optional<double> statistic(size_t index) const override {
    return std::next(figures.begin(), static_cast<std::ptrdiff_t>(index))->second(steps_);
  }
  bool statistic_is_of_last_step(size_t /*index*/) const override { return !is_due || is_due(steps_); }
  StepSize step_size() const override { return size; }
  int64_t samples() const override { return samples_; }
  double waited_s() const override { return waited; }
  std::optional<InputQueue> input_queue() const override { return queue; }
  std::map<std::string, std::shared_ptr<const Schedule>> schedules() const override { return schedules_of; }
  VariableStore* variables() const override { return store_.get(); }
  void before_epoch() override { broadcast_at.push_back(steps_); }
  bool saves_together() const override { return is_together; }
  void gather() override { ++gathered; }
  void load(const CheckpointContent& content, const std::string& source) override {
    load_variables(content, source, *store_);
    steps_ = content.step;
  }

  Tensor weights() const { return store_->tensor("w"); }
  double learning_rate() const { return store_->tensor("learning_rate").at(0); }

 private:
  VariableTable table_;
  std::unique_ptr<VariableStore> store_;
  int64_t steps_ = 0;
  int64_t samples_ = 0;
};

inline const std::vector kAllPhases = {HookPhase::kBeforeTrain, HookPhase::kTriggerStep,
                                       HookPhase::kTriggerEpoch};

/// A callback made of two functions: one for after each step, one for `trigger`. `scalars`: what they put.
class FunctionCallback final : public Callback {
 public:
  using Hook = std::function<void(Run&)>;
  explicit FunctionCallback(Hook on_step, Hook on_trigger = nullptr, std::vector<std::string> scalars = {})
      : Callback({.may_end_early = kAllPhases}),
        on_step_(std::move(on_step)),
        on_trigger_(std::move(on_trigger)),
        scalars_(std::move(scalars)) {}
  void setup(Setup& setup) override {
    const auto when = on_step_ ? ScalarOrder::When::kStep : ScalarOrder::When::kTrigger;
    for (const std::string& name : scalars_) setup.provides(name, when);
  }
  void trigger_step(Run& run) override {
    if (on_step_) on_step_(run);
  }
  void trigger(Run& run) override {
    if (on_trigger_) on_trigger_(run);
  }

 private:
  Hook on_step_;
  Hook on_trigger_;
  std::vector<std::string> scalars_;
};

/// A run of callbacks around a trainer, without a config.
class TestRun {
 public:
  TestRun(RunLength length, Trainer& trainer, const std::string& folder = "") : trainer_(trainer) {
    options.length = length;
    options.folder = folder;
  }

  LoopOptions options;
  Monitors monitors{{}};

  TestRun& add(const std::string& name, std::unique_ptr<Callback> callback) {
    callbacks_.push_back({name, std::move(callback)});
    return *this;
  }
  /// A callback built as from a config.
  TestRun& add(const std::string& name, const ConfigNode& params = {}) {
    return add(name, Registry<Callback>::make(name, params));
  }
  TestRun& on_step(const std::string& name, FunctionCallback::Hook hook) {
    return add(name, std::make_unique<FunctionCallback>(std::move(hook)));
  }
  TestRun& on_trigger(const std::string& name, FunctionCallback::Hook hook) {
    return add(name, std::make_unique<FunctionCallback>(nullptr, std::move(hook)));
  }
  /// The only monitor besides the history.
  TestRun& watch(std::unique_ptr<Monitor> monitor) {
    std::vector<std::unique_ptr<Monitor>> all;
    all.push_back(std::move(monitor));
    monitors = Monitors(std::move(all));
    return *this;
  }
  /// Sets up the callbacks; `go` does this if it was not called.
  Loop& loop() {
    if (options.world == nullptr) options.world = world_.get();
    if (loop_) return *loop_;
    loop_ = std::make_unique<Loop>(trainer_, std::move(callbacks_), monitors, options);
    loop_->set_up();
    return *loop_;
  }
  LoopResult go() {
    const LoopResult result = loop().run();
    expect_declared_scalars();
    return result;
  }
  LoopResult go_on_from(const std::string& path) {
    loop().resume(load_checkpoint(path), path);
    return go();
  }
  /// Each scalar that was put was declared in the setup of a callback (Setup::provides).
  void expect_declared_scalars() {
    const StatisticGoals& declared = loop().scalars();
    for (const std::string& name : monitors.names())
      EXPECT_TRUE(declared.contains(name))
          << "a callback puts the scalar '" << name << "', which it has not declared with setup.provides";
  }
  std::vector<double> values(const std::string& name) const {
    std::vector<double> all;
    for (const auto& [step, value] : monitors.get_history(name)) all.push_back(value);
    return all;
  }

 private:
  Trainer& trainer_;
  std::unique_ptr<Comm> world_ = make_self_comm();
  std::vector<NamedCallback> callbacks_;
  std::unique_ptr<Loop> loop_;
};

struct OwnFakeTrainer {
  FakeTrainer trainer;
};

/// A run of callbacks around a fake trainer of its own.
class FakeRun : public OwnFakeTrainer, public TestRun {
 public:
  explicit FakeRun(RunLength length, const std::string& folder = "") : TestRun(length, trainer, folder) {}
};

}  // namespace tpack
