#include <cmath>

#include <gmock/gmock-matchers.h>

#include "callbacks/callback_scenes.h"
#include "core/stop.h"
#include "monitor/monitor.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::UnorderedElementsAre;

/// Keeps the histograms that it gets.
class HistogramMonitor final : public Monitor {
 public:
  explicit HistogramMonitor(std::map<std::string, Histogram>& all) : all_(all) {}
  void put_scalar(const std::string& /*name*/, double /*value*/, const StepStamp& /*at*/) override {}
  void put_histogram(const std::string& name, const Histogram& histogram, const StepStamp& /*at*/) override {
    all_[name] = histogram;
  }
  void end_epoch(const StepStamp& /*at*/) override {}

 private:
  std::map<std::string, Histogram>& all_;
};

std::string error_of(const std::string& params) {
  SmallRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.add("TensorSummary", parse_yaml(params, "t.yaml"));
  return error_of_setup(run);
}

TEST(TensorSummary, reports_figures_of_outputs_variables_and_gradients) {
  SmallRun run({.max_epoch = 2, .steps_per_epoch = 3});
  run.add("TensorSummary",
          parse_yaml("{outputs: [fc0], variables: [fc1/b], gradients: [fc0/W], types: [mean, "
                     "rms, min, max, sparsity]}",
                     "t.yaml"));
  Tensor b;
  Tensor gradient;
  run.on_trigger("look", [&](tpack::Run& at) {
    b = at.store().value("fc1/b").clone();
    gradient = at.store().value("@gradient/fc0/W").clone();
  });
  run.go();
  EXPECT_EQ(run.monitors.names().size(), 15U);
  EXPECT_EQ(run.values("fc0-rms").size(), 2U);
  EXPECT_EQ(run.values("fc1/b-max")[1], std::max({b.at(0), b.at(1), b.at(2)}));
  EXPECT_EQ(run.values("fc1/b-min")[1], std::min({b.at(0), b.at(1), b.at(2)}));
  EXPECT_NEAR(run.values("fc1/b-mean")[1], (b.at(0) + b.at(1) + b.at(2)) / 3, 1e-12);
  double squares = 0;
  for (int64_t i = 0; i < 35; ++i) squares += gradient.at(i) * gradient.at(i);
  EXPECT_NEAR(run.values("gradient/fc0/W-rms")[1], std::sqrt(squares / 35), 1e-12);
  EXPECT_GT(run.values("gradient/fc0/W-rms")[1], 0);
  EXPECT_EQ(run.values("gradient/fc0/W-sparsity")[1], 0);
  EXPECT_LE(run.values("fc0-max")[1], 1);  // behind a Tanh
}

TEST(TensorSummary, scales_the_gradients_of_several_towers_to_their_mean) {
  const auto rms = [](const std::string& trainer, int64_t batch) {
    SmallRun run({.max_epoch = 1, .steps_per_epoch = 1}, "", trainer, batch, "SGD: {learning_rate: 0.01}");
    run.add("TensorSummary", parse_yaml("{gradients: [fc1/W], types: [rms]}", "t.yaml")).go();
    return run.values("gradient/fc1/W-rms").at(0);
  };
  EXPECT_NEAR(rms("SyncMultiGPU: {devices: 2}", 4), rms("Simple", 8), 1e-6);
  EXPECT_NEAR(rms("SyncMultiGPU: {devices: 2, mode: parameter_server}", 4), rms("Simple", 8), 1e-6);
  EXPECT_NEAR(rms("Simple: {accumulate: 2}", 4), rms("Simple", 8), 1e-6);
}

TEST(TensorSummary, gives_histograms) {
  std::map<std::string, Histogram> all;
  SmallRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.watch(std::make_unique<HistogramMonitor>(all));
  run.add("TensorSummary", parse_yaml("{outputs: [fc1], variables: [fc0], types: [histogram]}", "t.yaml"))
      .go();
  EXPECT_THAT(all, UnorderedElementsAre(testing::Key("fc1"), testing::Key("fc0/W"), testing::Key("fc0/b")));
  int64_t values = 0;
  for (const int64_t count : all["fc1"].counts) values += count;
  EXPECT_EQ(values, 12);
}

TEST(TensorSummary, can_be_triggered_after_steps) {
  SmallRun run({.max_epoch = 1, .steps_per_epoch = 6});
  run.add("PeriodicTrigger", parse_yaml("{callback: {TensorSummary: {outputs: [fc1], types: [mean]}}, "
                                        "every_k_steps: 2}",
                                        "t.yaml"));
  run.go();
  EXPECT_EQ(run.values("fc1-mean").size(), 3U);
}

TEST(TensorSummary, says_what_is_wrong) {
  EXPECT_EQ(error_of("{}"), "it has no tensor; name some in outputs, variables or gradients");
  EXPECT_TRUE(says(error_of("{outputs: [fc3], variables: [fc0/X], gradients: [fc0, nothing]}"),
                   {"t.yaml:1:12:", "did you mean 'fc0'?\nt.yaml:1:30:",
                    "did you mean 'fc0/W'?\nt.yaml:1:55:", "'nothing' or is below it; known: fc0, fc1"}));
  EXPECT_EQ(error_of("{outputs: ['fc(']}").substr(0, 12), "t.yaml:1:12:");
}

/// All figures of a run of two epochs with a callback, bit by bit. With `cut`, the end of the first epoch is
/// interrupted twice before that callback is triggered, and the run goes on from the checkpoint.
std::string figures_of(bool cut, const std::string& item) {
  const TemporaryFolder folder;
  const auto run_once = [&](bool interrupted, const std::string& from) {
    SmallRun run({.max_epoch = 2, .steps_per_epoch = 3}, folder.str(), "SyncMultiGPU: {devices: 2}", 4);
    run.on_trigger("before", [interrupted](tpack::Run& at) {
      if (interrupted && at.epoch() == 1) throw Stopped{};
    });
    run.add("summary", callback_of(item));
    from.empty() ? run.go() : run.go_on_from(from);
    return bits_of_statistics(run.monitors);
  };
  const std::string figures = run_once(cut, "");
  if (!cut) return figures;
  run_once(true, folder / "checkpoints/model-3.h5");  // again, at the same place
  return run_once(false, folder / "checkpoints/model-3.h5");
}

TEST(TensorSummary, has_the_same_figures_if_the_run_was_interrupted_before_it_was_triggered) {
  const std::string summary =
      "TensorSummary: {outputs: [fc0, x], variables: [fc1/b], gradients: [fc0, fc1], types: [mean, rms]}";
  for (const std::string& item : {summary, "SWA: {callbacks: [" + summary + "]}"}) {
    const std::string expected = figures_of(false, item);
    EXPECT_THAT(expected, testing::HasSubstr("gradient/fc1/b-rms"));
    EXPECT_EQ(figures_of(true, item), expected);
  }
}

const live::Fields kTensorSummary(
    "callback", "TensorSummary",
    {.base = "{outputs: [fc0], types: [mean]}",
     .values = {
         {"outputs", "[fc1]"}, {"variables", "[fc1/b]"}, {"gradients", "[fc1/b]"}, {"types", "[rms]"}}});

}  // namespace
}  // namespace tpack
