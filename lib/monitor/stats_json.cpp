#include "monitor/stats_json.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "system/file_io.h"

namespace tpack {
namespace {

constexpr const char* kEpoch = "epoch_num";
constexpr const char* kStep = "global_step";

nlohmann::ordered_json to_json_record(const StatRecord& record) {
  nlohmann::ordered_json out;
  for (const auto& [name, value] : record.scalars) out[name] = value;
  out[kEpoch] = record.at.epoch;
  out[kStep] = record.at.global_step;
  return out;
}

StatRecord from_json_record(const nlohmann::ordered_json& json) {
  StatRecord record;
  for (const auto& [name, value] : json.items()) {
    if (name == kEpoch) {
      record.at.epoch = value.get<int64_t>();
    } else if (name == kStep) {
      record.at.global_step = value.get<int64_t>();
    } else {
      record.scalars.emplace_back(
          name, value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
    }
  }
  return record;
}

}  // namespace

std::string stats_json(StatTable& table) {
  const std::string lines =
      table.lines([](const StatRecord& record) { return ",\n" + to_json_record(record).dump(); });
  return "[" + (lines.empty() ? "" : lines.substr(1)) + "\n]\n";
}

std::optional<std::vector<StatRecord>> read_stats_json(const std::string& path) {
  std::vector<StatRecord> records;
  try {
    const auto list = nlohmann::ordered_json::parse(read_whole_file(path).value_or(""));
    if (!list.is_array()) return std::nullopt;
    for (const auto& json : list) {
      if (!json.is_object()) return std::nullopt;
      records.push_back(from_json_record(json));
    }
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return records;
}

}  // namespace tpack
