#include "run/run_status.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "config/yaml_reader.h"
#include "core/error.h"
#include "core/text.h"
#include "experiment/experiment_config.h"
#include "monitor/stats_json.h"
#include "system/file_io.h"

namespace tpack {
namespace {

constexpr double kMinStallS = 120;
constexpr double kStallEpochs = 3;

std::optional<double> last_value(const std::vector<StatRecord>& records, const std::string& statistic) {
  std::optional<double> last;
  for (const StatRecord& record : records) {
    for (const auto& [name, value] : record.scalars)
      if (name == statistic && std::isfinite(value)) last = value;
  }
  return last;
}

/// "[1123 12:24:27] text" without the time.
std::string without_time(const std::string& line) {
  const size_t end = line.starts_with('[') ? line.find("] ") : std::string::npos;
  return end == std::string::npos ? line : line.substr(end + 2);
}

}  // namespace

const char* status_name(RunStatus::State state) {
  switch (state) {
    case RunStatus::State::kRunning:
      return "running";
    case RunStatus::State::kStalled:
      return "stalled";
    case RunStatus::State::kFinished:
      return "finished";
    case RunStatus::State::kPaused:
      return "paused";
    case RunStatus::State::kInterrupted:
      return "interrupted";
    case RunStatus::State::kFailed:
      return "failed";
  }
  return "";
}

RunWatch::Stamp RunWatch::stamp_of(const std::string& path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0) return {};
  return {static_cast<double>(about.st_mtim.tv_sec) + 1e-9 * static_cast<double>(about.st_mtim.tv_nsec),
          static_cast<uint64_t>(about.st_size)};
}

bool RunWatch::has_changed(const char* name, Stamp& seen) const {
  const Stamp now = stamp_of(folder_ + "/" + name);
  if (now == seen) return false;
  seen = now;
  return true;
}

void RunWatch::refresh(double now_s) {
  if (has_changed("config.yaml", config_)) read_config();
  if (has_changed(kStatsFile, stats_)) read_statistics();
  if (has_changed("log.txt", log_)) read_log();
  if (has_changed("exit.json", exit_)) read_exit();
  const double quiet_s = now_s - std::max(stats_.time_s, log_.time_s);
  const std::optional<double> epoch_s = seconds_of_epoch();
  const bool is_quiet = quiet_s > std::max(kMinStallS, kStallEpochs * epoch_s.value_or(0));
  status_.state = has_ended_ ? ending_ : is_quiet ? RunStatus::State::kStalled : RunStatus::State::kRunning;
  status_.message = has_ended_ && ending_ == RunStatus::State::kFailed ? reason_ : last_line_;
  status_.seconds_left.reset();
  if (status_.state != RunStatus::State::kRunning || !status_.max_epoch || !epoch_s) return;
  const double all_s = static_cast<double>(*status_.max_epoch - status_.epoch) * *epoch_s;
  status_.seconds_left = std::max(0.0, all_s - std::max(0.0, now_s - stats_.time_s));
}

/// Writers replace the file as a whole, so it is never half-written.
void RunWatch::read_statistics() {
  records_ = read_stats_json(folder_ + "/" + kStatsFile).value_or(std::vector<StatRecord>());
  status_.epoch = records_.empty() ? 0 : records_.back().at.epoch;
  status_.global_step = records_.empty() ? 0 : records_.back().at.global_step;
  status_.samples_per_s = last_value(records_, "samples_per_s");
}

void RunWatch::read_config() {
  status_.max_epoch.reset();
  const auto text = read_whole_file(folder_ + "/config.yaml");
  if (!text) return;
  try {
    const ConfigNode config = parse_yaml(*text, "config.yaml");
    const ConfigNode* last = config.find("max_epoch");
    const bool is_set = last != nullptr && last->kind() == ConfigNode::Kind::kInt;
    if (is_set && last->as_int() != ExperimentConfig{}.max_epoch) status_.max_epoch = last->as_int();
  } catch (const ConfigError&) {
    // Not the config of a run; the rest can be shown.
  }
}

void RunWatch::read_log() {
  constexpr std::streamoff kMax = 4096;
  std::ifstream file(folder_ + "/log.txt", std::ios::binary);
  file.seekg(0, std::ios::end);
  file.seekg(std::max<std::streamoff>(0, file.tellg() - kMax));
  last_line_.clear();
  for (std::string line; std::getline(file, line);)
    if (!trim(line).empty()) last_line_ = without_time(line);
}

void RunWatch::read_exit() {
  has_ended_ = false;
  const auto text = read_whole_file(folder_ + "/exit.json");
  if (!text) return;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("exit_code") || !json["exit_code"].is_number_integer()) return;
  has_ended_ = true;
  const int code = json["exit_code"].get<int>();
  const bool is_paused = json.contains("is_paused") && json["is_paused"] == true;
  ending_ = code == 0    ? (is_paused ? RunStatus::State::kPaused : RunStatus::State::kFinished)
            : code > 128 ? RunStatus::State::kInterrupted
                         : RunStatus::State::kFailed;
  const auto reason = json.find("reason");
  reason_ = reason != json.end() && reason->is_string() ? reason->get<std::string>() : "";
  reason_ = reason_.substr(0, reason_.find('\n'));
}

/// From the speed of the steps, without validation.
std::optional<double> RunWatch::seconds_of_epoch() const {
  const std::optional<double> speed = last_value(records_, "steps_per_s");
  if (!speed || *speed <= 0 || status_.epoch < 1) return std::nullopt;
  return static_cast<double>(status_.global_step) / static_cast<double>(status_.epoch) / *speed;
}

bool holds_a_run(const std::string& folder) {
  namespace fs = std::filesystem;
  return fs::exists(folder + "/" + kStatsFile) || fs::exists(folder + "/log.txt");
}

}  // namespace tpack
