#include "backend/engine/tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cpu/library.h"
#include "cpu/team.h"
#include "graph/builder.h"
#include "ops/convolution.h"
#include "support/captured_log.h"
#include "support/temporary_folder.h"

namespace tpack::cpu {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Convolutions of so many images each, timed by kernels and a clock of the test.
class TunerTest : public testing::Test {
 protected:
  /// A way that takes so many seconds in each of its runs (the last one in all further ones).
  void takes(const std::string& way, std::vector<double> seconds) { seconds_[way] = std::move(seconds); }
  void disturb(const std::string& way) { disturbed_.insert(way); }

  /// A node of `images` images, with the ways direct (which the rules prefer) and winograd.
  TimingJob job(int64_t images) {
    const std::string number = std::to_string(graph_.size());
    const Symbol x = b_.input("x" + number, {DType::kFloat32, {images, 32, 8, 8}});
    const Symbol w = b_.input("w" + number, {DType::kFloat32, {32, 32, 3, 3}});
    const Node& node = *convolution(b_, x, w, {.padding = {1, 1, 1, 1}}).node;
    return {.ways = {{node, Layout::kNhwc, "direct", 1}, {node, Layout::kBlocked, "winograd", 1}}};
  }
  static std::string name_of(const KernelRequest& way) {
    return std::to_string(way.node.inputs[0].shape()[0]) + " " + way.algorithm;
  }

