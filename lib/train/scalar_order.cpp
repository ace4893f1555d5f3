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

void ScalarOrder::provides(const std::string& name, When when) {
  const auto [at, is_new] = sources_.try_emplace(name, Source{current(), when});
  if (is_new) return;
  const CallbackPlace& first = callbacks_[at->second.callback];
  if (at->second.callback != current())
    duplicates_.push_back({callbacks_.back().position.known() ? callbacks_.back().position : first.position,
                           "statistic '" + name + "' of " + callbacks_.back().who + " is also reported by " +
                               first.who + "; rename the cost, metric or flow that it comes from"});
  if (when == When::kStep) at->second.when = when;
}

std::vector<std::string> ScalarOrder::names() const {
  std::vector<std::string> all;
  for (const auto& [name, source] : sources_) all.push_back(name);
  return all;
}

void ScalarOrder::check(const std::vector<std::string>& flows, Diagnostics& errors) const {
  for (const Problem& problem : duplicates_) errors.add(problem.where, problem.text);
  for (const Need& need : needs_) check(need, flows, errors);
}

void ScalarOrder::check(const Need& need, const std::vector<std::string>& flows, Diagnostics& errors) const {
  const auto found = sources_.find(need.scalar.name);
  if (found == sources_.end()) {
    if (!is_complete_) return;
    const ConfigError unknown = unknown_statistic({need.scalar.name, {}}, names(), flows);
    errors.add(need.scalar.position, need.who + ": " + unknown.problems()[0].text);
    return;
  }
  if (found->second.when == When::kStep || found->second.callback < need.callback) return;
  errors.add(need.scalar.position, need.who + ": '" + need.scalar.name +
                                       "' is reported by a callback later in the list; move that callback "
                                       "before this one");
}

}  // namespace tpack
