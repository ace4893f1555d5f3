#include "run/data_changes.h"

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace tpack {

DataRecord::DataRecord(const std::map<std::string, DataFlow>& flows) {
  for (const auto& [name, flow] : flows) {
    std::string fingerprint = flow.fingerprint();
    if (!fingerprint.empty()) flows_[name] = {std::move(fingerprint), describe(flow.facts())};
  }
}

DataRecord DataRecord::from_json(const std::string& text, const std::string& source) {
  DataRecord record;
  try {
    const auto json = nlohmann::json::parse(text);
    for (const auto& [name, flow] : json.items())
      record.flows_[name] = {flow.at("fingerprint").get<std::string>(), flow.at("facts").get<std::string>()};
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(source, std::string("its description of the data is damaged: ") + error.what());
  }
  return record;
}

std::string DataRecord::to_json() const {
  auto json = nlohmann::json::object();
  for (const auto& [name, flow] : flows_)
    json[name] = {{"fingerprint", flow.fingerprint}, {"facts", flow.facts}};
  return json.dump();
}

std::map<std::string, std::string> DataRecord::changes_since(const DataRecord& earlier) const {
  std::map<std::string, std::string> changes;
  for (const auto& [name, now] : flows_) {
    const auto then = earlier.flows_.find(name);
    if (then == earlier.flows_.end() || then->second.fingerprint == now.fingerprint) continue;
    const std::string how = then->second.facts == now.facts
                                ? "still " + now.facts + ", but names, sizes or dates of files differ"
                                : "it was " + then->second.facts + "; it is " + now.facts;
    const std::string what_follows =
        name == "train" ? "; the run continues, possibly with different samples"
                        : "; statistics of " + name + " cannot be compared with those before the checkpoint";
    changes[name] = "data." + name + " has changed since the checkpoint: " + how + what_follows;
  }
  return changes;
}

void require_same_data(Comm& world, const std::map<std::string, DataFlow>& flows) {
  if (world.size() == 1) return;
  for (const auto& [name, flow] : flows) {
    const std::vector<std::string> all = world.all_gather(describe(flow.facts()), "the content of the data");
    for (size_t rank = 1; rank < all.size(); ++rank) {
      if (all[rank] == all[0]) continue;
      throw DistributedError("data." + name + ": rank " + std::to_string(rank) + " has " + all[rank] +
                             ", but rank 0 has " + all[0] +
                             "; all ranks need the same data, because each takes a share of it");
    }
  }
}

}  // namespace tpack
