#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"
#include "config/yaml_reader.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::Pair;

class SmaTest : public testing::Test {
 protected:
  TestRun& start(int64_t epochs) {
    run_ = std::make_unique<FakeRun>(RunLength{.max_epoch = epochs, .steps_per_epoch = 2}, folder_.str());
    run_->trainer.figures["cost"] = [](int64_t step) { return 1.0 / static_cast<double>(step); };
    return run_->add("SimpleMovingAverage", parse_yaml("{names: [cost], window_size: 3}", "s.yaml"))
        .add("ModelSaver");
  }
  TemporaryFolder folder_;
  std::unique_ptr<FakeRun> run_;
};

TEST_F(SmaTest, is_the_plain_mean_of_a_window_across_epochs) {
  start(3).go();
  EXPECT_THAT(run_->monitors.get_history("cost/SMA"),
              ElementsAre(Pair(3, (1 + 1.0 / 2 + 1.0 / 3) / 3), Pair(6, (1.0 / 4 + 1.0 / 5 + 1.0 / 6) / 3)));
}

TEST_F(SmaTest, knows_its_window_after_a_resume) {
  start(3).go();
  const std::string all = bits_of_statistics(run_->monitors);
  start(2).go();
  start(3).go_on_from(folder_ / "checkpoints/model-4.h5");
  EXPECT_EQ(bits_of_statistics(run_->monitors), all);
}

TEST_F(SmaTest, leaves_steps_out_that_did_not_compute_the_statistic) {
  start(2);
  run_->trainer.is_due = [](int64_t step) { return step != 2; };
  run_->go();
  EXPECT_THAT(run_->values("cost/SMA"), ElementsAre((1 + 1.0 / 3) / 2));
}

TEST_F(SmaTest, rejects_an_unknown_statistic) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.trainer.figures["cost"] = [](int64_t) { return 1.0; };
  run.add("SimpleMovingAverage", parse_yaml("{names: [cots], window_size: 3}", "s.yaml"));
  EXPECT_TRUE(says(error_from([&] { run.go(); }), {"s.yaml:1:10:", "'cots'", "did you mean 'cost'?"}));
}

}  // namespace
}  // namespace tpack
