#include <gmock/gmock-matchers.h>

#include "core/stop.h"
#include "input/readers.h"

namespace tpack {
namespace {

constexpr const char* kTail = "- BatchData: {batch_size: 4}";

TEST(FeedInput, gives_one_pass_after_the_other) {
  const DataFlow flow = small_flow(12, kTail);
  const auto reader = input_of("Feed")->open(setup_for(flow, 4));
  const std::vector<ReadBatch> batches = read(*reader, 7);
  ASSERT_EQ(batches.size(), 7U);
  EXPECT_EQ(batches[1].position.pass, 0);
  EXPECT_EQ(batches[1].position.index, 2);
  EXPECT_EQ(batches[2].position.pass, 1);  // the end of a pass is the start of the next
  EXPECT_EQ(batches[2].position.index, 0);
  EXPECT_EQ(batches[3].position.pass, 1);
  EXPECT_EQ(batches[3].position.index, 1);
  EXPECT_GT(reader->waited_s(), 0);
}

TEST(FeedInput, ends_after_the_passes_it_is_asked_for_remainder_included) {
  const DataFlow flow = small_flow(10, "- BatchData: {batch_size: 4, remainder: true}");
  InputSetup setup = setup_for(flow, 4);
  setup.passes = 2;
  const auto reader = input_of("Feed")->open(setup);
  std::vector<int64_t> sizes;
  while (reader->next({})) sizes.push_back(reader->tensors()[0].shape()[0]);
  EXPECT_THAT(sizes, testing::ElementsAre(4, 4, 2, 4, 4, 2));
}

TEST(FeedInput, replicas_share_the_batches_of_passes_over_their_ends) {
  const DataFlow flow = small_flow(20, kTail);  // 5 batches per pass
  const auto alone = input_of("Feed")->open(setup_for(flow, 4));
  const std::vector<ReadBatch> all = read(*alone, 12);
  for (const int64_t replicas : {2, 3}) {
    for (int64_t replica = 0; replica < replicas; ++replica) {
      InputSetup setup = setup_for(flow, 4);
      setup.replica = replica;
      setup.replicas = replicas;
      const auto reader = input_of("Feed")->open(setup);
      const std::vector<ReadBatch> own = read(*reader, 12 / static_cast<size_t>(replicas));
      ASSERT_EQ(own.size(), 12 / static_cast<size_t>(replicas));
      for (size_t i = 0; i < own.size(); ++i) {
        const size_t global = i * static_cast<size_t>(replicas) + static_cast<size_t>(replica);
        EXPECT_EQ(own[i].bytes, all[global].bytes)
            << "replica " << replica << " of " << replicas << ", " << i;
      }
    }
  }
}

TEST(FeedInput, continues_after_the_end_of_a_pass_of_unknown_length) {
  const DataFlow flow =
      make_flow(parse_yaml("{flow: [FakeData: {shapes: [[5], []], dtype: [float32, int32], names: [x, "
                           "label], domain: [0, 3], size: 12}, "
                           "BatchData: {batch_size: 4}], on_error: skip}",
                           "test.yaml"));
  ASSERT_FALSE(flow.size().has_value());
  const std::vector<ReadBatch> all = read(*input_of("Feed")->open(setup_for(flow, 4)), 12);
  for (int64_t replica = 0; replica < 2; ++replica) {
    InputSetup setup = setup_for(flow, 4);
    setup.replica = replica;
    setup.replicas = 2;
    const std::vector<ReadBatch> straight = read(*input_of("Feed")->open(setup), 6);
    ASSERT_EQ(straight.size(), 6U);
    for (size_t i = 0; i < straight.size(); ++i)
      EXPECT_EQ(straight[i].bytes, all[2 * i + static_cast<size_t>(replica)].bytes);
    for (size_t stop = 0; stop + 1 < straight.size(); ++stop) {
      setup.position = straight[stop].position;
      const std::vector<ReadBatch> resumed = read(*input_of("Feed")->open(setup), straight.size() - stop - 1);
      ASSERT_EQ(resumed.size(), straight.size() - stop - 1);
      for (size_t i = 0; i < resumed.size(); ++i)
        EXPECT_EQ(resumed[i].bytes, straight[stop + 1 + i].bytes) << replica << ", " << stop << ", " << i;
    }
  }
}

TEST(FeedInput, stops_when_asked) {
  const DataFlow flow = small_flow(12, kTail);
  const auto reader = input_of("FeedInput")->open(setup_for(flow, 4));
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(reader->next(source.get_token()), Stopped);
}

}  // namespace
}  // namespace tpack
