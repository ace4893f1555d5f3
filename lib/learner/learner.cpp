#include "learner/learner.h"

#include <filesystem>
#include <optional>

#include "backend/program.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "core/schedule.h"
#include "graph/tower_description.h"
#include "learner/fill_from_data.h"
#include "learner/inference_model.h"
#include "learner/model_config.h"
#include "learner/stored_data.h"
#include "optim/training_graph.h"
#include "predict/evaluator.h"
#include "predict/load_weights.h"
#include "predict/named_predictor.h"
#include "predict/stored_variables.h"

namespace tpack {
namespace {

/// Steps in one pass over data.train; 1 if unknown.
int64_t steps_in_pass(const DataFlow* train) {
  return train == nullptr ? 1 : std::max<int64_t>(1, train->finite_size().value_or(1));
}

/// Samples in a batch of data.train; 1 if unknown.
int64_t samples_in_batch(const DataFlow* train) {
  return train == nullptr ? 1 : train->batch_size().value_or(1);
}

int64_t max_epoch_of(const ConfigNode& config) {
  const ConfigNode* node = config.find("max_epoch");
  return node != nullptr && node->kind() == ConfigNode::Kind::kInt ? node->as_int() : 1;
}

}  // namespace

/// Declared in an order in which members are destroyed before those that they use.
struct Learner::Parts {
  /// The programs of an update; the first one also fetches statistics.
  struct UpdatePrograms {
    std::unique_ptr<Program> backward;
    std::unique_ptr<Program> update;
  };

  ModelConfig config;  // empty for a network in C++
  ModelParts model;
  LearnerOptions options;
  VariableTable table;
  Plan plan;
  std::unique_ptr<Device> device;
  std::unique_ptr<TrainingGraphs> graphs;                                          // null: nothing trains it
  std::vector<UpdatePrograms> programs;                                            // of each update
  std::map<std::vector<std::string>, std::unique_ptr<NamedPredictor>> predictors;  // by outputs
  int64_t global_step = 0;

