#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/text.h"
#include "dataflow/source.h"
#include "draw/matrix.h"
#include "draw/text_table.h"
#include "experiment/gates.h"
#include "experiment/inference_model.h"
#include "predict/evaluation_flow.h"
#include "predict/evaluator.h"
#include "run/bad_sample_list.h"
#include "system/file_io.h"
#include "system/log.h"
#include "tools/model_comparison.h"
#include "tools/threshold_choice.h"
#include "tools/worst_samples.h"

namespace tpack {
namespace {

struct EvalOptions {
  ModelArguments model;
  std::string other;
  std::string data;
  int worst = 0;
  std::string images;
  std::string svg;
  bool choose_threshold = false;
  std::string threshold_for = "f1";
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

/// A model with what evaluates it over a flow.
struct ModelOnFlow {
  ModelOnFlow(const EvalOptions& o, const std::string& file, Evaluator::Judged judged,
              const std::string& flow_name = "")
      : model(InferenceModel::load(file, {o.model.overrides, o.model.allow_plugins})),
        name(flow_name.empty() ? chosen_flow(o, model->config()) : flow_name),
        flow(model->flow(name)) {
    flow.prepare();  // some sources know only then what they hold
    evaluator.emplace(name, model->handle(), flow, seed(), Position{}, EvaluationShard{}, judged);
    check_same_labels(model->labels(), &model->tower(), flow, name);
  }
  uint64_t seed() const { return static_cast<uint64_t>(model->config().seed); }

