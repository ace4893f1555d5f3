// Anything that runs in a loop: callbacks, schedules and checkpoints around a step that is not a neural
// network.
#include <cmath>
#include <filesystem>
#include <unistd.h>

#include "comm/self_comm.h"
#include "standalone/expect.h"
#include "train/loop.h"
#include "train/own_variables.h"

namespace tpack {
namespace {

constexpr const char* kTemperature = "temperature";

/// Rosenbrock's function: 0 at (1, 1), at the bottom of a long bent valley.
double height(const double* at) { return std::pow(1 - at[0], 2) + 100 * std::pow(at[1] - at[0] * at[0], 2); }

/// Searches for the lowest point by simulated annealing. A step tries one move; its random numbers depend
/// only on the number of the step.
class Annealing final : public Trainer, public TrainedVariables, public StepStatistics {
 public:
  bool step(int64_t global_step, const std::stop_token& /*stop*/) override {
    Rng rng(mix(3, static_cast<uint64_t>(global_step)));
    const double temperature = hyper_parameter(kTemperature);
    const double reach = 0.02 + 0.2 * std::min(1.0, temperature);
    const double tried[] = {place()[0] + reach * (2 * rng.uniform() - 1),
                            place()[1] + reach * (2 * rng.uniform() - 1)};
    const double rise = height(tried) - height(place());
    if (rise < 0 || rng.uniform() < std::exp(-rise / temperature)) std::copy_n(tried, 2, place());
    return true;
  }
  VariableStore* variables() const override { return variables_.store(); }
  std::vector<StepStatistic> statistics() const override { return {{"height", true}}; }
  std::optional<double> statistic(size_t /*index*/) const override { return height(place()); }
  double* place() const { return variables_.data<double>("place"); }

 private:
  OwnVariables variables_{{{"place", Tensor::of<double>({2}, {-1.5, 2})}}, {{kTemperature, 10}}};
};

/// Gives `height_now`, and stops the run when it is low enough; the callbacks after it still save it.
class StopWhenLow final : public Callback {
 public:
  explicit StopWhenLow(double enough) : enough_(enough) {}
  void setup(Setup& setup) override {
    height_ = setup.statistic({"height"});
    setup.provides("height_now");
  }
  void trigger(Run& run) override {
    const double height = *run.statistic(height_);
    run.monitors().put_scalar("height_now", height);
    if (height < enough_) run.request_stop("low enough");
  }

 private:
  double enough_;
  size_t height_ = 0;
};

constexpr RunLength kLength = {.max_epoch = 100, .steps_per_epoch = 500};
constexpr double kCooling = 0.85;  // per epoch

/// Cools down during the run, and keeps the lowest place and checkpoints.
struct OwnRun {
  explicit OwnRun(const std::string& folder) {
    std::vector<ConfigNode> cooling;
    for (int64_t epoch = 1; epoch < kLength.max_epoch; ++epoch)
      cooling.push_back(ConfigNode::list({epoch, 10 * std::pow(kCooling, static_cast<double>(epoch))}));
    std::vector<NamedCallback> callbacks;
    callbacks.push_back({"cooling", Registry<Callback>::make(
                                        "ScheduledHyperParamSetter",
                                        {{"param", kTemperature}, {"values", ConfigNode::list(cooling)}})});
    callbacks.push_back({"saver", Registry<Callback>::make("ModelSaver", {{"keep", 1000}})});
    callbacks.push_back({"stop", std::make_unique<StopWhenLow>(1e-5)});
    callbacks.push_back({"best", Registry<Callback>::make("MinSaver", {{"monitor", "height_now"}})});
    LoopOptions options{.length = kLength, .folder = folder};
    options.world = world.get();
    loop = std::make_unique<Loop>(trainer, std::move(callbacks), monitors, options);
    loop->set_up();
  }

  Annealing trainer;
  Monitors monitors{{}};
  std::unique_ptr<Comm> world = make_self_comm();
  std::unique_ptr<Loop> loop;
};

int run(const std::string& folder) {
  Expectations check;
  OwnRun whole(folder + "/whole");
  const LoopResult result = whole.loop->run();
  const double* place = whole.trainer.place();
  std::printf("height %.2e at (%.4f, %.4f) after %lld steps\n", height(place), place[0], place[1],
              static_cast<long long>(result.global_step));
  check.expect(result.ending == StopReason::kStopped && result.reason == "low enough",
               "a callback ended the run");
  check.expect(std::abs(place[0] - 1) < 0.01 && std::abs(place[1] - 1) < 0.01, "the lowest point was found");
  const double cooled = 10 * std::pow(kCooling, static_cast<double>(result.epoch));
  check.expect(whole.loop->state().hyper_parameter(kTemperature) == cooled, "the schedule cooled the step");

  double lowest = height(place);
  for (const auto& [step, value] : whole.monitors.get_history("height_now")) lowest = std::min(lowest, value);
  const CheckpointContent best = load_checkpoint(folder + "/whole/checkpoints/min-height_now.h5");
  check.expect(height(best.tensors.at("model/place").data<double>()) == lowest, "MinSaver kept the lowest");

  OwnRun second(folder + "/second");
  const std::string early = folder + "/whole/checkpoints/model-2500.h5";
  second.loop->resume(load_checkpoint(early), early);
  const LoopResult again = second.loop->run();
  check.expect(
      again.global_step == result.global_step && std::equal(place, place + 2, second.trainer.place()),
      "a run that goes on from epoch 5 ends bit-equal");
  return check.exit_code();
}

}  // namespace
}  // namespace tpack

int main() {
  const auto folder = std::filesystem::temp_directory_path() / ("own_step-" + std::to_string(getpid()));
  const int code = tpack::run(folder.string());
  std::filesystem::remove_all(folder);
  return code;
}
