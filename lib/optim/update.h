#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/field.h"
#include "graph/tower_function.h"
#include "optim/optimizer.h"

namespace tpack {

/// A part of a training step: which cost is minimized, over which variables, by which optimizer. The updates
/// of a step run one after the other; each computes its cost with what those before it have changed. Random
/// draws of one step are the same for all of them.
struct Update {
  std::string name;                      // "" for the one update of the short form
  Ref<CostName> cost = {kCost, {}};      // of the tower
  std::vector<Ref<Variable>> variables;  // patterns; empty: all trainable variables
  std::vector<Ref<Variable>> frozen;     // patterns of those that it does not train
  const Optimizer* optimizer = nullptr;  // never null
  int64_t every = 1;                     // runs in steps 0, every, 2 * every, ...
  Position position = {};

  /// True for a variable that the patterns choose (is_for_variable). Errors: ConfigError for a pattern that
  /// is not a regular expression.
  bool selects(const std::string& variable) const;
  /// True if that is every variable.
  bool selects_all() const { return variables.empty() && frozen.empty(); }
  /// "d/backward"; "backward" if the update has no name.
  std::string program_name(const std::string& program) const {
    return name.empty() ? program : name + "/" + program;
  }
  /// "d/learning_rate"; "learning_rate" if the update has no name.
  std::string hyper_parameter(const std::string& parameter) const { return program_name(parameter); }
};

}  // namespace tpack
