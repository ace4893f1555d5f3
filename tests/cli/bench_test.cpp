#include "cli/bench.h"

#include <gmock/gmock.h>

#include "cli/model_report.h"
#include "core/error.h"
#include "program_runner.h"

namespace tpack {
namespace {

using testing_cli::kTinyConfig;

/// A trainer of somebody else, which trains replicas or tells of none.
class Forwarding final : public Trainer {
 public:
  struct Params {
    bool has_replicas = true;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Gives all work to Simple.")
        .field("has_replicas", &Params::has_replicas, "tells of the replicas that it trains");
  }
  explicit Forwarding(Params p) : p_(p), inner_(Registry<Trainer>::make("Simple")) {}

  void setup(const TrainSetup& setup) override { inner_->setup(setup); }
  void compile() override { inner_->compile(); }
  void initialize() override { inner_->initialize(); }
  bool step(int64_t step, const std::stop_token& stop) override { return inner_->step(step, stop); }
  std::optional<int64_t> steps_per_pass() const override { return inner_->steps_per_pass(); }
  StepSize step_size() const override { return inner_->step_size(); }
  std::optional<TowerPlace> tower_place() override { return inner_->tower_place(); }
  DataParallel* replicas() override { return p_.has_replicas ? inner_->replicas() : nullptr; }
  void save(CheckpointContent& content) const override { inner_->save(content); }
  void load(const CheckpointContent& content, const std::string& source) override {
    inner_->load(content, source);
  }

 private:
  Params p_;
  std::unique_ptr<Trainer> inner_;
};

TPACK_REGISTER(Trainer, Forwarding, "Forwarding");

class Bench : public testing_cli::WithTinyConfig {
 protected:
  std::string with_trainer(const std::string& trainer) const {
    write_content(config(), kTinyConfig + ("trainer: " + trainer + "\n"));
    return config();
  }
};

TEST_F(Bench, times_what_any_trainer_trains) {
  Experiment experiment = load_experiment(with_trainer("Forwarding"), {});
  const BenchReport report = bench(experiment, {.steps = 2, .warm_up = 1});
  EXPECT_EQ(report.towers, 1);
  EXPECT_GT(report.batch, 0);
  for (const BenchFigure& figure : {report.train, report.data, report.both}) {
    EXPECT_GT(figure.median_s, 0);
    EXPECT_GT(figure.samples_per_s, 0);
  }
}

TEST_F(Bench, counts_the_samples_that_a_batch_has) {
  Experiment experiment = load_experiment(
      with_trainer("Simple"), {"data.train.BatchData={batch_size: 100, remainder: true}"});  // of 40 samples
  const BenchReport report = bench(experiment, {.steps = 3, .warm_up = 0});
  for (const BenchFigure& figure : {report.train, report.data, report.both}) {
    EXPECT_NEAR(figure.samples_per_s * figure.median_s, 40, 1e-6);
  }
}

TEST_F(Bench, refuses_a_trainer_that_trains_no_replicas_where_it_is_named) {
  const std::string path = with_trainer("{Forwarding: {has_replicas: false}}");
  Experiment experiment = load_experiment(path, {});
  EXPECT_THAT([&] { bench(experiment, {}); },
              testing::ThrowsMessage<ConfigError>(testing::HasSubstr("bench needs a trainer that trains")));
}

TEST_F(Bench, and_check_describe_what_any_trainer_trains) {
  CheckedExperiment checked(with_trainer("Forwarding"), {}, true);
  const auto report = report_model(checked);
  ASSERT_TRUE(report.has_value());
  EXPECT_GT(report->parameters, 0);
}

}  // namespace
}  // namespace tpack