  ModelHandle handle() { return {model.tower.get(), device.get(), &table, &plan}; }
  void build();
  void make_programs(size_t update);
  void set_scheduled();
  std::vector<PredictOutput> outputs(const std::vector<std::string>& names) const;
};

void Learner::Parts::build() {
  device = open_device(options.device, options.engine);
  const Signature fed = batch_specs(*model.tower, options.batch_size);
  if (model.updates.empty()) {
    table = model.tower->description({Phase::kInference, device->float_type()}, fed).variables();
  } else {
    graphs = std::make_unique<TrainingGraphs>(*model.tower, model.updates);
    graphs->declare(table, fed, device->float_type(), static_cast<double>(options.batch_size));
  }
  device->create_variables(table);
  device->variables().initialize(options.seed);
  for (size_t i = 0; i < model.updates.size(); ++i) make_programs(i);
}

void Learner::Parts::make_programs(size_t update) {
  const Update& of = model.updates[update];
  UpdatePrograms made;
  made.backward = std::make_unique<Program>(
      of.program_name("backward"), *device, plan, [this, update](const Signature& fed) {
        return graphs->backward(update, table, fed, device->float_type());
      });
  made.update = std::make_unique<Program>(of.program_name("update"), *device, plan,
                                          [this, update](const Signature& /*none*/) {
                                            return graphs->update(update, table, device->float_type(), 1.0);
                                          });
  programs.push_back(std::move(made));
}

void Learner::Parts::set_scheduled() {
  for (const auto& [name, schedule] : table.schedules())
    device->variables().set_number(name, schedule->at({.step = global_step,
                                                       .steps_per_epoch = options.steps_per_epoch,
                                                       .max_epoch = options.max_epoch}));
}

std::vector<PredictOutput> Learner::Parts::outputs(const std::vector<std::string>& names) const {
  Diagnostics errors;
  std::vector<ConfigNode> items(names.begin(), names.end());
  const ConfigNode& outputs = config.predict.outputs;
  if (names.empty() && outputs.is_null())
    throw ConfigError("the outputs to predict are missing; name outputs of the model");
  std::vector<PredictOutput> parsed =
      parse_predict_outputs(names.empty() ? outputs : ConfigNode::list(std::move(items)), errors);
  errors.throw_if_any();
  return parsed;
}

Learner::Learner(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) { parts_->build(); }
Learner::Learner(Learner&&) noexcept = default;
Learner& Learner::operator=(Learner&&) noexcept = default;
Learner::~Learner() = default;

Learner::Learner(std::unique_ptr<TowerFunction> tower, std::unique_ptr<Optimizer> optimizer,
                 LearnerOptions options)
    : parts_(std::make_unique<Parts>()) {
  ModelParts& model = parts_->model;
  model.tower = std::move(tower);
  if (optimizer) {
    model.updates.push_back({.optimizer = optimizer.get()});
    model.optimizers.push_back(std::move(optimizer));
  }
  parts_->options = std::move(options);
  parts_->build();
}

namespace {

/// Makes the components of a config. `stored`: the training data's entries in a checkpoint.
void make_parts(LoadedConfig source, const std::string& name, std::optional<FittedData> stored,
                ModelConfig& config, ModelParts& model) {
  Diagnostics errors;
  if (stored) model.fit = std::make_shared<Fit>(std::move(*stored));
  model.source = std::move(source);
  config = parse_model_config(model.source.root, name, errors);
  make_flows(config, model, errors);
  if (!config.model.is_null()) {
    const auto flow_of = [&](const std::string& flow) {
      const auto found = model.flows.find(flow);
      return found == model.flows.end() ? nullptr : &found->second;
    };
    model.tower = make_tower(config, model.source.root, flow_of, errors);
  }
  make_updates(config, model, errors);
  errors.throw_if_any();
  for (const auto& [flow_name, flow] : model.flows) flow.prepare();
  if (!model.tower) throw ConfigError(model.source.root.position(), "'model' is missing");
}

LearnerOptions options_of(const ModelConfig& config, const ModelParts& model) {
  const DataFlow* train = model.train_flow();
  return {.engine = config.engine,
          .seed = static_cast<uint64_t>(config.seed),
          .batch_size = samples_in_batch(train),
          .steps_per_epoch = steps_in_pass(train),
          .max_epoch = max_epoch_of(model.source.root)};
}

}  // namespace

Learner Learner::from_config(const std::string& path, const std::vector<std::string>& overrides) {
  auto parts = std::make_unique<Parts>();
  make_parts(load_model_config(path, overrides), std::filesystem::path(path).stem().string(), std::nullopt,
             parts->config, parts->model);
  parts->options = options_of(parts->config, parts->model);
  Learner learner(std::move(parts));
  fill_from_data(learner.parts_->model, learner.variables());
  return learner;
}

Learner Learner::from_checkpoint(const std::string& path) {
  const CheckpointContent content = load_checkpoint(path);
  auto parts = std::make_unique<Parts>();
  make_parts(stored_config(content, path), std::filesystem::path(path).stem().string(),
             stored_fit(content, path), parts->config, parts->model);
  parts->options = options_of(parts->config, parts->model);
  Learner learner(std::move(parts));
  learner.load(path);
  return learner;
}

Learner::Figures Learner::step(const Tensors& batch) {
  Parts& p = *parts_;
  if (!p.graphs) throw ConfigError("this Learner has no optimizer, so it cannot take a step");
  std::vector<Tensor> fed;
  for (const TowerInput& input : p.model.tower->inputs()) {
    const auto given = batch.find(input.name);
    if (given == batch.end()) throw ConfigError("step: the batch has no input '" + input.name + "'");
    fed.push_back(given->second);
  }
  check_batch(p.model.tower->inputs(), batch);
  p.set_scheduled();
  const TowerDescription& tower =
      p.model.tower->description({Phase::kTraining, p.device->float_type()}, signature_of(fed));
  const RunInfo info = {.seed = p.options.seed, .step = p.global_step};
  Figures figures;
  for (size_t i = 0; i < p.programs.size(); ++i) {
    if (!p.model.updates[i].schedule.includes(p.global_step)) continue;
    Program& backward = *p.programs[i].backward;
    const Executable& done = backward.run(fed, info);
    for (const Statistic& statistic : tower.statistics()) {
      if (p.graphs->update_of(statistic) != i) continue;
      Tally tally(statistic);
      tally.add(done.fetched(backward.fetch_index(statistic.name + "/sum")),
                done.fetched(backward.fetch_index(statistic.name + "/weight")));
      if (tally.has_value()) figures[statistic.name] = tally.value();
    }
    p.programs[i].update->run({}, info);
  }
  ++p.global_step;
  return figures;
}

Learner::Tensors Learner::predict(const Tensors& batch, const std::vector<std::string>& outputs) {
  std::unique_ptr<NamedPredictor>& predictor = parts_->predictors[outputs];
  if (!predictor) predictor = std::make_unique<NamedPredictor>(parts_->handle(), parts_->outputs(outputs));
  return predictor->run(batch);
}

Learner::Figures Learner::evaluate(const DataFlow& flow) {
  Evaluator evaluator("evaluation", parts_->handle(), flow, parts_->options.seed);
  const Evaluator::Result result = evaluator.run();
  return {result.begin(), result.end()};
}

void Learner::save(const std::string& path) const {
  CheckpointContent content;
  content.step = parts_->global_step;
  save_variables(parts_->device->variables(), content);
  if (!parts_->model.source.root.is_null()) {
    content.texts[layout::kConfig] =
        to_yaml(parts_->model.source.root.with("model", effective_model(parts_->config.model)));
    if (const DataFlow* train = parts_->model.train_flow()) {
      content.texts[layout::kLabels] = labels_json(parts_->model.tower.get(), *train);
      content.texts[layout::kFitted] = fitted_json(fitted_data(*train));
    }
    std::erase_if(content.texts, [](const auto& text) { return text.second.empty(); });
  }
  save_checkpoint(path, std::move(content));
}

void Learner::load(const std::string& path) {
  const CheckpointContent content = load_checkpoint(path);
  if (parts_->graphs)
    load_variables(content, path, variables());
  else
    load_all_weights(variables(), content, path);
  parts_->global_step = content.step;
}

int64_t Learner::global_step() const { return parts_->global_step; }
const DataFlow& Learner::flow(const std::string& name) const { return parts_->model.flow(name); }
VariableStore& Learner::variables() { return parts_->device->variables(); }

}  // namespace tpack
