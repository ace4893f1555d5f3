#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/formula.h"
#include "train/run.h"

namespace tpack {

class Setup;

/// A formula about a run. Its names: epoch, step (steps done), local_step, max_epoch, steps_per_epoch,
/// hyper-parameters, the newest values of statistics, and environment variables. In names, `.` stands for
/// `/` and `-`: d.learning_rate. Threads: the training thread.
class RunFormula {
 public:
  /// `who`: the callback and field, for messages; `more`: names of values that are passed to `evaluate`.
  RunFormula(Formula formula, std::string who, std::vector<std::string> more = {})
      : formula_(std::move(formula)), who_(std::move(who)), more_(std::move(more)) {}

  /// Checks the names, the type of the result, and errors that do not depend on values (Expression::check);
  /// earlier callbacks must report the statistics.
  void setup(Setup& setup, std::optional<Expression::Result> must_give = {});
  /// True if it depends on statistics, because only the chief has all of them. After setup.
  bool uses_statistics() const { return uses_statistics_; }
  /// Empty while a statistic that it needs has no value. Errors: ConfigError with the place.
  std::optional<ConfigNode> evaluate(Run& run, const std::map<std::string, double>& more = {}) const;
  /// As evaluate; a result that is not a finite number is an error.
  std::optional<double> number(Run& run, const std::map<std::string, double>& more = {}) const;
  /// Also false while a statistic has no value. A result that is neither true nor false is an error.
  bool holds(Run& run) const;

 private:
  [[noreturn]] void rethrow(const ConfigError& error) const;
  [[noreturn]] void fail(Expression::Result must_give, const std::string& found) const;

  Formula formula_;
  std::string who_;
  std::vector<std::string> more_;
  std::map<std::string, std::string> hyper_parameters_;  // by name in the formula
  bool uses_statistics_ = false;
};

}  // namespace tpack
