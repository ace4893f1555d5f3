#include "callbacks/best_saver.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/log.h"
#include "core/text.h"

namespace tpack {

BestSaver::BestSaver(std::string who, std::string prefix, Ref<Stat> monitor, Better better)
    : who_(std::move(who)),
      prefix_(std::move(prefix)),
      monitor_(std::move(monitor)),
      better_(std::move(better)) {}

std::string BestSaver::file_name() const {
  std::string stat = monitor_.name;
  std::replace(stat.begin(), stat.end(), '/', '-');
  return prefix_ + "-" + stat + ".h5";
}

void BestSaver::before_train(Run& run) {
  if (!best_ || run.folder().empty()) return;
  const std::string path = run.folder() + "/checkpoints/" + file_name();
  if (std::filesystem::exists(path)) return;
  log::info("there is no " + path + ": the best " + monitor_.name + " so far, " + shortest(*best_) +
            ", counts no more");
  best_.reset();
}

void BestSaver::trigger(Run& run) {
  const Monitors::History& history = run.monitors().get_history(monitor_.name);
  if (history.empty() || history.back().first != run.global_step()) return;  // nothing new
  const double value = history.back().second;
  if (std::isnan(value) || (best_ && !better_(value, *best_))) return;
  // The checkpoint holds this value as the best; where it cannot be written, it was none.
  const std::optional<double> before = best_;
  best_ = value;
  CheckpointRequest request;
  request.name = file_name();
  request.purpose = CheckpointRequest::Purpose::kKeepBest;
  request.saved = [this, value](const std::string& path) {
    log::info("saved " + path + ", " + monitor_.name + " is " + shortest(value));
  };
  request.failed = [this, before](const Error& /*error*/) { best_ = before; };
  run.request_checkpoint(std::move(request));
}

void BestSaver::save(State& state) const {
  if (best_) state.put("best", *best_);
}

void BestSaver::load(const State& state) {
  best_ = state.has("best") ? std::optional(state.get<double>("best")) : std::nullopt;
}

}  // namespace tpack
