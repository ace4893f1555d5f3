#include "monitor/monitors.h"

#include <cmath>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "system/log.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::Pair;

/// Records its calls.
class Recorder final : public Monitor {
 public:
  explicit Recorder(std::vector<std::string>& calls, bool fails = false) : calls_(calls), fails_(fails) {}
  void put_scalar(const std::string& name, double value, const StepStamp& at) override {
    calls_.push_back(name + "=" + std::to_string(static_cast<int>(value)) + "@" +
                     std::to_string(at.global_step));
    if (fails_) throw ResourceError("disk full");
  }
  void end_step(const StepStamp& /*at*/) override { calls_.emplace_back("step"); }
  void end_epoch(const StepStamp& /*at*/) override { calls_.emplace_back("epoch"); }

 private:
  std::vector<std::string>& calls_;
  bool fails_;
};

Monitors with(std::vector<std::unique_ptr<Monitor>> list) { return Monitors(std::move(list)); }

Monitors one(std::vector<std::string>& calls, bool fails = false) {
  std::vector<std::unique_ptr<Monitor>> list;
  list.push_back(std::make_unique<Recorder>(calls, fails));
  return with(std::move(list));
}

TEST(Monitors, strips_towers_and_the_summary_suffix) {
  std::vector<std::string> calls;
  Monitors monitors = one(calls);
  monitors.set_stamp({1, 5});
  monitors.put_scalar("tower0/cost-summary", 1);
  monitors.put_scalar("tower12/a/b", 2);
  monitors.put_scalar("tower/x", 3);
  monitors.put_scalar("tower1x", 4);
  EXPECT_THAT(calls, ElementsAre("cost=1@5", "a/b=2@5", "tower/x=3@5", "tower1x=4@5"));
}

TEST(Monitors, ends_a_step_only_if_it_had_values) {
  std::vector<std::string> calls;
  Monitors monitors = one(calls);
  monitors.end_step();
  monitors.put_scalar("a", 1);
  monitors.end_step();
  monitors.end_step();
  monitors.end_epoch();
  EXPECT_THAT(calls, ElementsAre("a=1@0", "step", "epoch"));
}

TEST(Monitors, keeps_the_history) {
  Monitors monitors({});
  EXPECT_EQ(monitors.get_latest("cost"), std::nullopt);
  EXPECT_TRUE(monitors.get_history("cost").empty());
  monitors.set_stamp({1, 10});
  monitors.put_scalar("cost", 3);
  monitors.set_stamp({2, 20});
  monitors.put_scalar("cost", 2);
  EXPECT_EQ(monitors.get_latest("cost"), 2);
  EXPECT_THAT(monitors.get_history("cost"),
              ElementsAre(std::pair<int64_t, double>(10, 3), std::pair<int64_t, double>(20, 2)));
  EXPECT_THAT(monitors.names(), ElementsAre("cost"));
}

TEST(Monitors, knows_the_scalars_that_depend_on_clock_or_machine) {
  for (const char* name : {"steps_per_s", "samples_per_s", "data_wait_time_share", "input_queue_fill",
                           "resident_memory_gb", "gpu_0_utilization"})
    EXPECT_TRUE(differs_between_runs(name)) << name;
  for (const char* name : {"cost", "validation_accuracy", "timeless", "s"})
    EXPECT_FALSE(differs_between_runs(name)) << name;
}

TEST(Monitors, saves_and_loads_the_history_bit_for_bit) {
  Monitors monitors({});
  const double values[] = {0.1 + 0.2, -0.0, 1e-310, INFINITY, -INFINITY, NAN};
  for (int64_t i = 0; i < 6; ++i) {
    monitors.set_stamp({1, 10 + i});
    monitors.put_scalar("x", values[i]);
  }
  Monitors other({});
  other.load(monitors.save(), "a.h5");
  const auto& history = other.get_history("x");
  ASSERT_EQ(history.size(), 6U);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(history[i].second, values[i]);
    EXPECT_EQ(std::signbit(history[i].second), std::signbit(values[i]));
  }
  EXPECT_TRUE(std::isnan(history[5].second));
  EXPECT_EQ(history[0].first, 10);
}

TEST(Monitors, replaces_a_value_of_the_same_moment) {
  Monitors monitors({});
  monitors.set_stamp({1, 10});
  monitors.put_scalar("x", 1);
  monitors.put_scalar("x", 2);
  monitors.set_stamp({2, 10});
  monitors.put_scalar("x", 3);
  EXPECT_THAT(monitors.get_history("x"), ElementsAre(Pair(10, 2), Pair(10, 3)));
  EXPECT_EQ(monitors.save(), R"({"x":[[10,2.0,1],[10,3.0,2]]})");
  monitors.put_scalar("a", 4);
  monitors.put_scalar("x", 5);
  EXPECT_EQ(monitors.save(), R"({"x":[[10,2.0,1],[10,5.0,2]],"a":[[10,4.0,2]]})");
}

/// Keeps the record that it was opened with.
class KeepRecord final : public Monitor {
 public:
  explicit KeepRecord(RunRecord& record) : record_(record) {}
  void open(const RunRecord& run) override { record_ = run; }
  void put_scalar(const std::string& /*name*/, double /*value*/, const StepStamp& /*at*/) override {}
  void end_epoch(const StepStamp& /*at*/) override {}

 private:
  RunRecord& record_;
};

TEST(Monitors, hand_the_history_of_a_resumed_run_to_those_that_write_it) {
  Monitors before({});
  before.set_stamp({1, 10});
  before.put_scalar("z", 1);
  before.put_scalar("a", 2);
  before.set_stamp({2, 10});
  before.put_scalar("a", 3);
  RunRecord record;
  std::vector<std::unique_ptr<Monitor>> list;
  list.push_back(std::make_unique<KeepRecord>(record));
  Monitors after(std::move(list));
  after.load(before.save(), "a.h5");
  after.open({.resumed = true});
  const std::vector<StatRecord> expected = {{{1, 10}, {{"z", 1}, {"a", 2}}}, {{2, 10}, {{"a", 3}}}};
  EXPECT_EQ(record.history, expected);
  after.open({});
  EXPECT_TRUE(record.history.empty());
}

TEST(Monitors, rejects_a_history_that_is_none) {
  Monitors monitors({});
  EXPECT_THROW(monitors.load("{\"x\": 3}", "a.h5"), CheckpointError);
  EXPECT_THROW(monitors.load("nonsense", "a.h5"), CheckpointError);
}

TEST(Monitors, lets_the_run_go_on_when_one_cannot_write) {
  log::set_level(log::Level::kOff);
  std::vector<std::string> failing;
  std::vector<std::string> fine;
  std::vector<std::unique_ptr<Monitor>> list;
  list.push_back(std::make_unique<Recorder>(failing, true));
  list.push_back(std::make_unique<Recorder>(fine));
  Monitors monitors = with(std::move(list));
  EXPECT_NO_THROW(monitors.put_scalar("a", 1));
  log::set_level(log::Level::kInfo);
  EXPECT_THAT(fine, ElementsAre("a=1@0"));
  EXPECT_EQ(monitors.get_latest("a"), 1);
}

}  // namespace
}  // namespace tpack
