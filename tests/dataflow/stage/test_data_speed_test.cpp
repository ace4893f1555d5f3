#include <regex>

#include "dataflow/flow_helpers.h"
#include "support/captured_log.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// The log of reading a flow of 40 samples, with # for each number that depends on the machine.
std::string measured(const std::string& item, const std::string& end = "") {
  const CapturedLog log;
  const DataFlow flow = yaml_flow("[Counting: 40, " + item + end + "]");
  const auto stream = flow.stream({.workers = 2, .slots = 2, .passes = 1});
  while (stream->next()) {
  }
  return std::regex_replace(log.text(), std::regex("in [0-9.e-]+ s, [0-9,]+ samples/s"), "in # s");
}

TEST(TestDataSpeed, says_once_how_fast_samples_come) {
  EXPECT_TRUE(says(measured("TestDataSpeed: 20"), {"test_data_speed_0: 20 samples in # s"}));
  EXPECT_TRUE(says(measured("TestDataSpeed: {size: 20, warmup: 10}"), {"20 samples in # s"}));
  EXPECT_EQ(measured("TestDataSpeed: 41"), "") << "there are not enough";
  EXPECT_EQ(measured("TestDataSpeed: {size: 20, warmup: 30}"), "") << "there are not enough";
}

TEST(TestDataSpeed, counts_samples_of_batches) {
  EXPECT_TRUE(says(measured("BatchData: 8, TestDataSpeed: 30"), {"32 samples in # s"}));
}

TEST(TestDataSpeed, changes_nothing) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = yaml_flow("[" + source + ": 9, TestDataSpeed: 2, Picky, BatchData: 2]");
    const DataFlow without = yaml_flow("[" + source + ": 9, Picky, BatchData: 2]");
    for (const size_t workers : {1U, 3U})
      EXPECT_EQ(numbers_of(*flow.stream({.workers = workers, .slots = 2, .passes = 2})),
                numbers_of(*without.stream({.workers = 1, .slots = 2, .passes = 2})))
          << source;
    EXPECT_EQ(first_component(flow, {.position = 2}), first_component(without, {.position = 2}));
  }
}

const live::Fields kSpeed("stage", "TestDataSpeed",
                          {.base = "{size: 10, warmup: 0}",
                           .values = {{"warmup", "35"}, {"size", "12"}},
                           .build = [](const std::string& item) {
                             return content_of_flow("[Counting: 40, " + item + "]") + measured(item);
                           }});

}  // namespace
}  // namespace tpack
