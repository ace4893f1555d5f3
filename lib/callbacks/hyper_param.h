#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/callback.h"
#include "train/follow_schedules.h"

namespace tpack {

/// A hyper-parameter that a callback sets, by its name in the config. Threads: the training thread.
class HyperParam {
 public:
  explicit HyperParam(Ref<HyperParamName> name) : name_(std::move(name)) {}

  const std::string& name() const { return name_.name; }
  const Position& position() const { return name_.position; }
  /// Errors: ConfigError with a suggestion if the trainer does not have it.
  void setup(const Setup& setup) const;
  double value(const Run& run) const { return run.hyper_parameter(name_.name); }
  /// Sets it; a change is logged, at most one in each epoch. `who` sets it, for messages. Errors: ConfigError
  /// for an invalid value.
  void set(Run& run, double value, const std::string& who);

 private:
  Ref<HyperParamName> name_;
  std::optional<int64_t> logged_epoch_;
};

/// Base of callbacks that set a hyper-parameter, the same on every rank.
class HyperParamSetter : public Callback {
 protected:
  /// `rules`: the default identity is the name of the parameter; it runs on all ranks.
  explicit HyperParamSetter(Ref<HyperParamName> param, CallbackRules rules = {});
  /// Sets the chief's value on every rank; does nothing if it has none.
  void set_of_chief(Run& run, std::optional<double> value, const std::string& who);

  HyperParam param_;
};

}  // namespace tpack
