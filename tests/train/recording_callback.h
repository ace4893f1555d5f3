#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/fake_trainer.h"
#include "train/callback.h"

namespace tpack {

/// Every hook that was called: "A before_run epoch/local_step/global_step".
using Record = std::vector<std::string>;

class RecordingCallback final : public Callback {
 public:
  using Act = std::function<void(const std::string& hook, Run& run)>;
  RecordingCallback(std::string name, Record& record, Act act = nullptr)
      : Callback({.may_end_early = kAllPhases}),
        name_(std::move(name)),
        record_(record),
        act_(std::move(act)) {}

  void setup(Setup& setup) override { called("setup", setup.run()); }
  void before_train(Run& run) override { called("before_train", run); }
  void before_epoch(Run& run) override { called("before_epoch", run); }
  void before_run(Run& run) override { called("before_run", run); }
  void after_run(Run& run) override { called("after_run", run); }
  void trigger_step(Run& run) override { called("trigger_step", run); }
  void after_epoch(Run& run) override { called("after_epoch", run); }
  void trigger(Run& run) override { called("trigger", run); }
  void after_train(Run& run) override { called("after_train", run); }

 private:
  void called(const std::string& hook, Run& run) {
    record_.push_back(name_ + " " + hook + " " + std::to_string(run.epoch()) + "/" +
                      std::to_string(run.local_step()) + "/" + std::to_string(run.global_step()));
    if (act_) act_(hook, run);
  }

  std::string name_;
  Record& record_;
  Act act_;
};

/// Puts 7 as a scalar when it is triggered.
inline std::unique_ptr<Callback> give_seven(const std::string& name) {
  return std::make_unique<FunctionCallback>(
      nullptr, [name](Run& at) { at.monitors().put_scalar(name, 7); }, std::vector{name});
}

/// Records hooks and steps.
class LoopTest : public testing::Test {
 protected:
  LoopTest() {
    trainer_.on_step = [this](int64_t step) { record_.push_back("step " + std::to_string(step)); };
  }
  std::unique_ptr<Callback> recording(const std::string& name, RecordingCallback::Act act = nullptr) {
    return std::make_unique<RecordingCallback>(name, record_, std::move(act));
  }
  /// Makes hook `hook` of callback A throw when it is called for the `time`-th time.
  template <class Thrown>
  RecordingCallback::Act throwing(const std::string& hook, Thrown thrown, int time = 1) {
    return [=, count = 0](const std::string& at, tpack::Run& /*run*/) mutable {
      if (at == hook && ++count == time) throw thrown;
    };
  }

  /// Makes hook `hook` request the end of the run.
  static RecordingCallback::Act stopping(const std::string& hook) {
    return [hook](const std::string& at, tpack::Run& run) {
      if (at == hook) run.request_stop("enough");
    };
  }

  Record record_;
  FakeTrainer trainer_;
};

}  // namespace tpack
