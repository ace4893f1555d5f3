#include "run/run_summary.h"

#include <nlohmann/json.hpp>

#include "checkpoint/retention.h"
#include "core/error.h"
#include "system/file_io.h"

namespace tpack {

std::string run_summary(const std::string& folder) {
  using json = nlohmann::ordered_json;
  json summary = {{"folder", folder}};
  try {
    if (const auto ended = read_whole_file(folder + "/exit.json")) {
      const json record = json::parse(*ended);
      for (const auto& [key, value] : record.items()) summary[key] = value;
    }
    if (const auto gates = read_whole_file(folder + "/gates.json")) summary["gates"] = json::parse(*gates);
    summary["statistics"] = json::object();
    const auto statistics = read_whole_file(folder + "/stats.json");
    if (statistics)
      if (const json all = json::parse(*statistics); !all.empty()) summary["statistics"] = all.back();
  } catch (const nlohmann::json::exception& error) {
    throw DataError(folder + ": exit.json or stats.json cannot be read: " + error.what());
  }
  summary["checkpoints"] = json::array();
  for (const CheckpointFile& file : list_checkpoints(folder + "/checkpoints"))
    summary["checkpoints"].push_back(file.path);
  for (const std::string& file : list_other_checkpoints(folder + "/checkpoints"))
    summary["checkpoints"].push_back(file);
  return summary.dump(1) + "\n";
}

}  // namespace tpack
