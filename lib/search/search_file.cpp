#include "search/search_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "config/yaml_reader.h"
#include "core/text.h"
#include "run/config_changes.h"

namespace tpack {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

constexpr std::array<std::pair<Method, const char*>, 3> kMethods = {
    {{Method::kGrid, "grid"}, {Method::kRandom, "random"}, {Method::kHalving, "halving"}}};

constexpr std::array<std::pair<RunState, const char*>, 7> kStates = {{{RunState::kWaiting, "waiting"},
                                                                      {RunState::kRunning, "running"},
                                                                      {RunState::kFinished, "finished"},
                                                                      {RunState::kGateMissed, "gate missed"},
                                                                      {RunState::kStopped, "stopped"},
                                                                      {RunState::kInterrupted, "interrupted"},
                                                                      {RunState::kFailed, "failed"}}};

template <class Enum, size_t N>
const char* name_in(const std::array<std::pair<Enum, const char*>, N>& table, Enum value) {
  return std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.first == value; })
      ->second;
}

/// Errors: nlohmann::json::exception.
template <class Enum, size_t N>
Enum value_in(const std::array<std::pair<Enum, const char*>, N>& table, const std::string& name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.second == name; });
  if (found == table.end()) throw Json::other_error::create(0, "unknown word '" + name + "'", nullptr);
  return found->first;
}

Json plan_json(const SearchPlan& plan) {
  return {{"search", method_name(plan.method)},
          {"set", plan.settings},
          {"trials", plan.trials},
          {"seed", plan.seed},
          {"metric", plan.metric.name},
          {"goal", goal_name(plan.metric.goal)},
          {"eta", plan.eta},
          {"min_epochs", plan.least_epochs},
          {"config", plan.config}};
}

SearchPlan plan_of(const Json& json) {
  SearchPlan plan;
  plan.method = value_in(kMethods, json.at("search").get<std::string>());
  plan.settings = json.at("set").get<std::vector<std::string>>();
  plan.trials = json.at("trials").get<int64_t>();
  plan.seed = json.at("seed").get<int64_t>();
  plan.metric.name = json.at("metric").get<std::string>();
  plan.metric.goal = json.at("goal").get<std::string>() == goal_name(Goal::kMax) ? Goal::kMax : Goal::kMin;
  plan.eta = json.at("eta").get<int64_t>();
  plan.least_epochs = json.at("min_epochs").get<int64_t>();
  plan.config = json.at("config").get<std::string>();
  return plan;
}

Json run_json(const SearchRun& run, const std::vector<std::string>& keys) {
  Json values = Json::object();
  for (size_t i = 0; i < keys.size(); ++i) values[keys[i]] = run.values[i];
  return {{"name", run.name},     {"values", values},       {"state", state_name(run.state)},
          {"scores", run.scores}, {"seconds", run.seconds}, {"exit_code", run.exit_code},
          {"reason", run.reason}};
}

SearchRun run_of(const Json& json) {
  SearchRun run;
  run.name = json.at("name").get<std::string>();
  for (const auto& [key, value] : json.at("values").items()) run.values.push_back(value.get<std::string>());
  run.state = value_in(kStates, json.at("state").get<std::string>());
  if (run.state == RunState::kRunning) run.state = RunState::kInterrupted;
  for (const Json& score : json.at("scores"))
    run.scores.push_back(score.is_null() ? std::numeric_limits<double>::quiet_NaN() : score.get<double>());
  run.seconds = json.at("seconds").get<double>();
  run.exit_code = json.at("exit_code").get<int>();
  run.reason = json.at("reason").get<std::string>();
  return run;
}

template <class T>
void compare_option(const std::string& option, const T& before, const T& now,
                    std::vector<std::string>& differences) {
  if (before == now) return;
  Json then = before;
  Json here = now;
  const auto text = [](const Json& json) { return json.is_string() ? json.get<std::string>() : json.dump(); };
  differences.push_back(option + " was " + text(then) + ", is " + text(here));
}

void compare_settings(const std::vector<std::string>& before, const std::vector<std::string>& now,
                      std::vector<std::string>& differences) {
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  const size_t count = differences.size();
  for (const std::string& setting : before)
    if (!has(now, setting)) differences.push_back("--set '" + setting + "' is missing");
  for (const std::string& setting : now)
    if (!has(before, setting)) differences.push_back("--set '" + setting + "' is added");
  if (count == differences.size() && before != now) differences.emplace_back("the order of --set differs");
}

void compare_configs(const std::string& before, const std::string& now,
                     std::vector<std::string>& differences) {
  if (before == now) return;
  try {
    differences = config_changes(parse_yaml(before, kSearchFile), parse_yaml(now, "the config"), {});
    if (differences.empty()) differences.emplace_back("name, max_epoch or vars of the config differ");
  } catch (const ConfigError&) {
    differences.emplace_back("the optimizer of the config differs");
  }
}

}  // namespace

const char* method_name(Method method) { return name_in(kMethods, method); }
const char* state_name(RunState state) { return name_in(kStates, state); }

std::vector<std::string> plan_differences(const SearchPlan& before, const SearchPlan& now) {
  std::vector<std::string> differences;
  compare_option("--search", std::string(method_name(before.method)), std::string(method_name(now.method)),
                 differences);
  compare_settings(before.settings, now.settings, differences);
  if (now.method != Method::kRandom || now.trials < before.trials)
    compare_option("--trials", before.trials, now.trials, differences);
  compare_option("--seed", before.seed, now.seed, differences);
  compare_option("--metric", before.metric.name, now.metric.name, differences);
  compare_option("--goal", std::string(goal_name(before.metric.goal)),
                 std::string(goal_name(now.metric.goal)), differences);
  compare_option("--eta", before.eta, now.eta, differences);
  compare_option("--min-epochs", before.least_epochs, now.least_epochs, differences);
  if (differences.empty()) compare_configs(before.config, now.config, differences);
  return differences;
}

std::string SearchRecord::to_json() const {
  Json all = Json::array();
  for (const SearchRun& run : runs) all.push_back(run_json(run, keys));
  const Json record = {{"format", kFormat}, {"plan", plan_json(plan)}, {"keys", keys}, {"runs", all}};
  return record.dump(1) + "\n";
}

SearchRecord SearchRecord::from_json(const std::string& text, const std::string& path) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format").get<int>() != kFormat)
      throw ConfigError(path +
                        ": was written by a different version of tpack; use another folder (--log-dir DIR)");
    SearchRecord record;
    record.plan = plan_of(json.at("plan"));
    record.keys = json.at("keys").get<std::vector<std::string>>();
    for (const Json& run : json.at("runs")) {
      record.runs.push_back(run_of(run));
      if (record.runs.back().values.size() != record.keys.size())
        throw Json::other_error::create(0, "a run without a value", nullptr);
    }
    return record;
  } catch (const nlohmann::json::exception&) {
    throw ConfigError(path + ": is damaged; use another folder (--log-dir DIR)");
  }
}

}  // namespace tpack
