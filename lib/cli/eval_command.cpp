#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "agents/agent_source.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/source.h"
#include "draw/matrix.h"
#include "draw/text_table.h"
#include "evaluation/importance.h"
#include "evaluation/model_comparison.h"
#include "evaluation/threshold_choice.h"
#include "evaluation/worst_samples.h"
#include "experiment/gates.h"
#include "learner/given_data.h"
#include "learner/inference_model.h"
#include "learner/sample_maps.h"
#include "predict/evaluation_flow.h"
#include "predict/evaluator.h"
#include "run/bad_sample_list.h"
#include "system/file_io.h"
#include "system/file_kind.h"
#include "system/input_file.h"
#include "system/log.h"

namespace tpack {
namespace {

struct EvalOptions {
  ModelArguments model;
  std::vector<std::string> others;  // files: another checkpoint, data
  std::string other;                // the checkpoint among them; empty: none
  std::string file;                 // the data among them; empty: those of the flow
  std::string data;
  int worst = 0;
  std::string images;
  std::string svg;
  bool choose_threshold = false;
  std::string threshold_for = "f1";
  double threshold = 0.5;
  std::string on_error;         // empty: as set in the flow
  std::string importance = {};  // a statistic; empty: not requested
  int64_t repeats = ImportanceOptions().repeats;
  std::vector<std::string> minima;
  std::vector<std::string> maxima;
  bool json = false;
};

/// Errors: ConfigError for a model whose data come from playing.
void reject_agents(const EvalOptions& o, const InferenceModel& model) {
  for (const auto& [name, node] : model.config().data) {
    const ConfigNode components = components_of(node, model.config().data);
    Diagnostics errors;
    const std::shared_ptr<Source> source =
        Registry<Source>::make(component_item(components.items()[0], Source::kKind), errors);
    if (dynamic_cast<const AgentSource*>(source.get()) == nullptr || (!o.data.empty() && o.data != name))
      continue;
    throw ConfigError(
        "flow '" + name +
        "' comes from playing with the model, so it has no samples to evaluate on; to play episodes with its "
        "best actions, run: tpack train CONFIG --log-dir DIR --set trainer=NoOp --set init.from=" +
        o.model.file +
        " --set max_epoch=1 --set steps_per_epoch=1 --set 'gates=!delete' --set "
        "'callbacks=[PlayEpisodes: {environment: NAME, episodes: 100, values: OUTPUT}]'");
  }
}

std::string chosen_flow(const EvalOptions& o, const ModelConfig& config) {
  if (!o.data.empty()) return o.data;
  if (config.data.contains("validation")) return "validation";
  if (!config.predict.data.empty()) return config.predict.data.name;
  throw ConfigError("no flow to evaluate on; name one with --data NAME");
}

std::string flow_of(const EvalOptions& o, const InferenceModel& model) {
  const bool may_play = !model.config().data.contains("validation") || !o.data.empty();
  if (may_play && o.file.empty()) reject_agents(o, model);
  return chosen_flow(o, model.config());
}

/// An option that sets a bound.
struct BoundOption {
  const char* name;
  const char* sign;
  const char* opposite;
};
constexpr BoundOption kMinimum = {"--min", ">=", "--max"};
constexpr BoundOption kMaximum = {"--max", "<=", "--min"};

/// Errors: ConfigError, also for a bound in the wrong direction.
Gate bound(const BoundOption& option, const std::string& text, const StatisticGoals& goals) {
  const size_t equals = text.find('=');
  const std::string as_written = std::string(option.name) + " " + text;
  if (equals == std::string::npos) throw ConfigError(as_written + ": write " + option.name + " NAME=VALUE");
  const Position where{std::make_shared<const std::string>(option.name), 0, 0};
  const std::string name = text.substr(0, equals);
  Gate gate = parse_gate(name, std::string(option.sign) + " " + text.substr(equals + 1), where);
  gate.name = name;  // there is only one value, so no best one
  gate.of_best = false;
  const auto found = goals.find(gate.name);
  if (found != goals.end() && found->second && *found->second != gate.goal())
    throw ConfigError(as_written + ": " + goal_text(*found->second, gate.name) + "; use " + option.opposite);
  return gate;
}

/// Checks each gate against its statistic, or its figure for one class.
std::vector<GateResult> results_of(const std::vector<Gate>& gates, const Evaluator::Evaluation& evaluation) {
  std::vector<GateResult> results;
  for (const Gate& gate : gates) {
    std::optional<double> value;
    for (const auto& [name, figure] : evaluation.statistics)
      if (name == gate.name) value = figure;
    for (const ClassReport& report : evaluation.classes)
      if (!value) value = report.figure(gate.name);
    results.push_back({gate.str(), value, value && gate.holds(*value)});
  }
  return results;
}

/// Errors: ConfigError.
std::vector<Gate> gates_of(const EvalOptions& o, const StatisticGoals& goals) {
  std::vector<Gate> gates;
  for (const std::string& text : o.minima) gates.push_back(bound(kMinimum, text, goals));
  for (const std::string& text : o.maxima) gates.push_back(bound(kMaximum, text, goals));
  check_gates(gates, goals);
  return gates;
}

/// A model with its evaluator over a flow.
struct ModelOnFlow {
  ModelOnFlow(const EvalOptions& o, const std::string& file, Evaluator::Detail detail,
              const std::string& flow_name = "")
      : model(InferenceModel::load(file, {o.model.overrides, o.model.allow_plugins})),
        name(flow_name.empty() ? flow_of(o, *model) : flow_name),
        flow(flow_to_evaluate(*model, name, o.file, o.on_error)) {
    prepare(o.file);
    evaluator.emplace(name, model->handle(), flow, seed(), Position{}, EvaluationShard{}, detail);
    check_same_labels(model->labels(), &model->tower(), flow, name);
  }
  uint64_t seed() const { return static_cast<uint64_t>(model->config().seed); }
  /// The origin of the samples, for users.
  std::string where(const EvalOptions& o) const { return o.file.empty() ? name : o.file; }

