#include "backend/plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/text.h"

namespace tpack {
namespace {

using nlohmann::json;

constexpr int kVersion = 2;
constexpr const char* kHardware = "hardware";
constexpr const char* kOldHardware = "cpu";  // its earlier name
constexpr const char* kPrecision = "precision";

/// Reads the values of a plan; `place` is the path to one, "sections / NAME / nodes".
class PlanReader {
 public:
  explicit PlanReader(std::string source) : source_(std::move(source)) {}

  [[noreturn]] void reject(const std::string& what) const {
    throw PlanError(source_ + ": is not a valid plan (the plan.json of a run folder): " + what);
  }
  const json& object(const json& node, const std::string& place) const {
    if (!node.is_object()) reject("'" + place + "' is not a map: " + shown(node));
    return node;
  }
  /// The value of a required key.
  const json& at(const json& node, const std::string& place, const char* key) const {
    const auto found = object(node, place).find(key);
    if (found == node.end()) reject("'" + joined(place, key) + "' is missing");
    return *found;
  }
  std::string text(const json& node, const std::string& place, const char* key) const {
    const json& value = at(node, place, key);
    if (!value.is_string()) reject("'" + joined(place, key) + "' is not a string: " + shown(value));
    return value.get<std::string>();
  }
  int number_from_1(const json& node, const std::string& place, const char* key) const {
    const json& value = at(node, place, key);
    constexpr int kMax = PlanSection::kMaxPieces;
    if (!value.is_number_integer() || value < 1 || value > kMax)
      reject("'" + joined(place, key) + "' is not a number from 1 to " + std::to_string(kMax) + ": " +
             shown(value));
    return value.get<int>();
  }
  void reject_others(const json& node, const std::string& place, const std::vector<std::string>& keys) const {
    for (const auto& [key, value] : node.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        reject("unknown key '" + joined(place, key) + "'" + did_you_mean(key, keys));
    }
  }
  static std::string joined(const std::string& place, const std::string& key) {
    return place.empty() ? key : place + " / " + key;
  }

 private:
  static std::string shown(const json& value) {
    constexpr size_t kMax = 40;
    const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return text.size() <= kMax ? text : value.type_name();
  }

  std::string source_;
};

PlanSection read_section(const PlanReader& reader, const json& section, const std::string& place) {
  PlanSection out;
  out.pieces = reader.number_from_1(section, place, "pieces");
  out.chosen = true;
  const json& nodes = reader.at(section, place, "nodes");
  reader.reject_others(section, place, {"pieces", "nodes"});
  const std::string below = PlanReader::joined(place, "nodes");
  for (const auto& [path, choice] : reader.object(nodes, below).items()) {
    const std::string node = PlanReader::joined(below, path);
    out.nodes[path] = {reader.text(choice, node, "layout"), reader.text(choice, node, "algorithm")};
    reader.reject_others(choice, node, {"layout", "algorithm"});
  }
  return out;
}

}  // namespace

std::string Plan::to_json() const {
  nlohmann::ordered_json root;
  root["tpack_plan"] = kVersion;
  root[kHardware] = hardware;
  if (!precision.empty()) root[kPrecision] = precision;
  root["sections"] = nlohmann::ordered_json::object();
  for (const auto& [name, section] : sections) {
    nlohmann::ordered_json nodes = nlohmann::ordered_json::object();
    for (const auto& [path, choice] : section.nodes) {
      nodes[path] = {{"layout", choice.layout}, {"algorithm", choice.algorithm}};
    }
    root["sections"][name] = {{"pieces", section.pieces}, {"nodes", nodes}};
  }
  return root.dump(1) + "\n";
}

Plan Plan::from_json(const std::string& text, const std::string& source) {
  const PlanReader reader(source);
  json root;
  try {
    root = json::parse(text);
  } catch (const json::exception& error) {
    const std::string cause = error.what();  // "[json.exception.parse_error.101] parse error at line 2..."
    reader.reject(cause.substr(cause.find("] ") + 2));
  }
  if (!root.is_object()) reader.reject("the file is not a map");
  if (const json& version = reader.at(root, "", "tpack_plan"); version != kVersion)
    throw PlanError(source + ": plan version " + version.dump() + "; this build supports " +
                    std::to_string(kVersion));
  const char* const hardware = root.contains(kOldHardware) ? kOldHardware : kHardware;
  reader.reject_others(root, "", {"tpack_plan", hardware, kPrecision, "sections"});
  Plan plan;
  plan.source = source;
  plan.hardware = reader.text(root, "", hardware);
  if (root.contains(kPrecision)) plan.precision = reader.text(root, "", kPrecision);
  for (const auto& [name, section] : reader.object(reader.at(root, "", "sections"), "sections").items())
    plan.sections[name] = read_section(reader, section, PlanReader::joined("sections", name));
  return plan;
}

}  // namespace tpack
