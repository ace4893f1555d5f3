#include "reports/fitted_batch.h"

#include <algorithm>
#include <map>
#include <optional>

#include "config/item_address.h"
#include "core/text.h"
#include "experiment/check.h"
#include "reports/memory_report.h"
#include "system/log.h"

namespace tpack {
namespace {

const std::string kKey = "data.train.BatchData";

std::string override_of(int64_t batch) { return kKey + ".batch_size=" + std::to_string(batch); }

/// The batch_size of data.train; null if there is none.
ConfigNode batch_size(const LoadedConfig& config) {
  const auto found = find_path({config.root, {}, config.structure}, split(kKey, '.'));
  if (!found) return {};
  if (!found->node.is_map()) return found->node;
  const ConfigNode* size = found->node.find("batch_size");
  return size == nullptr ? ConfigNode() : *size;
}

bool is_auto(const ConfigNode& size) { return size.is_string() && size.text() == "auto"; }

/// Nothing is logged while it lives: each trial would repeat the warnings.
class Silence {
 public:
  Silence() : before_(log::set_level(log::Level::kOff)) {}
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() { log::set_level(before_); }

 private:
  log::Level before_;
};

/// The peak memory with a batch; nothing if this machine does not have it.
struct TriedBatch {
  std::optional<uint64_t> bytes;
  std::optional<int64_t> samples;  // that a step may have at most: those of a pass, for each tower
};

class Fitting {
 public:
  Fitting(const std::string& path, const std::vector<std::string>& overrides, uint64_t budget)
      : path_(path), overrides_(overrides), budget_(budget) {}

  /// 0: not even one sample fits.
  int64_t run() {
    while (too_many_ - fits_ > step()) {
      const int64_t batch = next();
      const TriedBatch trial = tried(batch);
      if (trial.samples) too_many_ = std::min(too_many_, *trial.samples + 1);
      if (trial.bytes) bytes_[batch] = *trial.bytes;
      if (trial.bytes && *trial.bytes <= budget_)
        fits_ = batch;
      else
        too_many_ = batch;
    }
    return fits_;
  }
  uint64_t bytes_of(int64_t batch) const { return bytes_.at(batch); }

 private:
  int64_t step() const { return fits_ < 16 ? 1 : 8; }

  /// Between the two, where a line through their memory meets the budget; in the middle if that was tried in
  /// vain.
  int64_t next() const {
    constexpr size_t kLines = 6;
    if (bytes_.empty()) return 1;  // any pass has one; it tells how many
    double guess = 8.0 * static_cast<double>(fits_);
    if (too_many_ < kNone) guess = static_cast<double>(fits_ + too_many_) / 2;
    if (bytes_.size() < kLines && bytes_.contains(too_many_) && fits_ > 0) {
      const auto least = static_cast<double>(bytes_.at(fits_));
      const double slope =
          (static_cast<double>(bytes_.at(too_many_)) - least) / static_cast<double>(too_many_ - fits_);
      guess = static_cast<double>(fits_) + (static_cast<double>(budget_) - least) / slope;
    }
    const int64_t batch = static_cast<int64_t>(guess) / step() * step();
    return std::clamp(batch, fits_ + step(), too_many_ - 1);
  }

  TriedBatch tried(int64_t batch) {
    const Silence silence;
    std::vector<std::string> overrides = overrides_;
    overrides.push_back(override_of(batch));
    overrides.emplace_back("engine.memory_mb=null");  // a batch that needs more is no error here
    CheckedExperiment checked(path_, overrides, true);
    TriedBatch trial;
    const Experiment& e = checked.experiment();
    const auto batching = e.train_flow()->batching();
    if (batching && batching->samples && *batching->samples != kEndless)
      trial.samples = *batching->samples / e.trainer->part<StepData>().step_size().towers;
    try {
      checked.compile();
      MemoryReport report = report_memory(checked);
      // What this process holds after several trials says nothing about a process that trains.
      if (!process_) process_ = report.program + report.data;
      trial.bytes = report.total() - report.program - report.data + *process_;
    } catch (const ResourceError&) {
      // more than this machine has
    }
    return trial;
  }

  static constexpr int64_t kNone = int64_t{1} << 24;

  const std::string& path_;
  const std::vector<std::string>& overrides_;
  uint64_t budget_ = 0;
  int64_t fits_ = 0;
  int64_t too_many_ = kNone;
  std::map<int64_t, uint64_t> bytes_;  // of what was tried
  std::optional<uint64_t> process_;
};

}  // namespace

bool has_automatic_batch(const std::string& path, const std::vector<std::string>& overrides) {
  return is_auto(batch_size(load_experiment_config(path, overrides)));
}

std::string fitted_batch(const std::string& path, const std::vector<std::string>& overrides) {
  const LoadedConfig config = load_experiment_config(path, overrides);
  const ConfigNode size = batch_size(config);
  const auto limit = find_path({config.root, {}, config.structure}, {"engine", "memory_mb"});
  if (!limit)
    throw ConfigError(size.position(),
                      "batch_size: auto needs a limit: write engine: {memory_mb: 2000}, the MB "
                      "(10^6 bytes) that training may take");
  if (limit->node.kind() != ConfigNode::Kind::kInt || limit->node.as_int() < 1)
    throw ConfigError(
        limit->node.position(),
        "engine.memory_mb: batch_size: auto needs an integer from 1 on, the MB (10^6 bytes) that "
        "training may take");
  const uint64_t memory = static_cast<uint64_t>(limit->node.as_int()) * 1'000'000;
  const uint64_t budget = memory / 100 * 99;  // two processes with one config differ by a few MB
  Fitting fitting(path, overrides, budget);
  const int64_t batch = fitting.run();
  if (batch == 0)
    throw ResourceError("training does not fit in engine.memory_mb, " + human_bytes(memory) +
                        ", less 1 % in reserve, even with a batch of one sample");
  log::info("batch_size: auto is " + std::to_string(batch) + ": the predicted peak is " +
            human_bytes(fitting.bytes_of(batch)) + " of " + human_bytes(memory) +
            ", 1 % of which is reserve");
  return override_of(batch);
}

std::string batch_of(const std::string& config) {
  const ConfigNode size = batch_size(load_experiment_config_text(config, "config.yaml"));
  return size.kind() == ConfigNode::Kind::kInt ? override_of(size.as_int()) : "";
}

}  // namespace tpack
