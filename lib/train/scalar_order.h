#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/field.h"

namespace tpack {

/// The error for a statistic that nothing reports; `flows` are those that InferenceRunner could run on.
ConfigError unknown_statistic(const Ref<Stat>& statistic, const std::vector<std::string>& known,
                              const std::vector<std::string>& flows);

/// Which scalars the callbacks of a list give and need, so that a list in an order that cannot work is
/// refused before the run. Threads: one at a time.
class ScalarOrder {
 public:
  /// When a scalar is put to the monitors.
  enum class When : uint8_t {
    kTrigger,  // in `trigger`: callbacks that come later in the list can use it
    kStep      // in a step: every callback can use it in `trigger`
  };

  /// What follows is of the next callback in the list, `who` for messages.
  void next_callback(std::string who, Position position) {
    callbacks_.push_back({std::move(who), std::move(position)});
  }
  /// The callback failed before it could say all that it gives: it may be what others need.
  void callback_failed() { is_complete_ = false; }
  void provides(const std::string& name, When when);
  void needs(const Ref<Stat>& name, const std::string& who) { needs_.push_back({name, who, current()}); }
  /// Reports each need that nothing can fulfil, with the order that would or the nearest name, and each
  /// scalar that two callbacks give. `flows`: as in unknown_statistic.
  void check(const std::vector<std::string>& flows, Diagnostics& errors) const;
  /// Every scalar that is given, sorted.
  std::vector<std::string> names() const;

 private:
  struct CallbackPlace {
    std::string who;
    Position position;
  };
  struct Need {
    Ref<Stat> scalar;
    std::string who;
    size_t callback;
  };
  struct Source {
    size_t callback;  // number in the list
    When when;
  };
  size_t current() const { return callbacks_.size() - 1; }
  void check(const Need& need, const std::vector<std::string>& flows, Diagnostics& errors) const;

  std::vector<CallbackPlace> callbacks_;
  bool is_complete_ = true;
  std::map<std::string, Source> sources_;  // the first one of each name
  std::vector<Need> needs_;
  std::vector<Problem> duplicates_;
};

}  // namespace tpack
