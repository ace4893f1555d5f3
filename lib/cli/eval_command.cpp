#include <cmath>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/log.h"
#include "core/text.h"
#include "draw/text_table.h"
#include "experiment/bad_sample_list.h"
#include "experiment/gates.h"
#include "experiment/stored_model.h"
#include "predict/evaluation_flow.h"
#include "predict/evaluator.h"

namespace tpack {
namespace {

struct EvalOptions {
  ModelArguments model;
  std::string data;
  std::vector<std::string> minima;
  bool json = false;
};

std::string chosen_flow(const EvalOptions& o, const Experiment& e) {
  if (!o.data.empty()) return o.data;
  if (e.flows.contains("validation")) return "validation";
  if (!e.config.predict.data.empty()) return e.config.predict.data.name;
  throw ConfigError("no flow to evaluate on; name one with --data NAME");
}

Gate minimum(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) throw ConfigError("--min " + text + ": write --min NAME=VALUE");
  const Position where{std::make_shared<const std::string>("--min"), 0, 0};
  return parse_gate(text.substr(0, equals), ">= " + text.substr(equals + 1), where);
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

int evaluate(const EvalOptions& o) {
  std::vector<Gate> gates;
  for (const std::string& text : o.minima) gates.push_back(minimum(text));
  StoredModel model(o.model.file, o.model.overrides, o.model.allow_plugins);
  const Experiment& e = model.experiment();
  const std::string name = chosen_flow(o, e);
  e.flow(name).prepare();  // some sources know only then what they hold
  Evaluator evaluator(name, model.place(), e.flow(name), static_cast<uint64_t>(e.config.seed));
  check_gates(gates, evaluator.statistics());
  check_same_labels(model.labels(), e.tower.get(), e.flow(name), name);
  const Evaluator::Result result = evaluator.run();
  warn_of_bad_samples(name, e.flow(name));
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
  add_json_flag(command, options->json);
  command.callback([options, &action] { action = [options] { return evaluate(*options); }; });
}

const Subcommand kEvalCommand("eval", "Evaluate a trained model on a flow", add_eval_options);

}  // namespace
}  // namespace tpack
