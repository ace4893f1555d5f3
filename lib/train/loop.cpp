#include "train/loop.h"

#include <algorithm>
#include <filesystem>

#include "core/clock.h"
#include "core/log.h"
#include "core/stop.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr const char* kRunState = "run/json";
constexpr const char* kHistory = "monitors/json";

/// Ends the loops for a reason that is no error.
struct EndOfRun {
  Ending ending;
  std::string reason;
};

}  // namespace

Loop::Loop(Trainer& trainer, std::vector<NamedCallback> callbacks, Monitors& monitors, LoopOptions options)
    : trainer_(trainer),
      monitors_(monitors),
      options_(std::move(options)),
      run_(trainer, monitors, options_.length, options_.folder, options_.flows, options_.world->rank() == 0),
      first_epoch_(options_.length.starting_epoch) {
  Diagnostics errors;
  std::vector<std::string> provided;
  for (NamedCallback& named : callbacks) {
    if (!run_.is_chief() && named.callback->chief_only()) continue;
    try {
      Setup setup(trainer_, run_, provided);
      named.callback->setup(setup);
      provided.insert(provided.end(), setup.provided().begin(), setup.provided().end());
    } catch (const ConfigError& error) {
      errors.add(error, named.position);
    }
    callbacks_.push_back(std::move(named));
  }
  errors.throw_if_any();
  trainer_.initialize();
}

void Loop::each(const std::function<void(Callback&)>& hook) {
  for (const NamedCallback& named : callbacks_) hook(*named.callback);
}

LoopResult Loop::run() {
  monitors_.open({options_.folder, first_epoch_, run_.global_step_, resumed_});
  monitors_.set_moment({run_.epoch_, run_.global_step_});
  try {
    each([&](Callback& c) { c.before_train(run_); });
    epochs();
    result_.reason = "max_epoch " + std::to_string(options_.length.max_epoch) + " is done";
  } catch (const StopTraining& stop) {
    result_.ending = Ending::kStopped;
    result_.reason = stop.reason;
    write_requested();
  } catch (const EndOfRun& end) {
    result_.ending = end.ending;
    result_.reason = end.reason;
  } catch (...) {
    log::error("training failed at global_step " + std::to_string(run_.global_step_));
    after_train();
    throw;
  }
  log::info("training has finished: " + result_.reason);
  after_train();
  result_.epoch = run_.epoch_;
  result_.global_step = run_.global_step_;
  return result_;
}

void Loop::epochs() {
  for (int64_t epoch = first_epoch_; epoch <= options_.length.max_epoch; ++epoch) {
    run_.epoch_ = epoch;
    this->epoch(epoch == first_epoch_ ? first_local_step_ : 0);
  }
}

void Loop::epoch(int64_t first_step) {
  run_.local_step_ = first_step - 1;
  monitors_.set_moment({run_.epoch_, run_.global_step_});
  each([&](Callback& c) { c.before_epoch(run_); });
  const Stopwatch watch;
  const InputStats before = trainer_.input_stats();
  run_starting_step_ = run_.global_step_;
  for (int64_t step = first_step; step < options_.length.steps_per_epoch; ++step) {
    run_.local_step_ = step;
    if (!one_step()) {
      run_.local_step_ = step - 1;
      throw EndOfRun{Ending::kEndOfData,
                     "the data ended at global_step " + std::to_string(run_.global_step_)};
    }
  }
  each([&](Callback& c) { c.after_epoch(run_); });
  report_epoch(watch.seconds(), before);
  each([&](Callback& c) { c.trigger_epoch(run_); });
  monitors_.end_epoch();
  write_requested();
}

bool Loop::one_step() {
  if (interrupted()) {
    --run_.local_step_;
    std::string path;
    if (!options_.folder.empty())
      write_checkpoint("model-" + std::to_string(run_.global_step_) + ".h5", path);
    throw EndOfRun{Ending::kInterrupted, "interrupted at global_step " + std::to_string(run_.global_step_) +
                                             (path.empty() ? "" : ", saved " + path)};
  }
  for (const NamedCallback& named : callbacks_) named.callback->before_run(run_);
  bool went = false;
  try {
    went = trainer_.step(run_.global_step_, options_.interrupt);
  } catch (const Stopped&) {
    return one_step();  // the wait for data was interrupted: now the step is not begun
  }
  if (!went) return false;
  ++run_.global_step_;
  monitors_.set_moment({run_.epoch_, run_.global_step_});
  for (const NamedCallback& named : callbacks_) named.callback->after_run(run_);
  for (const NamedCallback& named : callbacks_) named.callback->trigger_step(run_);
  monitors_.end_step();
  if (!run_.requests_.empty()) write_requested();
  return true;
}

