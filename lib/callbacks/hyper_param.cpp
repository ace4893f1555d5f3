#include "callbacks/hyper_param.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.h"
#include "system/log.h"

namespace tpack {

void HyperParam::setup(const Setup& setup) const {
  setup.run().require_hyper_parameter(name_.name, name_.position);
  if (setup.run().part<TrainedVariables>().schedules().contains(name_.name)) {
    throw ConfigError(name_.position,
                      name_.name +
                          " has a schedule in the config, which would overwrite the value that this callback "
                          "sets; write a number there, or remove the callback");
  }
}

HyperParamSetter::HyperParamSetter(Ref<HyperParamName> param, CallbackRules rules)
    : Callback([&] {
        if (rules.identity.empty()) rules.identity = param.name;
        rules.ranks = Ranks::kAll;
        rules.ranks_are_fixed = "a hyper-parameter is the same on all ranks";
        return rules;
      }()),
      param_(std::move(param)) {}

void HyperParam::set(Run& run, double value, const std::string& who) {
  if (const char* wrong = why_invalid(name_.name, value))
    throw ConfigError(name_.position, who + ": cannot set " + name_.name + " to " + short_text(value) +
                                          " after global_step " + std::to_string(run.global_step()) + ": " +
                                          wrong);
  const double before = this->value(run);
  if (before == value) return;
  run.set_hyper_parameter(name_.name, value);
  const bool looks_the_same = static_cast<float>(before) == static_cast<float>(value);
  if (looks_the_same || logged_epoch_ == run.epoch()) return;
  logged_epoch_ = run.epoch();
  log::info(name_.name + " changes from " + short_text(before) + " to " + short_text(value) +
            " after global_step " + std::to_string(run.global_step()));
}

void HyperParamSetter::set_of_chief(Run& run, std::optional<double> value, const std::string& who) {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  const double agreed = run.of_chief(value.value_or(kNothing));
  if (!std::isnan(agreed)) param_.set(run, agreed, who);
}

}  // namespace tpack
