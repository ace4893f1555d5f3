#include "learner/inference_model.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "backend/open_device.h"
#include "checkpoint/layout.h"
#include "graph/tower_description.h"
#include "learner/stored_data.h"
#include "predict/load_weights.h"
#include "predict/tower_of_trainer.h"

namespace tpack {

LoadedConfig stored_config(const CheckpointContent& content, const std::string& path,
                           const std::vector<std::string>& overrides) {
  const bool sets_variable = std::any_of(overrides.begin(), overrides.end(), [](const std::string& text) {
    return text.starts_with("vars.") || text.starts_with("vars=");
  });
  const auto written = content.texts.find(layout::kWritten);
  const auto folder = content.texts.find(layout::kWrittenIn);
  if (sets_variable && written != content.texts.end() && folder != content.texts.end()) {
    const auto name = std::filesystem::path(folder->second) / std::filesystem::path(path).filename();
    return load_model_config_text(written->second, name.string(), overrides);
  }
  const auto text = content.texts.find(layout::kConfig);
  if (text == content.texts.end())
    throw CheckpointError(path, "has no config: it was not written by `tpack train`");
  return load_model_config_text(text->second, path, overrides);
}

namespace {

void reject_plugins(const LoadedConfig& config, const std::string& path) {
  const ConfigNode* plugins = config.root.find("plugins");
  if (plugins == nullptr || plugins->size() == 0) return;
  throw ConfigError(plugins->position(), path + " names plugins, which run code: " + to_json(*plugins) +
                                             "; use --allow-plugins if you trust them");
}

}  // namespace

std::unique_ptr<InferenceModel> InferenceModel::load(const std::string& path,
                                                     const InferenceOptions& options) {
  const CheckpointContent content = load_checkpoint(path);
  std::unique_ptr<InferenceModel> model(new InferenceModel);
  model->source_ = stored_config(content, path, options.overrides);
  if (!options.allow_plugins) reject_plugins(model->source_, path);
  Diagnostics errors;
  model->config_ =
      parse_model_config(model->source_.root, std::filesystem::path(path).stem().string(), errors);
  errors.throw_if_any();
  model->fit_ = std::make_shared<Fit>(stored_fit(content, path).value_or(FittedData()));
  model->make_tower(content, path);
  EngineSettings engine = model->config_.engine;
  engine.algorithm = DeviceOptions::Algorithm::kHeuristic;  // no measurements for a few batches
  require_all_weights(model->tower_->description().variables(), content, path);
  model->weights_ =
      std::make_unique<InferenceTower>(*model->tower_, open_device(default_device().name, engine));
  load_weights(model->weights_->variables(), content);
  model->labels_ = stored_labels(content, path);
  return model;
}

InferenceModel::~InferenceModel() = default;

void InferenceModel::make_tower(const CheckpointContent& content, const std::string& path) {
  Diagnostics errors;
  if (!config_.model.is_null()) {
    std::map<std::string, DataFlow> made;
    const auto flow_of = [&](const std::string& name) -> const DataFlow* {
      if (!made.contains(name)) made.emplace(name, flow(name));
      return &made.at(name);
    };
    tower_ = tpack::make_tower(config_, source_.root, flow_of, errors);
  } else {
    tower_ = tower_of_trainer(source_.root, content, path, errors);
  }
  errors.throw_if_any();
  if (!tower_) throw ConfigError(path + ": its config has no model");
}

std::vector<std::string> InferenceModel::flow_names() const {
  std::vector<std::string> names;
  for (const auto& [name, node] : config_.data) names.push_back(name);
  return names;
}

DataFlow InferenceModel::flow(const std::string& name, SampleOrder order) const {
  const auto found = config_.data.find(name);
  if (found == config_.data.end()) throw unknown_reference("flow", name, {}, flow_names());
  Diagnostics errors;
  std::optional<DataFlow> made = make_flow(found->second, config_.data, errors, fit_, order);
  errors.throw_if_any();
  return std::move(*made);
}

std::vector<PredictOutput> InferenceModel::outputs() const {
  const ConfigNode& outputs = config_.predict.outputs;
  const std::string add = "the config of the model has no 'predict.outputs'; add --set 'predict={data: " +
                          std::string(config_.data.contains("validation") ? "validation" : "train");
  if (outputs.is_null() && config_.model.is_null()) {
    throw ConfigError(
        add +
        ", outputs: [NAME]}', with the name of an output of the trainer, and the flow that prepares files");
  }
  if (outputs.is_null()) {
    throw ConfigError(add +
                      ", outputs: {probability: {Softmax: LAYER}}}', with the layer of the scores, and the "
                      "flow that prepares files; for a generator, --set 'predict={data: train, outputs: "
                      "[LAYER]}', with its output layer, and --count N");
  }
  Diagnostics errors;
  std::vector<PredictOutput> parsed = parse_predict_outputs(outputs, errors);
  errors.throw_if_any();
  return parsed;
}

std::map<std::string, Tensor> InferenceModel::predict(const std::map<std::string, Tensor>& batch) const {
  {
    const std::lock_guard lock(making_);
    if (!predictor_) predictor_ = std::make_unique<NamedPredictor>(handle(), outputs());
  }
  return predictor_->run(batch);
}

}  // namespace tpack
