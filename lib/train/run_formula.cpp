#include "train/run_formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "core/text.h"
#include "train/callback.h"

namespace tpack {
namespace {

/// Numbers of a run with a fixed name.
struct RunNumber {
  const char* name;
  int64_t (*of)(const Run&);
};
constexpr std::array<RunNumber, 5> kNumbers = {
    {{"epoch", [](const Run& run) { return run.epoch(); }},
     {"step", [](const Run& run) { return run.global_step(); }},
     {"local_step", [](const Run& run) { return run.local_step(); }},
     {"max_epoch", [](const Run& run) { return run.length().max_epoch; }},
     {"steps_per_epoch", [](const Run& run) { return run.length().steps_per_epoch; }}}};

std::string name_of(Expression::Result result) {
  if (result == Expression::Result::kNumber) return "a number";
  return result == Expression::Result::kTruth ? "true or false" : "a text";
}

/// Thrown by the scope of an evaluation that needs a statistic which has no value yet.
struct NoValueYet {};

class RunScope final : public Scope {
 public:
  using Lookup = std::function<std::optional<ConfigNode>(const std::string&)>;
  explicit RunScope(Lookup lookup) : lookup_(std::move(lookup)) {}
  std::optional<ConfigNode> lookup(const std::string& name) const override { return lookup_(name); }
  std::vector<std::string> known_names(const std::string& /*name*/) const override { return {}; }

 private:
  Lookup lookup_;
};

}  // namespace

void RunFormula::setup(Setup& setup, std::optional<Expression::Result> must_give) {
  try {
    formula_.expression().check();
  } catch (const ConfigError& error) {
    rethrow(error);
  }
  const auto gives = formula_.expression().result_of_numbers();
  if (must_give && gives && *gives != *must_give) fail(*must_give, "it is " + name_of(*gives));
  uses_statistics_ = false;
  hyper_parameters_.clear();
  std::vector<std::string> known = more_;
  for (const RunNumber& number : kNumbers) known.emplace_back(number.name);
  std::map<std::string, std::string> parameters;
  for (const std::string& name : setup.run().part<TrainedVariables>().hyper_parameters())
    parameters.emplace(name_in_formulas(name), name);
  for (const auto& [written, name] : parameters) known.push_back(written);
  for (const Expression::Name& used : formula_.expression().names()) {
    if (is_environment_name(used.name)) continue;
    if (const auto found = parameters.find(used.name); found != parameters.end()) {
      hyper_parameters_.insert(*found);
    } else if (std::find(known.begin(), known.end(), used.name) == known.end()) {
      uses_statistics_ = true;
      setup.needs_in_formula({used.name, formula_.position(used.offset)}, who_, known);
    }
  }
}

std::optional<ConfigNode> RunFormula::evaluate(Run& run, const std::map<std::string, double>& more) const {
  const RunScope scope([&](const std::string& name) -> std::optional<ConfigNode> {
    if (const auto given = more.find(name); given != more.end()) return given->second;
    if (const auto found = hyper_parameters_.find(name); found != hyper_parameters_.end())
      return run.hyper_parameter(found->second);
    for (const RunNumber& number : kNumbers) {
      if (name == number.name) return number.of(run);
    }
    const auto newest = run.monitors().get_latest(name);
    if (newest) return *newest;
    for (const std::string& known : run.monitors().names()) {
      if (name_in_formulas(known) == name) return *run.monitors().get_latest(known);
    }
    throw NoValueYet();  // all names were checked before
  });
  try {
    return formula_.expression().evaluate(scope);
  } catch (const NoValueYet&) {
    return std::nullopt;
  } catch (const ConfigError& error) {
    rethrow(error);
  }
}

void RunFormula::rethrow(const ConfigError& error) const {
  throw ConfigError(error.problems()[0].where, who_ + ": " + error.problems()[0].text);
}

void RunFormula::fail(Expression::Result must_give, const std::string& found) const {
  const bool is_number = must_give == Expression::Result::kNumber;
  throw ConfigError(formula_.position(),
                    who_ + ": '" + formula_.text() + "' must be " +
                        (is_number ? "a finite number" : "true or false, such as `epoch > 3`") + "; " +
                        found);
}

std::optional<double> RunFormula::number(Run& run, const std::map<std::string, double>& more) const {
  const auto value = evaluate(run, more);
  if (!value) return std::nullopt;
  if (value->is_number() && std::isfinite(value->as_double())) return value->as_double();
  fail(Expression::Result::kNumber,
       "after global_step " + std::to_string(run.global_step()) + " it is " + value->describe());
}

bool RunFormula::holds(Run& run) const {
  const auto value = evaluate(run);
  if (!value) return false;
  if (value->kind() == ConfigNode::Kind::kBool) return value->as_bool();
  fail(Expression::Result::kTruth, "it is " + value->describe());
}

}  // namespace tpack
