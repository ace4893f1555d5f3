#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/field.h"
#include "graph/tower_function.h"
#include "optim/optimizer.h"

namespace tpack {

/// The steps in which an update runs: `steps` steps of each round of `round` steps, starting with step
/// `first`.
struct UpdateSchedule {
  int64_t round = 1;
  int64_t first = 0;
  int64_t steps = 1;

  bool includes(int64_t global_step) const {
    const int64_t number = global_step % round;
    return number >= first && number < first + steps;
  }
  bool is_always() const { return steps == round; }
  /// "all", or "2 of 5".
  std::string str() const;
};

/// A part of a training step: which cost is minimized, over which variables, by which optimizer. The updates
/// of a step run one after the other; each computes its cost after the changes of those before it. Random
/// draws of one step are the same for all of them.
struct Update {
  std::string name;                             // "" for the one update of the short form
  Ref<CostName> cost = {kCost, {}};             // of the tower
  std::vector<Ref<VariablePattern>> variables;  // patterns; empty: all trainable variables
  std::vector<Ref<VariablePattern>> frozen;     // patterns of variables that it does not train
  const Optimizer* optimizer = nullptr;         // never null
  UpdateSchedule schedule = {};
  Position position = {};

  /// True for a variable that the patterns choose (is_for_variable). Errors: ConfigError for a pattern that
  /// is not a regular expression.
  bool selects(const std::string& variable) const;
  /// True if it chooses every variable.
  bool selects_all() const { return variables.empty() && frozen.empty(); }
  /// "d/backward"; "backward" if the update has no name.
  std::string program_name(const std::string& program) const {
    return name.empty() ? program : name + "/" + program;
  }
  /// "d/learning_rate"; "learning_rate" if the update has no name.
  std::string hyper_parameter(const std::string& parameter) const { return program_name(parameter); }
};

}  // namespace tpack
