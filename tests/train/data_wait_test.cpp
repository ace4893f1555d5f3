#include "train/data_wait.h"

#include <gmock/gmock-matchers.h>

#include "support/fake_trainer.h"

namespace tpack {
namespace {

using testing::HasSubstr;

/// An epoch that waited 4 of 10 seconds; map_data_0 takes 3 of 4 seconds of the measured work.
DataWait waiting() {
  DataWait wait{.seconds = 4, .share = 0.4, .samples_per_s = 600, .processors = 2};
  wait.queue.workers = 2;
  wait.queue.stats.slots = 4;
  const auto file = std::make_shared<const std::string>("a.yaml");
  wait.queue.parts = {{"csv_0", {file, 5, 7}}, {"map_data_0", {file, 6, 7}}};
  wait.queue.times.parts = {{"csv_0", {.seconds = 0.5}}, {"map_data_0", {.seconds = 3}}};
  wait.queue.times.rest_s = 0.5;
  return wait;
}

TEST(SlowData, names_the_slowest_part_and_the_command_that_shows_more) {
  const SlowData slow = slow_data(waiting());
  EXPECT_EQ(slow.part, "map_data_0 (a.yaml:6:7), 75 % of the work");
  EXPECT_THAT(slow.advice, HasSubstr(slow.part));
  EXPECT_THAT(slow.advice, HasSubstr("`tpack data bench a.yaml --need 1000`"));
}

TEST(SlowData, asks_for_more_workers_if_there_are_processors_for_them) {
  DataWait wait = waiting();
  wait.processors = 8;
  EXPECT_THAT(slow_data(wait).advice, HasSubstr("2 workers on 8 processors; write workers: auto"));
}

TEST(SlowData, asks_for_a_larger_queue_if_it_is_often_full) {
  DataWait wait = waiting();
  wait.queue_fill = 2;
  EXPECT_THAT(slow_data(wait).advice, HasSubstr("2 of 3 batches are ready on average"));
  EXPECT_THAT(slow_data(wait).advice, HasSubstr("write prefetch: 12"));
}

TEST(SlowData, is_nothing_if_the_wait_does_not_matter) {
  DataWait little = waiting();
  little.share = 0.09;
  DataWait quick = waiting();
  quick.seconds = 0.9;
  for (const DataWait& wait : {little, quick}) {
    EXPECT_EQ(slow_data(wait).part, "");
    EXPECT_EQ(slow_data(wait).cause, "");
  }
}

TEST(SlowData, says_nothing_of_parts_that_were_not_measured) {
  DataWait wait = waiting();
  wait.queue.times = {};
  EXPECT_EQ(slow_data(wait).advice, "");
  wait.processors = 8;
  EXPECT_THAT(slow_data(wait).advice, HasSubstr("write workers: auto"));
}

/// The trainer says that it waited for ten seconds in each epoch.
TEST(SlowDataOfEpochs, is_in_each_line_and_the_advice_comes_once) {
  FakeRun run({.max_epoch = 3, .steps_per_epoch = 2});
  run.trainer.queue = waiting().queue;
  run.trainer.queue->workers = 1024;  // more than processors
  run.trainer.on_step = [&](int64_t /*step*/) { run.trainer.waited += 5; };
  testing::internal::CaptureStderr();
  run.go();
  const std::string log = testing::internal::GetCapturedStderr();
  const auto count = [&log](const std::string& text) {
    int found = 0;
    for (size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("% waiting for data, most for map_data_0 (a.yaml:6:7), 75 % of the work\n"), 3) << log;
  EXPECT_EQ(count("steps wait for data"), 1) << log;
}

}  // namespace
}  // namespace tpack
