#include "learner/stored_data.h"

#include <nlohmann/json.hpp>

#include "checkpoint/layout.h"
#include "core/error.h"
#include "predict/class_counts.h"

namespace tpack {

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
                   {"classes", one.classes},
                   {"learned", one.learned}});
  for (const auto& [name, state] : fitted.maps()) all.push_back({{"map", name}, {"state", state.to_json()}});
  return all.dump();
}

std::optional<FittedData> stored_fit(const CheckpointContent& content, const std::string& path) {
  const auto text = content.texts.find(layout::kFitted);
  if (text == content.texts.end()) return std::nullopt;
  try {
    std::vector<FittedComponent> all;
    std::map<std::string, State> maps;
    for (const auto& one : nlohmann::json::parse(text->second)) {
      if (one.contains("map"))
        maps[one.at("map")] = State::from_json(one.at("state"), path);
      else
        all.push_back({one.at("source"), one.at("component"), one.at("columns"), one.at("classes"),
                       one.value("learned", "")});
    }
    return FittedData(std::move(all), std::move(maps));
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(
        path, std::string("its values learned from the training data are damaged: ") + error.what());
  }
}

std::string labels_json(const TowerFunction* tower, const DataFlow& flow) {
  const ComponentSpec* labels = label_component(tower, flow);
  return labels == nullptr ? "" : nlohmann::json(labels->classes).dump();
}

}  // namespace tpack
