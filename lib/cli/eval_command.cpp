#include <cmath>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/text.h"
#include "draw/text_table.h"
#include "experiment/gates.h"
#include "experiment/inference_model.h"
#include "predict/evaluation_flow.h"
#include "predict/evaluator.h"
#include "run/bad_sample_list.h"
#include "system/log.h"

namespace tpack {
namespace {

struct EvalOptions {
  ModelArguments model;
  std::string data;
  std::vector<std::string> minima;
  std::vector<std::string> maxima;
  bool json = false;
};

std::string chosen_flow(const EvalOptions& o, const ExperimentConfig& config) {
  if (!o.data.empty()) return o.data;
  if (config.data.contains("validation")) return "validation";
  if (!config.predict.data.empty()) return config.predict.data.name;
  throw ConfigError("no flow to evaluate on; name one with --data NAME");
}

/// An option that sets a bound.
struct BoundOption {
  const char* name;
  const char* sign;
  const char* opposite;
};
constexpr BoundOption kMinimum = {"--min", ">=", "--max"};
constexpr BoundOption kMaximum = {"--max", "<=", "--min"};

/// Errors: ConfigError, also for a bound that bad values meet.
Gate bound(const BoundOption& option, const std::string& text, const StatisticGoals& goals) {
  const size_t equals = text.find('=');
  const std::string as_written = std::string(option.name) + " " + text;
  if (equals == std::string::npos) throw ConfigError(as_written + ": write " + option.name + " NAME=VALUE");
  const Position where{std::make_shared<const std::string>(option.name), 0, 0};
  const std::string name = text.substr(0, equals);
  Gate gate = parse_gate(name, std::string(option.sign) + " " + text.substr(equals + 1), where);
  gate.name = name;  // there is one value, so none is the best
  gate.of_best = false;
  const auto found = goals.find(gate.name);
  if (found != goals.end() && found->second && *found->second != gate.goal())
    throw ConfigError(as_written + ": " + goal_text(*found->second, gate.name) + "; use " + option.opposite);
  return gate;
}

void require(const std::vector<Gate>& gates, const Evaluator::Result& result) {
  std::vector<std::string> missed;
  for (const Gate& gate : gates) {
    const auto at =
        std::find_if(result.begin(), result.end(), [&](const auto& r) { return r.first == gate.name; });
    if (!gate.holds(at->second))
      missed.push_back("gate " + gate.str() + " is missed: " + shortest(at->second));
  }
  if (!missed.empty()) throw GateMissed(join(missed, "\n"));
}

/// Errors: ConfigError.
std::vector<Gate> gates_of(const EvalOptions& o, const StatisticGoals& goals) {
  std::vector<Gate> gates;
  for (const std::string& text : o.minima) gates.push_back(bound(kMinimum, text, goals));
  for (const std::string& text : o.maxima) gates.push_back(bound(kMaximum, text, goals));
  check_gates(gates, goals);
  return gates;
}

int evaluate(const EvalOptions& o) {
  const auto model = InferenceModel::load(o.model.file, {o.model.overrides, o.model.allow_plugins});
  const std::string name = chosen_flow(o, model->config());
  const DataFlow flow = model->flow(name);
  flow.prepare();  // some sources know only then what they hold
  Evaluator evaluator(name, model->handle(), flow, static_cast<uint64_t>(model->config().seed));
  const std::vector<Gate> gates = gates_of(o, evaluator.goals());
  check_same_labels(model->labels(), &model->tower(), flow, name);
  const Evaluator::Result result = evaluator.run();
  warn_of_bad_samples(name, flow);
  TextTable table({"statistic of " + name, "value"});
  nlohmann::ordered_json json;
  std::string bad = evaluator.bad_input();
  for (const auto& [statistic, value] : result) {
    table.add({statistic, shortest(static_cast<float>(value))});
    json[statistic] = value;
    if (std::isfinite(value)) continue;
    log::warning(statistic + " of " + name + " is " + std::to_string(value) + (bad.empty() ? "" : ": ") +
                 bad);
    bad.clear();  // once
  }
  std::cout << (o.json ? json.dump(1) + "\n" : table.str());
  require(gates, result);
  return 0;
}

void add_eval_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<EvalOptions>();
  add_model_arguments(command, options->model);
  command.add_option("--data", options->data,
                     "flow of its config (default: validation, else that of predict)");
  command.add_option("--min", options->minima, "exit code 8 if the statistic is below; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--max", options->maxima, "exit code 8 if the statistic is above; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  add_json_flag(command, options->json);
  command.callback([options, &action] { action = [options] { return evaluate(*options); }; });
}

const Subcommand kEvalCommand("eval", "Evaluate a trained model on a flow", add_eval_options);

}  // namespace
}  // namespace tpack
