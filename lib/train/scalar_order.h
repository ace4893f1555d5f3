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

/// The error for an unknown statistic; `flows` are those that InferenceRunner could run on.
ConfigError unknown_statistic(const Ref<Stat>& statistic, const std::vector<std::string>& known,
                              const std::vector<std::string>& flows);

/// The name of a scalar in formulas, whose names have no `/` and `-`: "d.learning_rate".
std::string name_in_formulas(std::string scalar);

/// The scalars that the callbacks of a list report and need, so that a list in a wrong order is rejected
/// before the run. Threads: one at a time.
class ScalarOrder {
 public:
  /// When a scalar is sent to the monitors.
  enum class When : uint8_t {
    kTrigger,  // in `trigger`: callbacks that come later in the list can use it
    kStep,     // in `trigger_step`: every callback can use it in the `trigger` of an epoch
    kRun       // in `after_run`: every callback can also use it in `trigger_step`
  };
  /// When the `trigger` of a callback is called.
  enum class Triggered : uint8_t { kAfterEpochs, kAfterSteps, kAfterBoth };

  /// For a callback that compares values of a statistic.
  struct GoalUse {
    std::optional<Goal> asked = {};           // empty: that of the statistic
    std::string if_opposite = {};             // the fix where `asked` contradicts it: "use MinSaver"
    std::string if_unknown = {};              // where nothing tells: "write mode: min or mode: max"
    std::function<void(Goal)> use = nullptr;  // receives the goal
    bool keeps_best = false;                  // a missed value may be the best
  };
  /// What a callback needs.
  struct Need {
    Ref<Stat> scalar;
    std::string who;  // for messages
    Triggered triggered = Triggered::kAfterEpochs;
    bool is_in_formula = false;            // older values are enough, and names are in the form of formulas
    std::vector<std::string> others = {};  // other possible names, for suggestions
    std::optional<GoalUse> goal = {};      // empty: values are not compared
  };

  /// The following calls are for the next callback in the list, `who` for messages.
  void next_callback(std::string who, Position position) {
    callbacks_.push_back({std::move(who), std::move(position)});
  }
  /// The callback failed before it declared all of its scalars, which others may need.
  void callback_failed() { is_complete_ = false; }
  void provides(const std::string& name, When when, Triggered triggered = Triggered::kAfterEpochs,
                std::optional<Goal> goal = {});
  void needs(Need need) { needs_.push_back({std::move(need), current(), sources_.size()}); }
  /// Reports each need that cannot be met, with the right order or the nearest name, each unknown or
  /// contradicting goal, and each scalar of two callbacks; passes the goals to the callbacks that use them.
  /// `flows`: as in unknown_statistic.
  void check(const std::vector<std::string>& flows, Diagnostics& errors) const;
  /// All reported scalars.
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
