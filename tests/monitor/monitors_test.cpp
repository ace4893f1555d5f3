#include "monitor/monitors.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/log.h"

namespace tpack {
namespace {

using testing::ElementsAre;

/// Writes down the calls it gets.
class Recorder final : public Monitor {
 public:
  explicit Recorder(std::vector<std::string>& calls, bool fails = false) : calls_(calls), fails_(fails) {}
  void put_scalar(const std::string& name, double value, const Moment& at) override {
    calls_.push_back(name + "=" + std::to_string(static_cast<int>(value)) + "@" +
                     std::to_string(at.global_step));
    if (fails_) throw ResourceError("disk full");
  }
  void end_step(const Moment& /*at*/) override { calls_.emplace_back("step"); }
  void end_epoch(const Moment& /*at*/) override { calls_.emplace_back("epoch"); }

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
  monitors.set_moment({1, 5});
  monitors.put_scalar("tower0/cost-summary", 1);
  monitors.put_scalar("tower12/a/b", 2);
  monitors.put_scalar("tower/x", 3);
  monitors.put_scalar("tower1x", 4);
  EXPECT_THAT(calls, ElementsAre("cost=1@5", "a/b=2@5", "tower/x=3@5", "tower1x=4@5"));
}

TEST(Monitors, ends_a_step_only_where_it_brought_values) {
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
  monitors.set_moment({1, 10});
  monitors.put_scalar("cost", 3);
  monitors.set_moment({2, 20});
  monitors.put_scalar("cost", 2);
  EXPECT_EQ(monitors.get_latest("cost"), 2);
  EXPECT_THAT(monitors.get_history("cost"),
              ElementsAre(std::pair<int64_t, double>(10, 3), std::pair<int64_t, double>(20, 2)));
  EXPECT_THAT(monitors.names(), ElementsAre("cost"));
}

TEST(Monitors, knows_the_scalars_that_depend_on_the_clock) {
  for (const char* name : {"steps_per_s", "samples_per_s", "data_wait_time_share"})
    EXPECT_TRUE(depends_on_clock(name)) << name;
  for (const char* name : {"cost", "validation_accuracy", "timeless", "s"})
    EXPECT_FALSE(depends_on_clock(name)) << name;
}

TEST(Monitors, saves_and_loads_the_history_bit_for_bit) {
  Monitors monitors({});
  monitors.set_moment({1, 10});
  const double values[] = {0.1 + 0.2, -0.0, 1e-310, INFINITY, -INFINITY, NAN};
  for (const double value : values) monitors.put_scalar("x", value);
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

TEST(Monitors, refuses_a_history_that_is_none) {
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
