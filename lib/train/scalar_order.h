#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/field.h"
#include "graph/statistic.h"

namespace tpack {

/// The error for a statistic that nothing reports; `flows` are those that InferenceRunner could run on.
ConfigError unknown_statistic(const Ref<Stat>& statistic, const std::vector<std::string>& known,
                              const std::vector<std::string>& flows);

/// The name of a scalar as formulas write it, whose names have no `/` and `-`: "d.learning_rate".
std::string name_in_formulas(std::string scalar);

/// Which scalars the callbacks of a list give and need, so that a list in an order that cannot work is
/// rejected before the run. Threads: one at a time.
class ScalarOrder {
 public:
  /// When a scalar is put to the monitors.
  enum class When : uint8_t {
    kTrigger,  // in `trigger`: callbacks that come later in the list can use it
    kStep,     // in `trigger_step`: every callback can use it in the `trigger` of an epoch
    kRun       // in `after_run`: every callback can use it in `trigger_step`, too
  };
  /// When the `trigger` of a callback is called.
  enum class Triggered : uint8_t { kAfterEpochs, kAfterSteps, kAfterBoth };

  /// For a callback that takes some values of a statistic for better ones.
  struct GoalUse {
    std::optional<Goal> asked = {};           // nothing: that of the statistic
    std::string if_opposite = {};             // the fix where `asked` contradicts it: "use MinSaver"
    std::string if_unknown = {};              // where nothing tells: "write mode: min or mode: max"
    std::function<void(Goal)> use = nullptr;  // is told the goal
    bool keeps_best = false;                  // each value that it does not see may be the best
  };
  /// What a callback needs.
  struct Need {
    Ref<Stat> scalar;
    std::string who;  // for messages
    Triggered triggered = Triggered::kAfterEpochs;
    bool is_in_formula = false;            // where older values will do, and names are written differently
    std::vector<std::string> others = {};  // what else the name may be, for suggestions
    std::optional<GoalUse> goal = {};      // nothing: any values will do
  };

  /// What follows is of the next callback in the list, `who` for messages.
  void next_callback(std::string who, Position position) {
    callbacks_.push_back({std::move(who), std::move(position)});
  }
  /// The callback failed before it could say all that it gives: it may be what others need.
  void callback_failed() { is_complete_ = false; }
  void provides(const std::string& name, When when, Triggered triggered = Triggered::kAfterEpochs,
                std::optional<Goal> goal = {});
  void needs(Need need) { needs_.push_back({std::move(need), current(), sources_.size()}); }
  /// Reports each need that nothing can fulfil, with the order that would or the nearest name, each goal that
  /// contradicts the statistic or that nothing tells, and each scalar that two callbacks give; tells the
  /// goals to those who use them. `flows`: as in unknown_statistic.
  void check(const std::vector<std::string>& flows, Diagnostics& errors) const;
  /// Every scalar that is given.
  StatisticGoals given() const;

 private:
  struct CallbackPlace {
    std::string who;
    Position position;
  };
  struct PlacedNeed {
    Need need;
    size_t callback;  // number in the list
    size_t number;    // of sources before it
  };
  struct Source {
    size_t callback = 0;  // number in the list
    size_t number = 0;    // of sources before it
    When when = {};
    Triggered triggered = {};
    std::optional<Goal> goal;
  };
  size_t current() const { return callbacks_.size() - 1; }
  void check(const PlacedNeed& placed, const std::vector<std::string>& flows, Diagnostics& errors) const;
  void check_goal(const PlacedNeed& placed, const std::optional<Goal>& known, Diagnostics& errors) const;
  Position position_of(const PlacedNeed& placed) const;
  const Source* source_of(const Need& need) const;

  std::vector<CallbackPlace> callbacks_;
  bool is_complete_ = true;
  std::map<std::string, Source> sources_;  // the first one of each name
  std::vector<PlacedNeed> needs_;
  std::vector<Problem> duplicates_;
};

}  // namespace tpack
