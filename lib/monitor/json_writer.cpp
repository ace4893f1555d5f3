#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/file_io.h"
#include "core/log.h"
#include "core/registry.h"
#include "monitor/monitor.h"
#include "monitor/stat_table.h"

namespace tpack {
namespace {

constexpr const char* kJsonFile = "stats.json";
constexpr const char* kEpoch = "epoch_num";
constexpr const char* kStepKey = "global_step";

nlohmann::ordered_json to_json_record(const StatRecord& record) {
  nlohmann::ordered_json out;
  for (const auto& [name, value] : record.scalars) out[name] = value;  // NaN and infinities become null
  out[kEpoch] = record.at.epoch;
  out[kStepKey] = record.at.global_step;
  return out;
}

StatRecord from_json_record(const nlohmann::ordered_json& json) {
  StatRecord record;
  for (const auto& [name, value] : json.items()) {
    if (name == kEpoch) {
      record.at.epoch = value.get<int64_t>();
    } else if (name == kStepKey) {
      record.at.global_step = value.get<int64_t>();
    } else {
      record.scalars.emplace_back(
          name, value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
    }
  }
  return record;
}

/// The records of the file; empty where it is not JSON of this form.
std::optional<std::vector<StatRecord>> read_json(const std::string& path) {
  std::vector<StatRecord> records;
  try {
    std::ifstream file(path);
    const auto list = nlohmann::ordered_json::parse(file);
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

struct JsonWriterParams {
  double period_s = 10;
};

class JsonWriter final : public Monitor {
 public:
  using Params = JsonWriterParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Writes stats.json: a list of records {NAME: value, epoch_num, global_step}, one a step with "
               "values. A resumed run goes on with the file; a damaged one is kept as "
               "stats.json.MMDD-HHMMSS.")
        .field("period_s", &Params::period_s, at_least(0),
               "seconds between two writes within an epoch; the end of an epoch always writes");
  }
  explicit JsonWriter(Params p) : p_(p) {}

  void open(const RunRecord& run) override {
    if (run.folder.empty()) {
      log::warning("JSONWriter writes nothing, for the run has no log folder");
      return;
    }
    path_ = (std::filesystem::path(run.folder) / kJsonFile).string();
    table_.take_over_file(path_, read_json, run);
  }
  void put_scalar(const std::string& name, double value, const Moment& at) override {
    table_.put(name, value, at);
  }
  void end_step(const Moment& /*at*/) override {
    if (since_write_.seconds() >= p_.period_s) write();
  }
  void end_epoch(const Moment& /*at*/) override { write(); }
  void close() override { write(); }

 private:
  void write() {
    since_write_.reset();
    if (path_.empty()) return;
    std::string text = "[";
    for (const StatRecord& record : table_.records()) {
      text += (text.size() == 1 ? "\n" : ",\n") + to_json_record(record).dump();
    }
    write_whole_file(path_, text + "\n]\n");
  }

  Params p_;
  std::string path_;  // empty: no log folder
  StatTable table_;
  Stopwatch since_write_;
};

TPACK_REGISTER(Monitor, JsonWriter, "JSONWriter");

}  // namespace
}  // namespace tpack