  std::unique_ptr<InferenceModel> model;
  std::string name;  // of the flow
  DataFlow flow;
  std::optional<Evaluator> evaluator;
};

void write_svg(const std::string& path, const std::vector<ClassReport>& reports) {
  const auto found =
      std::find_if(reports.begin(), reports.end(), [](const ClassReport& r) { return r.has_matrix(); });
  if (found == reports.end())
    throw ConfigError("--svg " + path + ": no term of the cost tells one of several classes");
  write_whole_file(path, svg_matrix(found->matrix()));
}

int evaluate(const EvalOptions& o) {
  if (!o.images.empty() && o.worst == 0) throw ConfigError("--images: say how many samples, with --worst N");
  const bool looks_at_samples = o.worst > 0 || o.choose_threshold;
  ModelOnFlow of(o, o.model.file,
                 looks_at_samples ? Evaluator::Judged::kSamples : Evaluator::Judged::kClasses);
  Evaluator& evaluator = *of.evaluator;
  const std::vector<Gate> gates = gates_of(o, evaluator.goals());
  std::optional<WorstSamples> worst;
  if (o.worst > 0) worst.emplace(evaluator, static_cast<size_t>(o.worst));
  std::optional<ThresholdChoice> threshold;
  if (o.choose_threshold) threshold.emplace(evaluator, ThresholdGoal::parse(o.threshold_for));
  const auto observe = [&](int64_t number, std::span<const JudgedBatch> judged) {
    if (worst) worst->see(number, judged);
    if (threshold) threshold->see(number, judged);
  };
  evaluator.run_part({}, looks_at_samples ? Evaluator::Observer(observe) : nullptr);
  const Evaluator::Evaluation result = evaluator.evaluation_of(evaluator.batches(), evaluator.tallies());
  warn_of_bad_samples(of.name, of.flow);
  if (worst) worst->find(of.flow, of.seed());
  TextTable table({"statistic of " + of.name, "value"});
  nlohmann::ordered_json json;
  std::string bad = evaluator.bad_input();
  for (const auto& [statistic, value] : result.statistics) {
    table.add({statistic, shortest(static_cast<float>(value))});
    json[statistic] = value;
    if (std::isfinite(value)) continue;
    log::warning(statistic + " of " + of.name + " is " + std::to_string(value) + (bad.empty() ? "" : ": ") +
                 bad);
    bad.clear();  // once
  }
  std::string text = table.str();
  for (const ClassReport& report : result.classes) {
    text += "\n" + (result.classes.size() == 1 ? "" : report.term() + "\n") + report.str();
    json["reports"].push_back(report.to_json());
  }
  if (threshold) {
    text += "\n" + threshold->str();
    json["threshold"] = threshold->to_json();
  }
  if (worst) {
    text += "\n" + worst->str();
    json["worst"] = worst->to_json();
  }
  std::cout << (o.json ? json.dump(1) + "\n" : text);
  if (!o.svg.empty()) write_svg(o.svg, result.classes);
  if (!o.images.empty()) worst->write_images(o.images);
  require(gates, result.statistics);
  return 0;
}

/// Files and rows of the samples, as far as they can be known without reading them.
std::vector<std::string> places_of(const DataFlow& flow) {
  std::vector<std::string> places;
  for (const Source* source : flow.sources()) {
    const auto* indexed = dynamic_cast<const RandomAccessSource*>(source);
    for (int64_t i = 0; indexed != nullptr && indexed->size() != kEndless && i < indexed->size(); ++i)
      places.push_back(indexed->file_of(i));
  }
  return places;
}

/// Both over the flow of that name of the first, each as its own config reads it.
int compare(const EvalOptions& o) {
  if (!o.minima.empty() || !o.maxima.empty() || o.worst > 0 || !o.svg.empty() || !o.images.empty() ||
      o.choose_threshold)
    throw ConfigError(
        "--min, --max, --worst, --images, --svg and --choose-threshold are for one model; leave '" + o.other +
        "' out");
  std::string flow;
  std::vector<JudgedSamples> judged;
  std::vector<Evaluator::Result> statistics;
  std::vector<std::string> places;
  for (const std::string& file : {o.model.file, o.other}) {
    ModelOnFlow of(o, file, Evaluator::Judged::kSamples, flow);
    flow = of.name;
    const std::vector<std::string> own = places_of(of.flow);
    if (!statistics.empty() && own != places)
      throw DataError("flow '" + flow +
                      "' of the two models has different samples (another split, seed or file): "
                      "name a flow with --data, or set it for both with --set, that has the same ones");
    places = own;
    JudgedSamples& samples = judged.emplace_back(*of.evaluator);
    of.evaluator->run_part(
        {}, [&](int64_t number, std::span<const JudgedBatch> batch) { samples.see(number, batch); });
    statistics.push_back(
        of.evaluator->evaluation_of(of.evaluator->batches(), of.evaluator->tallies()).statistics);
  }
  const std::vector<ComparedFigure> figures = compare_models(judged[0], judged[1]);
  if (o.json) {
    nlohmann::ordered_json json = {{"compared", to_json(figures)}};
    for (size_t i = 0; i < 2; ++i) {
      for (const auto& [name, value] : statistics[i]) json[i == 0 ? "first" : "second"][name] = value;
    }
    std::cout << json.dump(1) << "\n";
    return 0;
  }
  TextTable table({"statistic of " + flow, "first", "second"});
  for (const auto& [name, value] : statistics[0]) {
    std::vector<std::string> row = {name, shortest(static_cast<float>(value))};
    for (const auto& [other, second] : statistics[1])
      if (other == name) row.push_back(shortest(static_cast<float>(second)));
    table.add(row);
  }
  std::cout << table.str() << "\n" << str(figures);
  return 0;
}

void add_eval_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<EvalOptions>();
  add_model_arguments(command, options->model);
  command.add_option("other", options->other,
                     "another checkpoint: says which is better over the same samples, and what is noise");
  command.add_option("--data", options->data,
                     "flow of its config (default: validation, else that of predict)");
  command.add_option("--min", options->minima, "exit code 8 if the statistic is below; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--max", options->maxima, "exit code 8 if the statistic is above; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--worst", options->worst, "list so many samples with the highest cost")
      ->check(count_from(1));
  command.add_option("--images", options->images, "PNG with the images of --worst")->check(not_empty());
  command.add_option("--svg", options->svg, "SVG with the confusion matrix")->check(not_empty());
  command.add_flag(
      "--choose-threshold", options->choose_threshold,
      "find the probability from which to say the second of two classes: `infer --threshold` takes "
      "it");
  command
      .add_option(
          "--threshold-for", options->threshold_for,
          "what --choose-threshold chooses for: f1, recall=0.9 (at least, with the highest precision), "
          "precision=0.9, or cost=5 (a missed one costs as much as 5 false alarms)")
      ->type_name("GOAL")
      ->capture_default_str();
  add_json_flag(command, options->json);
  command.callback([options, &command, &action] {
    options->choose_threshold |= command.count("--threshold-for") > 0;
    action = [options] { return options->other.empty() ? evaluate(*options) : compare(*options); };
  });
}

const Subcommand kEvalCommand("eval", "Evaluate a trained model on a flow", add_eval_options);

}  // namespace
}  // namespace tpack
