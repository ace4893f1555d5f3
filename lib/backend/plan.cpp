#include "backend/plan.h"

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace tpack {
namespace {

constexpr int kVersion = 1;

}  // namespace

std::string Plan::to_json() const {
  nlohmann::ordered_json root;
  root["tpack_plan"] = kVersion;
  root["cpu"] = cpu;
  root["sections"] = nlohmann::ordered_json::object();
  for (const auto& [name, section] : sections) {
    nlohmann::ordered_json nodes = nlohmann::ordered_json::object();
    for (const auto& [path, choice] : section.nodes) {
      nodes[path] = {{"layout", choice.layout}, {"algorithm", choice.algorithm}};
    }
    root["sections"][name] = {{"threads", section.threads}, {"nodes", nodes}};
  }
  return root.dump(1) + "\n";
}

Plan Plan::from_json(const std::string& text, const std::string& source) {
  try {
    const auto root = nlohmann::json::parse(text);
    if (root.at("tpack_plan").get<int>() != kVersion) {
      throw ConfigError(source + ": plan version " + root.at("tpack_plan").dump() + "; this build reads 1");
    }
    Plan plan;
    plan.cpu = root.at("cpu").get<std::string>();
    for (const auto& [name, section] : root.at("sections").items()) {
      PlanSection& into = plan.sections[name];
      into.threads = section.at("threads").get<int>();
      for (const auto& [path, choice] : section.at("nodes").items()) {
        into.nodes[path] = {choice.at("layout").get<std::string>(),
                            choice.at("algorithm").get<std::string>()};
      }
    }
    return plan;
  } catch (const nlohmann::json::exception& error) {
    const std::string cause = error.what();  // "[json.exception.parse_error.101] parse error at line 2..."
    throw ConfigError(
        source + ": is no whole plan (the plan.json of a run folder): " + cause.substr(cause.find("] ") + 2));
  }
}

}  // namespace tpack
