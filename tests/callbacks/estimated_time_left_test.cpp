#include <cstdio>
#include <thread>

#include <gtest/gtest.h>

#include "callbacks/callback_scenes.h"
#include "core/clock.h"
#include "support/fake_trainer.h"

namespace tpack {
namespace {

/// Parses the seconds of a text of human_duration that is shorter than a minute.
double seconds_of(const std::string& text) {
  double value = 0;
  char unit[8] = "";
  EXPECT_EQ(std::sscanf(text.c_str(), "%lf %7s", &value, unit), 2) << text;
  return std::string(unit) == "ms" ? value / 1e3 : std::string(unit) == "us" ? value / 1e6 : value;
}

/// The seconds of all estimates in a log.
std::vector<double> estimates_in(const std::string& text) {
  const std::string what = "estimated time left: ";
  std::vector<double> all;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    all.push_back(seconds_of(text.substr(at + what.size(), text.find('\n', at) - at - what.size())));
  return all;
}

TEST(EstimatedTimeLeft, is_shown_after_every_epoch_except_the_last) {
  for (const bool median : {true, false}) {
    FakeRun run({.max_epoch = 3, .steps_per_epoch = 1});
    testing::internal::CaptureStderr();
    run.add("EstimatedTimeLeft", {{"median", median}}).go();
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(estimates_in(text).size(), 2U) << text;
  }
}

TEST(EstimatedTimeLeft, is_the_epochs_that_are_left_at_the_pace_of_those_done) {
  const double kPause = 0.1;
  FakeRun run({.max_epoch = 4, .steps_per_epoch = 1});
  Stopwatch watch;
  double before = 0;
  std::vector<double> longest;  // that one epoch took at most, by epoch
  run.on_step("pause", [=](tpack::Run&) {
    for (const Stopwatch pause; pause.seconds() < kPause;) std::this_thread::yield();
  });
  run.add("EstimatedTimeLeft", {{"last_k_epochs", 1}});
  run.on_trigger("note", [&](tpack::Run&) {
    longest.push_back(watch.seconds() - before);
    before = watch.seconds();
  });
  testing::internal::CaptureStderr();
  run.go();
  const std::string text = testing::internal::GetCapturedStderr();
  const std::vector<double> estimates = estimates_in(text);
  ASSERT_EQ(estimates.size(), 3U) << text;
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    const double left = estimates[epoch];
    const auto epochs = static_cast<double>(3 - epoch);
    EXPECT_GE(left, 0.9 * epochs * kPause) << text;
    // The epoch before the one that is timed ends slightly later here than in the callback.
    EXPECT_LE(left, 1.1 * epochs * (longest[epoch] + (epoch > 0 ? 0.02 : 0)) + 0.05) << text;
  }
}

TEST(EstimatedTimeLeft, is_the_same_if_it_is_triggered_seldom) {
  FakeRun run({.max_epoch = 8, .steps_per_epoch = 2});
  run.trainer.on_step = [](int64_t) {
    for (const Stopwatch pause; pause.seconds() < 0.02;) std::this_thread::yield();
  };
  const Stopwatch watch;
  double longest = 0;  // that four epochs took at most
  run.add("probed", callback_of("PeriodicTrigger: {every_k_epochs: 4, callback: EstimatedTimeLeft}"));
  run.on_trigger("note", [&](tpack::Run& at) {
    if (at.epoch() == 4) longest = watch.seconds();
  });
  testing::internal::CaptureStderr();
  run.go();
  const std::string text = testing::internal::GetCapturedStderr();
  const std::vector<double> estimates = estimates_in(text);
  ASSERT_FALSE(estimates.empty()) << text;
  const double left = estimates[0];
  EXPECT_GE(left, 0.9 * 8 * 0.02) << text;
  EXPECT_LE(left, 1.1 * longest) << "as long as the first half";
}

/// Whether a long run is estimated to take hours, if the second of its first four epochs was long.
std::string estimate_after_a_long_epoch(const std::string& item) {
  const CapturedLog log;
  FakeRun run({.max_epoch = 100'000, .steps_per_epoch = 1});
  run.trainer.on_step = [](int64_t step) {
    const Stopwatch watch;
    while (step == 1 && watch.seconds() < 0.3) {
    }
  };
  run.add("probed", callback_of(item));
  run.on_step("stop", [](Run& at) {
    if (at.global_step() == 4) at.request_stop("enough");
  });
  const std::string error = error_of_run(run);
  const std::string lines = log.text();
  return error +
         (lines.substr(lines.rfind("estimated")).find(" h ") == std::string::npos ? ", soon" : ", hours");
}

const live::Fields kEstimatedTimeLeft("callback", "EstimatedTimeLeft",
                                      {.base = "{last_k_epochs: 3, median: false}",
                                       .values = {{"last_k_epochs", "1"}, {"median", "true"}},
                                       .build = estimate_after_a_long_epoch});

}  // namespace
}  // namespace tpack
