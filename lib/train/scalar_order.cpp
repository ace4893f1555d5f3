#include "train/scalar_order.h"

#include <algorithm>

#include "core/text.h"
#include "predict/class_report.h"
#include "system/log.h"

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
    const std::string figure = of_flow ? statistic.name.substr(flow.size() + 1) : "";
    const bool has_figures = std::any_of(known.begin(), known.end(), [&](const std::string& name) {
      return name.starts_with(flow + "_") && ClassReport::may_be_figure(name.substr(flow.size() + 1));
    });
    if (ClassReport::may_be_figure(figure) && !has_figures)
      return {statistic.position,
              "unknown statistic '" + statistic.name +
                  "'; figures of one class are reported only if they are named: InferenceRunner: {data: " +
                  flow + ", metrics: [cost, " + figure + "]}"};
  }
  return unknown_reference("statistic", statistic.name, statistic.position, known);
}

std::string name_in_formulas(std::string scalar) {
  std::replace_if(
      scalar.begin(), scalar.end(), [](char c) { return c == '/' || c == '-'; }, '.');
  return scalar;
}

void ScalarOrder::provides(const std::string& name, When when, Triggered triggered,
                           std::optional<Goal> goal) {
  const auto [at, is_new] =
      sources_.try_emplace(name, Source{current(), sources_.size(), when, triggered, goal});
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

StatisticGoals ScalarOrder::given() const {
  StatisticGoals all;
  for (const auto& [name, source] : sources_) all.emplace(name, source.goal);
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

Position ScalarOrder::position_of(const PlacedNeed& placed) const {
  const Position& written = placed.need.scalar.position;
  return written.known() ? written : callbacks_[placed.callback].position;
}

void ScalarOrder::check_goal(const PlacedNeed& placed, const std::optional<Goal>& known,
                             Diagnostics& errors) const {
  const GoalUse& goal = *placed.need.goal;
  const std::string& name = placed.need.scalar.name;
  if (goal.asked && known && *goal.asked != *known) {
    errors.add(position_of(placed),
               placed.need.who + ": " + goal_text(*known, name) + "; " + goal.if_opposite);
  } else if (!goal.asked && !known) {
    errors.add(position_of(placed), placed.need.who + ": it is unknown whether lower or higher values of '" +
                                        name + "' are better; " + goal.if_unknown);
  } else if (goal.use) {
    goal.use(goal.asked ? *goal.asked : *known);
  }
}

void ScalarOrder::check(const PlacedNeed& placed, const std::vector<std::string>& flows,
                        Diagnostics& errors) const {
  const Need& need = placed.need;
  const std::string name = need.who + ": '" + need.scalar.name + "'";
  const Position where = position_of(placed);
  const Source* source = source_of(need);
  if (source == nullptr) {
    if (!is_complete_) return;
    std::vector<std::string> known = names_of(given());
    known.insert(known.end(), need.others.begin(), need.others.end());
    const ConfigError unknown = unknown_statistic({need.scalar.name, {}}, known, flows);
    errors.add(where, need.who + ": " + unknown.problems()[0].text);
    return;
  }
  const bool in_steps = need.triggered == Triggered::kAfterSteps && !need.is_in_formula;
  const bool is_always_there = source->when == When::kRun || (source->when == When::kStep && !in_steps);
  const bool is_late = source->number >= placed.number;
  const bool is_rare = source->when == When::kTrigger && source->triggered == Triggered::kAfterEpochs;
  if (!is_always_there && is_late) {
    errors.add(where,
               name + " is reported by a callback later in the list; move that callback before this one");
  } else if (!is_always_there && in_steps && is_rare) {
    errors.add(where, name +
                          " is reported only after epochs, but is needed after steps; also set `every: "
                          "{steps: ...}` of the callback that reports it");
  } else if (need.goal) {
    check_goal(placed, source->goal, errors);
    const bool is_between = source->when == When::kTrigger && source->triggered != Triggered::kAfterEpochs;
    if (is_between && need.goal->keeps_best && need.triggered == Triggered::kAfterEpochs)
      log::warning(where.str() + ": " + name +
                   " is also reported within epochs, and this callback would miss the best of these values; "
                   "set the same `every` for it");
  }
}

}  // namespace tpack
