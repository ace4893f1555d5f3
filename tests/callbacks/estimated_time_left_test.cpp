#include <cstdio>
#include <thread>

#include <gmock/gmock.h>

#include "callbacks/callback_scenes.h"
#include "core/clock.h"
#include "support/fake_trainer.h"

namespace tpack {
namespace {

TEST(EstimatedTimeLeft, is_shown_after_every_epoch_except_the_last) {
  for (const bool median : {true, false}) {
    FakeTrainer trainer;
    TestRun run({.max_epoch = 3, .steps_per_epoch = 1}, trainer);
    testing::internal::CaptureStderr();
    run.add("EstimatedTimeLeft", {{"median", median}}).go();
    const std::string text = testing::internal::GetCapturedStderr();
    size_t lines = 0;
    for (size_t at = text.find("estimated time left: "); at != std::string::npos;
         at = text.find("estimated time left: ", at + 1)) {
      ++lines;
    }
    EXPECT_EQ(lines, 2U) << text;
  }
}

/// Parses the seconds of a text of human_duration that is shorter than a minute.
double seconds_of(const std::string& text) {
  double value = 0;
  char unit[8] = "";
  EXPECT_EQ(std::sscanf(text.c_str(), "%lf %7s", &value, unit), 2) << text;
  return std::string(unit) == "ms" ? value / 1e3 : std::string(unit) == "us" ? value / 1e6 : value;
}

TEST(EstimatedTimeLeft, is_the_epochs_that_are_left_at_the_pace_of_those_done) {
  const double kPause = 0.1;
  FakeTrainer trainer;
  TestRun run({.max_epoch = 4, .steps_per_epoch = 1}, trainer);
  Stopwatch watch;
  double before = 0;
  std::vector<double> longest;  // that one epoch took at most, by epoch
  run.add("pause", std::make_unique<FunctionCallback>([=](tpack::Run&) {
            for (const Stopwatch pause; pause.seconds() < kPause;) std::this_thread::yield();
          }));
  run.add("EstimatedTimeLeft", {{"last_k_epochs", 1}});
  run.add("note", std::make_unique<FunctionCallback>(nullptr, [&](tpack::Run&) {
            longest.push_back(watch.seconds() - before);
            before = watch.seconds();
          }));
  testing::internal::CaptureStderr();
  run.go();
  const std::string text = testing::internal::GetCapturedStderr();
  const std::string what = "estimated time left: ";
  size_t at = 0;
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    at = text.find(what, at);
    ASSERT_NE(at, std::string::npos) << text;
    at += what.size();
    const double left = seconds_of(text.substr(at, text.find('\n', at) - at));
    const auto epochs = static_cast<double>(3 - epoch);
    EXPECT_GE(left, 0.9 * epochs * kPause) << text;
    // The epoch before the one that is timed ends slightly later here than in the callback.
    EXPECT_LE(left, 1.1 * epochs * (longest[epoch] + (epoch > 0 ? 0.02 : 0)) + 0.05) << text;
  }
}

TEST(EstimatedTimeLeft, is_the_same_if_it_is_triggered_seldom) {
  FakeTrainer trainer;
  trainer.on_step = [](int64_t) {
    for (const Stopwatch pause; pause.seconds() < 0.02;) std::this_thread::yield();
  };
  TestRun run({.max_epoch = 8, .steps_per_epoch = 2}, trainer);
  const Stopwatch watch;
  double longest = 0;  // that four epochs took at most
  run.add("probed", callback_of("PeriodicTrigger: {every_k_epochs: 4, callback: EstimatedTimeLeft}"));
  run.add("note", std::make_unique<FunctionCallback>(nullptr, [&](tpack::Run& at) {
            if (at.epoch() == 4) longest = watch.seconds();
          }));
  testing::internal::CaptureStderr();
  run.go();
  const std::string text = testing::internal::GetCapturedStderr();
  const std::string what = "estimated time left: ";
  const size_t at = text.find(what);
  ASSERT_NE(at, std::string::npos) << text;
  const double left = seconds_of(text.substr(at + what.size(), text.find('\n', at) - at - what.size()));
  EXPECT_GE(left, 0.9 * 8 * 0.02) << text;
  EXPECT_LE(left, 1.1 * longest) << "as long as the first half";
}

/// Whether a long run is estimated to take hours, if the second of its first four epochs was long.
std::string estimate_after_a_long_epoch(const std::string& item) {
  const CapturedLog log;
  FakeTrainer trainer;
  trainer.on_step = [](int64_t step) {
    const Stopwatch watch;
    while (step == 1 && watch.seconds() < 0.3) {
    }
  };
  TestRun run({.max_epoch = 100'000, .steps_per_epoch = 1}, trainer);
  run.add("probed", callback_of(item));
  run.add("stop", std::make_unique<FunctionCallback>([](Run& at) {
            if (at.global_step() == 4) at.request_stop("enough");
          }));
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
