#include "train/scalar_order.h"

#include <algorithm>

#include "core/text.h"

namespace tpack {

ConfigError unknown_statistic(const Ref<Stat>& statistic, const std::vector<std::string>& known,
                              const std::vector<std::string>& flows) {
  for (const std::string& flow : flows) {
    const bool of_flow = statistic.name.starts_with(flow + "_");
    const bool is_run = std::any_of(known.begin(), known.end(),
                                    [&](const std::string& name) { return name.starts_with(flow + "_"); });
    if (of_flow && !is_run)
      return {statistic.position, "unknown statistic '" + statistic.name +
                                      "'; no callback runs the model on data." + flow +
                                      ": add InferenceRunner: {data: " + flow + "} to the callbacks"};
  }
  return unknown_reference("statistic", statistic.name, statistic.position, known);
}

std::string name_in_formulas(std::string scalar) {
  std::replace_if(
      scalar.begin(), scalar.end(), [](char c) { return c == '/' || c == '-'; }, '.');
  return scalar;
}

void ScalarOrder::provides(const std::string& name, When when, Triggered triggered) {
  const auto [at, is_new] = sources_.try_emplace(name, Source{current(), sources_.size(), when, triggered});
  if (is_new) return;
  const CallbackPlace& first = callbacks_[at->second.callback];
  if (at->second.callback != current()) {
    const Position& here = callbacks_.back().position;
    const std::string where = here.known() && first.position.known() ? " (" + first.position.str() + ")" : "";
    duplicates_.push_back(
        {here.known() ? here : first.position,
         "statistic '" + name + "' of " + callbacks_.back().who + " is also reported by " + first.who +
             where + "; remove one of them, or rename the cost, metric or flow that it comes from"});
  }
  if (when > at->second.when) at->second.when = when;
}

std::vector<std::string> ScalarOrder::names() const {
  std::vector<std::string> all;
  for (const auto& [name, source] : sources_) all.push_back(name);
  return all;
}

void ScalarOrder::check(const std::vector<std::string>& flows, Diagnostics& errors) const {
  for (const Problem& problem : duplicates_) errors.add(problem.where, problem.text);
  for (const PlacedNeed& need : needs_) check(need, flows, errors);
}

const ScalarOrder::Source* ScalarOrder::source_of(const Need& need) const {
  for (const auto& [name, source] : sources_) {
    if (name == need.scalar.name || (need.is_in_formula && name_in_formulas(name) == need.scalar.name))
      return &source;
  }
  return nullptr;
}

void ScalarOrder::check(const PlacedNeed& placed, const std::vector<std::string>& flows,
                        Diagnostics& errors) const {
  const Need& need = placed.need;
  const std::string name = need.who + ": '" + need.scalar.name + "'";
  const Position& where =
      need.scalar.position.known() ? need.scalar.position : callbacks_[placed.callback].position;
  const Source* source = source_of(need);
  if (source == nullptr) {
    if (!is_complete_) return;
    std::vector<std::string> known = names();
    known.insert(known.end(), need.others.begin(), need.others.end());
    const ConfigError unknown = unknown_statistic({need.scalar.name, {}}, known, flows);
    errors.add(where, need.who + ": " + unknown.problems()[0].text);
    return;
  }
  const bool in_steps = need.triggered == Triggered::kAfterSteps && !need.is_in_formula;
  if (source->when == When::kRun || (source->when == When::kStep && !in_steps)) return;
  if (source->number >= placed.number) {
    errors.add(where,
               name + " is reported by a callback later in the list; move that callback before this one");
  } else if (in_steps && source->when == When::kTrigger && source->triggered == Triggered::kAfterEpochs) {
    errors.add(where, name + " is reported after epochs only, but is needed after steps; put " +
                          "its callback into a PeriodicTrigger with every_k_steps, too");
  }
}

}  // namespace tpack
