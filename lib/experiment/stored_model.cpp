#include "experiment/stored_model.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "checkpoint/layout.h"
#include "predict/class_counts.h"
#include "predict/load_weights.h"
#include "system/machine.h"

namespace tpack {
namespace {

/// The effective config has no expressions, so a change of a variable needs the one that was written.
LoadedConfig stored_config(const CheckpointContent& content, const std::string& path,
                           const std::vector<std::string>& overrides) {
  const bool sets_variable = std::any_of(overrides.begin(), overrides.end(), [](const std::string& text) {
    return text.starts_with("vars.") || text.starts_with("vars=");
  });
  const auto written = content.texts.find(layout::kWritten);
  const auto folder = content.texts.find(layout::kWrittenIn);
  if (sets_variable && written != content.texts.end() && folder != content.texts.end()) {
    const auto name = std::filesystem::path(folder->second) / std::filesystem::path(path).filename();
    return load_experiment_config_text(written->second, name.string(), overrides);
  }
  const auto text = content.texts.find(layout::kConfig);
  if (text == content.texts.end())
    throw CheckpointError(path, "holds no config: it was not written by `tpack train`");
  return load_experiment_config_text(text->second, path, overrides);
}

void reject_plugins(const LoadedConfig& config, const std::string& path) {
  const ConfigNode* plugins = config.root.find("plugins");
  if (plugins == nullptr || plugins->size() == 0) return;
  throw ConfigError(plugins->position(), path + " names plugins, which run code: " + to_json(*plugins) +
                                             "; use --allow-plugins if you trust them");
}

}  // namespace

std::vector<std::string> stored_labels(const CheckpointContent& content, const std::string& path) {
  const auto text = content.texts.find(layout::kLabels);
  if (text == content.texts.end()) return {};
  try {
    return nlohmann::json::parse(text->second).get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(path, std::string("its labels are not a list of strings: ") + error.what());
  }
}

std::string fitted_json(const FittedData& fitted) {
  auto all = nlohmann::ordered_json::array();
  for (const FittedComponent& one : fitted.components())
    all.push_back({{"source", one.source},
                   {"component", one.component},
                   {"columns", one.columns},
                   {"classes", one.classes}});
  return all.dump();
}

std::optional<FittedData> stored_fit(const CheckpointContent& content, const std::string& path) {
  const auto text = content.texts.find(layout::kFitted);
  if (text == content.texts.end()) return std::nullopt;
  try {
    std::vector<FittedComponent> all;
    for (const auto& one : nlohmann::json::parse(text->second))
      all.push_back({one.at("source"), one.at("component"), one.at("columns"), one.at("classes")});
    return FittedData(std::move(all));
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(path,
                          std::string("what it keeps of the training data is damaged: ") + error.what());
  }
}

StoredModel::StoredModel(const std::string& path, const std::vector<std::string>& overrides,
                         bool allow_plugins) {
  const CheckpointContent content = load_checkpoint(path);
  LoadedConfig config = stored_config(content, path, overrides);
  if (!allow_plugins) reject_plugins(config, path);
  experiment_ = make_experiment(std::move(config), std::filesystem::path(path).stem().string(),
                                stored_fit(content, path).value_or(FittedData()));
  if (!experiment_.tower && experiment_.trainer)
    experiment_.tower = experiment_.trainer->stored_tower(content, path);
  if (!experiment_.tower) throw ConfigError(path + ": its config has no model");
  EngineSettings engine = experiment_.config.engine;
  engine.algorithm = DeviceOptions::Algorithm::kHeuristic;  // nothing is measured for a few batches
  const int threads = engine.threads > 0 ? engine.threads : static_cast<int>(available_processors());
  tower_ = std::make_unique<InferenceTower>(*experiment_.tower, open_device("cpu:0", engine, threads));
  load_all_weights(tower_->variables(), content, path);
  labels_ = stored_labels(content, path);
}

std::string labels_json(const TowerFunction* tower, const DataFlow& flow) {
  const ComponentSpec* labels = label_component(tower, flow);
  return labels == nullptr ? "" : nlohmann::json(labels->classes).dump();
}

}  // namespace tpack