  std::unique_ptr<InferenceModel> model;
  std::string name;  // of the flow
  DataFlow flow;
  std::optional<Evaluator> evaluator;

 private:
  static constexpr const char* kInfer =
      "; eval needs true values; to predict data without them, use `tpack infer`";

  /// Some sources know their contents only then.
  void prepare(const std::string& file) const {
    try {
      flow.prepare();
    } catch (const ConfigError& error) {
      if (file.empty()) throw;
      throw ConfigError(std::string(error.what()) + kInfer);
    } catch (const DataError& error) {
      if (file.empty()) throw;
      throw DataError(std::string(error.what()) + kInfer);
    }
  }
};

/// Finds the checkpoint and the data among the files, by their content. Errors: ConfigError.
EvalOptions with_files(EvalOptions o) {
  std::vector<std::string> read = o.others;
  read.push_back(o.model.file);
  reject_overwriting("--svg", o.svg, read);
  for (const std::string& file : o.others) {
    std::string& into = first_bytes(file, kCheckpointWord.size()) == kCheckpointWord ? o.other : o.file;
    if (!std::filesystem::exists(file)) throw ConfigError("no such file '" + file + "'");
    if (!into.empty())
      throw ConfigError("'" + into + "' and '" + file + "' are both " +
                        (&into == &o.other ? "checkpoints; eval compares at most two: the model and this one"
                                           : "data; eval takes one file or folder"));
    into = file;
  }
  return o;
}

void write_svg(const std::string& path, const std::vector<ClassReport>& reports) {
  const auto found =
      std::find_if(reports.begin(), reports.end(), [](const ClassReport& r) { return r.has_matrix(); });
  if (found == reports.end())
    throw ConfigError("--svg " + path + ": no term of the cost classifies into one of several classes");
  write_whole_file(path, svg_matrix(found->matrix()));
}

/// Lists all statistics, warns of those that are not numbers, and adds them to the JSON.
std::string table_of(const Evaluator::Result& statistics, const ModelOnFlow& of, const EvalOptions& o,
                     nlohmann::ordered_json& json) {
  TextTable table({"statistic of " + of.where(o), "value"});
  std::string bad = of.evaluator->bad_input();
  std::string legend;
  for (size_t i = 0; i < statistics.size(); ++i) {
    const auto& [statistic, value] = statistics[i];
    table.add({statistic, short_text(value)});
    if (const std::string& form = of.evaluator->form(i); !form.empty())
      legend += statistic + ": " + form + "\n";
    json[statistic] = value;
    if (std::isfinite(value)) continue;
    log::warning(statistic + " of " + of.name + " is " + std::to_string(value) + (bad.empty() ? "" : ": ") +
                 bad);
    bad.clear();  // once
  }
  return table.str() + (legend.empty() ? "" : "\n") + legend;
}

int evaluate(const EvalOptions& o) {
  if (!o.images.empty() && o.worst == 0)
    throw ConfigError("--images: set the number of samples with --worst N");
  const bool looks_at_samples = o.worst > 0 || o.choose_threshold;
  ModelOnFlow of(o, o.model.file,
                 looks_at_samples ? Evaluator::Detail::kSamples : Evaluator::Detail::kClasses);
  Evaluator& evaluator = *of.evaluator;
  StatisticGoals goals = evaluator.goals();
  for (const std::string& figure : evaluator.class_figures()) goals.emplace(figure, Goal::kMax);
  const std::vector<Gate> gates = gates_of(o, goals);
  std::optional<WorstSamples> worst;
  if (o.worst > 0) worst.emplace(evaluator, static_cast<size_t>(o.worst));
  if (o.threshold != 0.5) evaluator.set_threshold(o.threshold);
  std::optional<ThresholdChoice> threshold;
  if (o.choose_threshold) threshold.emplace(evaluator, ThresholdGoal::parse(o.threshold_for));
  const auto observe = [&](int64_t number, std::span<const TargetBatch> compared) {
    if (worst) worst->see(number, compared);
    if (threshold) threshold->see(number, compared);
  };
  evaluator.run_part({}, looks_at_samples ? Evaluator::Observer(observe) : nullptr);
  const Evaluator::Evaluation result = evaluator.evaluation_of(evaluator.batches(), evaluator.tallies());
  warn_of_bad_samples(o.file.empty() ? "data." + of.name : o.file, of.flow);
  if (worst) worst->find(of.flow, of.seed());
  nlohmann::ordered_json json;
  std::string text = table_of(result.statistics, of, o, json);
  if (o.threshold != 0.5)
    text += "\n--threshold applies to the tables below, not to the metrics of the config above\n";
  for (const ClassReport& report : result.classes) {
    text += "\n" + (result.classes.size() == 1 ? "" : report.term() + "\n") + report.str();
    json["reports"].push_back(report.to_json());
  }
  std::optional<ImportanceTable> importance;
  if (!o.importance.empty()) {
    importance.emplace(evaluator, importance_units(evaluator, of.model->tower().inputs(), of.flow),
                       ImportanceOptions{o.importance, o.repeats, of.seed()});
    text += "\n" + importance->str();
    json["importance"] = importance->to_json();
  }
  if (threshold) {
    text += "\n" + threshold->str();
    json["threshold"] = threshold->to_json();
  }
  if (worst) {
    text += "\n" + worst->str();
    json["worst"] = worst->to_json();
  }
  const std::vector<GateResult> of_gates = results_of(gates, result);
  if (!gates.empty()) json["gates"] = to_json(of_gates);
  std::cout << (o.json ? json.dump(1) + "\n" : printable_lines(text));
  if (!o.svg.empty()) {
    if (importance)
      write_whole_file(o.svg, importance->svg());
    else
      write_svg(o.svg, result.classes);
  }
  if (!o.images.empty()) worst->write_images(o.images);
  require_gates(of_gates);
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

/// Both on the first model's flow of that name, each with the settings of its own config.
int compare(const EvalOptions& o) {
  if (!o.minima.empty() || !o.maxima.empty() || o.worst > 0 || !o.svg.empty() || !o.images.empty() ||
      o.choose_threshold || o.threshold != 0.5 || !o.importance.empty())
    throw ConfigError(
        "--min, --max, --worst, --images, --svg, --importance, --threshold and --choose-threshold apply only "
        "to one model; remove '" +
        o.other + "' out");
  std::string flow;
  std::vector<ComparedSamples> compared;
  std::vector<Evaluator::Result> statistics;
  std::vector<std::string> places;
  for (const std::string& file : {o.model.file, o.other}) {
    ModelOnFlow of(o, file, Evaluator::Detail::kSamples, flow);
    flow = of.name;
    const std::vector<std::string> own = places_of(of.flow);
    if (!statistics.empty() && own != places)
      throw DataError("flow '" + flow +
                      "' of the two models has different samples (another split, seed or file); use a flow "
                      "with the same samples for both, with --data or --set");
    places = own;
    ComparedSamples& samples = compared.emplace_back(*of.evaluator);
    of.evaluator->run_part(
        {}, [&](int64_t number, std::span<const TargetBatch> batch) { samples.see(number, batch); });
    statistics.push_back(
        of.evaluator->evaluation_of(of.evaluator->batches(), of.evaluator->tallies()).statistics);
  }
  const std::vector<ComparedFigure> figures = compare_models(compared[0], compared[1]);
  if (o.json) {
    nlohmann::ordered_json json = {{"compared", to_json(figures)}};
    for (size_t i = 0; i < 2; ++i) {
      for (const auto& [name, value] : statistics[i]) json[i == 0 ? "first" : "second"][name] = value;
    }
    std::cout << json.dump(1) << "\n";
    return 0;
  }
  TextTable table({"statistic of " + (o.file.empty() ? flow : o.file), "first", "second"});
  for (const auto& [name, value] : statistics[0]) {
    std::vector<std::string> row = {name, short_text(value)};
    for (const auto& [other, second] : statistics[1])
      if (other == name) row.push_back(short_text(second));
    table.add(row);
  }
  std::cout << printable_lines(table.str() + "\n" + str(figures));
  return 0;
}

void add_eval_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<EvalOptions>();
  add_model_arguments(command, options->model);
  command
      .add_option(
          "others", options->others,
          "data to evaluate on: a file or folder of the kind that the model was trained on, with labels; or "
          "another checkpoint, to compare both models on the same samples, with confidence intervals")
      ->type_name("FILE ...")
      ->expected(0, 2);
  command.add_option("--data", options->data,
                     "flow of its config (default: validation, else the flow of predict)");
  command
      .add_option("--min", options->minima,
                  "exit code 8 if a statistic, such as accuracy, or a figure of one class (recall.yes) is "
                  "below; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--max", options->maxima, "exit code 8 if a statistic is above; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--worst", options->worst, "list this many samples with the highest cost")
      ->check(count_from(1));
  command.add_option("--images", options->images, "PNG with the images of --worst")->check(not_empty());
  command
      .add_option("--svg", options->svg, "SVG with the confusion matrix, or with the bars of --importance")
      ->check(not_empty());
  CLI::Option* importance = command.add_option(
      "--importance", options->importance,
      "permutation importance: how much worse a statistic, such as cost or accuracy, becomes when a column "
      "of a table, a number of a vector or an input gets the values of other samples");
  command.add_option("--repeats", options->repeats, "permutations per column for --importance")
      ->check(count_from(2))
      ->needs(importance)
      ->capture_default_str();
  command.add_flag(
      "--choose-threshold", options->choose_threshold,
      "find the threshold for predicting the second of two classes; use it with `infer --threshold`");
  command
      .add_option("--threshold-for", options->threshold_for,
                  "goal of --choose-threshold: f1, recall=0.9 (at least, with the highest precision), "
                  "precision=0.9, or cost=5 (a missed positive costs as much as 5 false alarms)")
      ->type_name("GOAL")
      ->capture_default_str();
  command
      .add_option("--threshold", options->threshold,
                  "lowest probability that counts as positive, or as the second of two classes, in the "
                  "tables by class, --worst, --min and --max; same as in `infer --threshold`")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command
      .add_option("--on-error", options->on_error,
                  "how to handle samples that cannot be read or have no label: skip ignores and counts them "
                  "(default: as set in the flow, else stop)")
      ->check(CLI::IsMember({"stop", "skip"}));
  add_json_flag(command, options->json);
  command.callback([options, &command, &action] {
    options->choose_threshold |= command.count("--threshold-for") > 0;
    action = [options] {
      const EvalOptions o = with_files(*options);
      return o.other.empty() ? evaluate(o) : compare(o);
    };
  });
}

const Subcommand kEvalCommand("eval", "Evaluate a trained model on a flow", add_eval_options);

}  // namespace
}  // namespace tpack