  Tuner tuner(Tuner::Options options) {
    const auto prepare = [this](const KernelRequest& way, KernelQueue&) -> std::optional<TimedKernel> {
      const std::string name = name_of(way);
      if (!seconds_.contains(name)) return std::nullopt;
      return TimedKernel{.run =
                             [this, name] {
                               runs_.push_back(name);
                               const auto& all = seconds_.at(name);
                               const auto number = static_cast<size_t>(std::ranges::count(runs_, name) - 1);
                               const double taken = all[std::min(number, all.size() - 1)];
                               time_s_ += taken;
                               return TimedRun{taken, disturbed_.contains(name)};
                             },
                         .scratch_bytes = 64};
    };
    return Tuner(*library_, options, prepare, [this] { return time_s_; });
  }
  /// Names of what ran, without repetitions one after the other.
  std::vector<std::string> order() const {
    std::vector<std::string> all;
    for (const std::string& name : runs_) {
      const std::string images = name.substr(0, name.find(' '));
      if (all.empty() || all.back() != images) all.push_back(images);
    }
    return all;
  }

  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
  Team team_{1};
  std::unique_ptr<KernelLibrary> library_ = make_library();
  std::map<std::string, std::vector<double>> seconds_;
  std::set<std::string> disturbed_;
  std::vector<std::string> runs_;
  double time_s_ = 1000;
};

TEST_F(TunerTest, keeps_what_it_measured_in_a_file) {
  const TemporaryFolder folder;
  takes("8 direct", {0.25});
  takes("8 winograd", {0.5});
  const std::vector<TimingJob> jobs = {job(8)};
  const auto first = tuner({.cache_dir = folder.str()}).measure(jobs, team_);
  ASSERT_EQ(first[0].size(), 2U);
  EXPECT_EQ(first[0][0].seconds, 0.25);
  EXPECT_EQ(first[0][1].seconds, 0.5);
  EXPECT_EQ(first[0][1].scratch_bytes, 64U);
  runs_.clear();
  EXPECT_EQ(tuner({.cache_dir = folder.str()}).measure(jobs, team_)[0][0].seconds, 0.25);
  EXPECT_EQ(runs_.size(), 0U) << "from the file";
}

TEST_F(TunerTest, takes_the_best_of_runs_in_turn) {
  takes("8 direct", {0.03, 0.025, 0.04});
  takes("8 winograd", {0.025, 0.022, 0.019, 0.05});
  const auto measured = tuner({.budget_s = kNever}).measure({job(8)}, team_);
  EXPECT_EQ(measured[0][0].seconds, 0.025);
  EXPECT_EQ(measured[0][1].seconds, 0.019);
  ASSERT_GE(runs_.size(), 4U);
  EXPECT_EQ((std::vector(runs_.begin(), runs_.begin() + 4)),
            (std::vector<std::string>{"8 direct", "8 winograd", "8 direct", "8 winograd"}));
}

TEST_F(TunerTest, ends_as_soon_as_the_runs_decide) {
  const auto runs_with = [this](double direct, double winograd) {
    runs_.clear();
    takes("8 direct", {direct});
    takes("8 winograd", {winograd});
    tuner({.budget_s = kNever}).measure({job(8)}, team_);
    return std::ranges::count(runs_, "8 winograd");
  };
  EXPECT_EQ(runs_with(0.1, 0.105), 2) << "not 10 % better";
  EXPECT_EQ(runs_with(0.1, 0.118), 1) << "clearly no better";
  EXPECT_EQ(runs_with(0.1, 0.09), 5) << "nearly 10 % better";
}

TEST_F(TunerTest, drops_a_way_that_is_clearly_slower) {
  takes("8 direct", {3});
  takes("8 winograd", {1});
  const auto measured = tuner({.budget_s = kNever}).measure({job(8)}, team_);
  EXPECT_EQ(std::ranges::count(runs_, "8 direct"), 1);
  EXPECT_EQ(measured[0][0].seconds, 3);
}

TEST_F(TunerTest, times_the_most_work_first_and_ends_with_the_budget) {
  for (const char* images : {"2", "16", "64"}) {
    takes(std::string(images) + " direct", {1});
    takes(std::string(images) + " winograd", {2});
  }
  const std::vector<TimingJob> jobs = {job(2), job(64), job(16)};
  const CapturedLog log;
  const auto measured = tuner({.budget_s = 5}).measure(jobs, team_);
  EXPECT_EQ(order(), (std::vector<std::string>{"64", "16"}));
  EXPECT_FALSE(measured[1].empty());
  EXPECT_LE(time_s_ - 1000, 5 + 2) << "no more than the run that was under way";
  EXPECT_TRUE(measured[0].empty()) << "left to the rules";
  EXPECT_NE(log.text().find("engine.timing_s"), std::string::npos) << log.text();
  EXPECT_NE(log.text().find("of 3 kernels"), std::string::npos) << log.text();
}

TEST_F(TunerTest, counts_work_of_nodes_that_are_alike_together) {
  for (const char* images : {"16", "20"}) {
    takes(std::string(images) + " direct", {1});
    takes(std::string(images) + " winograd", {2});
  }
  const std::vector<TimingJob> jobs = {job(20), job(16), job(16)};
  const auto measured = tuner({.budget_s = kNever}).measure(jobs, team_);
  EXPECT_EQ(order(), (std::vector<std::string>{"16", "20"}));
  EXPECT_EQ(measured[1][0].seconds, measured[2][0].seconds);
}

TEST_F(TunerTest, has_one_budget_for_all_calls) {
  for (const char* images : {"16", "64"}) {
    takes(std::string(images) + " direct", {2});
    takes(std::string(images) + " winograd", {2});
  }
  Tuner one = tuner({.budget_s = 6});
  EXPECT_FALSE(one.measure({job(64)}, team_)[0].empty());
  EXPECT_GE(time_s_, 1000 + 4);
  const size_t before = runs_.size();
  time_s_ += 1000;  // what passes between calls does not count
  one.measure({job(16)}, team_);
  EXPECT_LE(runs_.size() - before, 2U);
}

TEST_F(TunerTest, runs_long_kernels_twice_even_without_a_budget) {
  takes("8 direct", {2});
  takes("8 winograd", {2});
  disturb("8 direct");
  disturb("8 winograd");
  tuner({.timings = Timings::kAll}).measure({job(8)}, team_);
  EXPECT_EQ(runs_.size(), 4U);
}

/// 64 images have 4 times the work of 16; after these, it is known that 64 would take too long.
TEST_F(TunerTest, leaves_out_what_would_take_longer_than_is_left) {
  takes("16 direct", {2});
  takes("16 winograd", {2.2});
  takes("64 direct", {8});
  takes("64 winograd", {8});
  Tuner one = tuner({.budget_s = 30});
  EXPECT_FALSE(one.measure({job(16)}, team_)[0].empty());
  runs_.clear();
  EXPECT_TRUE(one.measure({job(64)}, team_)[0].empty());
  EXPECT_TRUE(runs_.empty());
}

/// As if the process was ended in the middle: its destructors do not run, and nobody tells the tuner.
TEST_F(TunerTest, has_saved_what_it_measured_when_it_is_interrupted) {
  const TemporaryFolder folder;
  takes("64 direct", {2});
  takes("64 winograd", {1});
  takes("16 direct", {2});
  const TimingJob last = job(16);
  struct Interrupted {};
  const auto prepare = [&](const KernelRequest& way, KernelQueue&) -> std::optional<TimedKernel> {
    if (way.node.inputs[0].shape()[0] == 16) throw Interrupted();
    const double taken = seconds_.at(name_of(way))[0];
    return TimedKernel{.run = [this, taken] {
      time_s_ += taken;
      return TimedRun{taken, false};
    }};
  };
  Tuner interrupted(*library_, {.cache_dir = folder.str(), .budget_s = kNever}, prepare,
                    [this] { return time_s_; });
  const std::vector<TimingJob> jobs = {job(64), last};
  EXPECT_THROW(interrupted.measure(jobs, team_), Interrupted);
  Tuner next = tuner({.cache_dir = folder.str(), .timings = Timings::kKnown});
  EXPECT_EQ(next.measure(jobs, team_)[0][1].seconds, 1);
}

TEST_F(TunerTest, keeps_timings_of_a_busy_machine_and_takes_them_again_only_on_request) {
  const TemporaryFolder folder;
  takes("8 direct", {0.5});
  takes("8 winograd", {0.5});
  disturb("8 direct");
  const std::vector<TimingJob> jobs = {job(8)};
  const auto measured = tuner({.cache_dir = folder.str()}).measure(jobs, team_);
  EXPECT_TRUE(measured[0][0].disturbed);
  EXPECT_FALSE(measured[0][1].disturbed);
  runs_.clear();
  tuner({.cache_dir = folder.str()}).measure(jobs, team_);
  EXPECT_TRUE(runs_.empty());
  disturbed_.clear();
  EXPECT_FALSE(
      tuner({.cache_dir = folder.str(), .timings = Timings::kAll}).measure(jobs, team_)[0][0].disturbed);
  EXPECT_FALSE(tuner({.cache_dir = folder.str()}).measure(jobs, team_)[0][0].disturbed) << "saved, too";
}

TEST_F(TunerTest, measures_nothing_if_only_known_timings_are_used) {
  takes("8 direct", {1});
  takes("8 winograd", {1});
  bool began = false;
  const auto begin = [&] { began = true; };
  EXPECT_TRUE(tuner({.timings = Timings::kKnown}).measure({job(8)}, team_, begin)[0].empty());
  EXPECT_TRUE(tuner({.budget_s = 0}).measure({job(8)}, team_, begin)[0].empty());
  EXPECT_FALSE(began);
  EXPECT_FALSE(tuner({}).measure({job(8)}, team_, begin)[0].empty());
  EXPECT_TRUE(began);
}

TEST_F(TunerTest, calls_impossible_what_this_cpu_lacks) {
  takes("8 direct", {1});
  const auto measured = tuner({}).measure({job(8)}, team_);
  EXPECT_EQ(measured[0][0].seconds, 1);
  EXPECT_TRUE(std::isinf(measured[0][1].seconds));
}

TEST_F(TunerTest, times_real_kernels) {
  const auto measured = Tuner(*library_, {}).measure({job(2)}, team_);
  EXPECT_GT(measured[0][0].seconds, 0);
  EXPECT_LT(measured[0][0].seconds, kNever);
}

TEST(ComparableSeconds, prefer_the_rule_in_its_own_layout_in_a_near_tie) {
  const auto seconds = comparable_seconds({{1.0, 64}, {0.95, 64}}, 0);  // nhwc and blocked, both direct
  EXPECT_LT(seconds[0], seconds[1]);
  const auto better = comparable_seconds({{1.0, 64}, {0.85, 64}}, 0);
  EXPECT_GT(better[0], better[1]);
}

TEST(ComparableSeconds, leave_out_what_needs_more_scratch_than_the_rule) {
  EXPECT_EQ(comparable_seconds({{1.0, 64}, {0.1, 65}, {0.5, 64}}, 0), (std::vector{0.9, kNever, 0.5}));
  EXPECT_EQ(comparable_seconds({{1.0, 64}, {kNever, 0}}, 1), (std::vector{1.0, kNever}));  // no limit
}

TEST(ComparableSeconds, ask_for_more_of_a_gain_if_the_machine_was_busy) {
  EXPECT_EQ(comparable_seconds({{1.0, 64}, {0.8, 64, true}}, 0), (std::vector{0.9, kNever}));
  EXPECT_EQ(comparable_seconds({{1.0, 64, true}, {0.8, 64}}, 0), (std::vector{0.9, kNever}));
  EXPECT_EQ(comparable_seconds({{1.0, 64, true}, {0.7, 64, true}}, 0), (std::vector{0.9, 0.7}));
}

}  // namespace
}  // namespace tpack::cpu
