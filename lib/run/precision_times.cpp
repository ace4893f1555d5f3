#include "run/precision_times.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/digest.h"
#include "graph/tower_description.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

/// Has a file for each step.
std::string folder_in(const std::string& cache_dir) { return cache_dir + "/precisions"; }

/// "2026-11-28".
std::string today() {
  const std::string stamp = time_stamp();
  return stamp.substr(0, 4) + "-" + stamp.substr(4, 2) + "-" + stamp.substr(6, 2);
}

}  // namespace

std::string step_digest(const Experiment& experiment) {
  Trainer& trainer = *experiment.trainer;
  const auto model = trainer.part<TrainedModel>().model_handle();
  const VariableStore* store = trainer.part<TrainedVariables>().variables();
  if (!model || store == nullptr) return "";
  const StepSize size = trainer.part<StepData>().step_size();
  const Signature fed = batch_specs(*model->tower, std::max<int64_t>(size.batch, 1));
  std::string text = model->device->hardware() + "\n";
  for (const int64_t number : {size.towers, size.ranks, size.accumulate, int64_t{size.threads}})
    text += std::to_string(number) + "\n";
  text += model->tower->description({Phase::kTraining, experiment.config.engine.dtype}, fed).graph().str();
  for (const VariableSpec* variable : store->table().all())
    text += variable->name + " " + variable->spec.str() + "\n";
  return digest_of(text);
}

void save_precision_times(const std::string& cache_dir, const std::string& digest,
                          const std::map<Precision, double>& seconds) {
  if (cache_dir.empty() || digest.empty()) return;
  nlohmann::ordered_json root = {{"date", today()}};
  for (const auto& [precision, step_s] : seconds) root["step_s"][name_of(precision)] = step_s;
  std::error_code ignored;
  std::filesystem::create_directories(folder_in(cache_dir), ignored);
  try {
    write_whole_file(folder_in(cache_dir) + "/" + digest + ".json", root.dump(1) + "\n");
  } catch (const ResourceError& error) {
    log::debug(std::string("the times of precisions: ") + error.what());
  }
}

std::string faster_precision(const Experiment& experiment) {
  constexpr double kLeastGain = 1.1;
  const EngineSettings& engine = experiment.config.engine;
  const std::string chosen = name_of(engine.precision);
  const std::string folder = folder_in(engine.cache_dir);
  if (std::error_code none; !std::filesystem::exists(folder, none)) return "";
  const auto text = read_whole_file(folder + "/" + step_digest(experiment) + ".json");
  if (!text) return "";
  try {
    const auto root = nlohmann::json::parse(*text);
    const auto step_s = root.at("step_s").get<std::map<std::string, double>>();
    const auto own = step_s.find(chosen);
    if (own == step_s.end()) return "";
    const auto best = std::ranges::min_element(step_s, {}, [](const auto& one) { return one.second; });
    if (best->second <= 0 || own->second < kLeastGain * best->second) return "";
    char gain[32];
    std::snprintf(gain, sizeof gain, "%.2f", own->second / best->second);
    return best->first + " was " + gain + " times as fast as " + chosen + " in `tpack bench --compare` (" +
           root.at("date").get<std::string>() + "): --precision " + best->first;
  } catch (const nlohmann::json::exception&) {
    return "";
  }
}

}  // namespace tpack