bool Loop::interrupted() {
  const bool here = options_.interrupt.stop_requested();
  if (options_.world->size() == 1) return here;
  return options_.world->agree_max(here ? 1 : 0, "the stop signal") > 0;
}

void Loop::report_epoch(double seconds, const InputStats& before) const {
  const int64_t steps = run_.global_step_ - run_starting_step_;
  const StepSize size = trainer_.step_size();
  std::string text = "Epoch " + std::to_string(run_.epoch_) + " (global_step " +
                     std::to_string(run_.global_step_) + ") finished, " + human_duration(seconds);
  if (steps > 0 && seconds > 0) {
    const double samples = static_cast<double>(steps * size.batch * size.towers * size.ranks);
    if (samples > 0) text += ", " + with_thousands(static_cast<int64_t>(samples / seconds)) + " samples/s";
    const double waited = trainer_.input_stats().wait_s - before.wait_s;
    char share[64];
    std::snprintf(share, sizeof share, ", %.1f %% waiting for data",
                  100 * waited / (seconds * static_cast<double>(size.towers)));
    text += share;
  }
  log::info(text);
}

void Loop::write_requested() {
  std::vector<Run::CheckpointRequest> requests;
  std::swap(requests, run_.requests_);
  for (const Run::CheckpointRequest& request : requests) {
    std::string path;
    if (write_checkpoint(request.name, path)) request.done(path);
  }
}

bool Loop::write_checkpoint(const std::string& name, std::string& path) {
  if (!run_.is_chief()) return false;
  const std::filesystem::path file = std::filesystem::path(options_.folder) / "checkpoints" / name;
  try {
    std::error_code ignored;
    std::filesystem::create_directories(file.parent_path(), ignored);
    save_checkpoint(file.string(), checkpoint_content());
    path = file.string();
    result_.last_save_failed = false;
    return true;
  } catch (const Error& error) {
    log::error(std::string("a checkpoint was not saved, training goes on: ") + error.what());
    result_.last_save_failed = true;
    return false;
  }
}

CheckpointContent Loop::checkpoint_content() const {
  CheckpointContent content;
  content.step = run_.global_step_;
  content.epoch = run_.epoch_;
  State state;
  state.put("epoch", run_.epoch_);
  state.put("local_step", run_.local_step_);
  state.put("global_step", run_.global_step_);
  state.put("steps_per_epoch", options_.length.steps_per_epoch);
  content.texts[kRunState] = state.to_json();
  content.texts[kHistory] = monitors_.save();
  for (const NamedCallback& named : callbacks_) {
    State own;
    named.callback->save(own);
    if (!own.empty()) content.texts["callbacks/" + named.name] = own.to_json();
  }
  trainer_.save(content);
  if (options_.add_to_checkpoint) options_.add_to_checkpoint(content);
  return content;
}

void Loop::resume(const CheckpointContent& content, const std::string& source) {
  const auto text = [&](const std::string& name) -> const std::string& {
    const auto found = content.texts.find(name);
    if (found == content.texts.end())
      throw CheckpointError(source, "has no '" + name + "': it was not written by training");
    return found->second;
  };
  const State state = State::from_json(text(kRunState), source);
  run_.epoch_ = state.get<int64_t>("epoch");
  run_.local_step_ = state.get<int64_t>("local_step");
  run_.global_step_ = state.get<int64_t>("global_step");
  const bool finished = run_.local_step_ + 1 >= options_.length.steps_per_epoch;
  first_epoch_ = run_.epoch_ + (finished ? 1 : 0);
  first_local_step_ = finished ? 0 : run_.local_step_ + 1;
  trainer_.load(content, source);
  monitors_.load(text(kHistory));
  for (const NamedCallback& named : callbacks_) {
    const auto own = content.texts.find("callbacks/" + named.name);
    named.callback->load(own == content.texts.end() ? State() : State::from_json(own->second, source));
  }
  resumed_ = true;
}

void Loop::after_train() {
  for (const NamedCallback& named : callbacks_) {
    try {
      named.callback->after_train(run_);
    } catch (const std::exception& error) {
      log::error("callback " + named.name + " failed in after_train: " + error.what());
    }
  }
  monitors_.close();
}

}  // namespace tpack
