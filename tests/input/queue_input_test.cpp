#include <thread>

#include <gmock/gmock-matchers.h>

#include "core/stop.h"
#include "input/readers.h"

namespace tpack {
namespace {

constexpr const char* kQueueTail = "- BatchData: {batch_size: 4}";

std::unique_ptr<InputReader> open(const std::string& source, const DataFlow& flow, int64_t replica,
                                  int64_t replicas, DataPosition position = {}) {
  InputSetup setup = setup_for(flow, 4);
  setup.replica = replica;
  setup.replicas = replicas;
  setup.position = position;
  return input_of(source)->open(setup);
}

void expect_same(const std::vector<ReadBatch>& queue, const std::vector<ReadBatch>& feed,
                 const std::string& where) {
  ASSERT_EQ(queue.size(), feed.size()) << where;
  for (size_t i = 0; i < queue.size(); ++i) {
    EXPECT_EQ(queue[i].bytes, feed[i].bytes) << where << ", batch " << i;
    EXPECT_EQ(queue[i].position.pass, feed[i].position.pass) << where << ", batch " << i;
    EXPECT_EQ(queue[i].position.index, feed[i].position.index) << where << ", batch " << i;
  }
}

class Replicas : public testing::TestWithParam<int64_t> {};

TEST_P(Replicas, queue_and_feed_give_the_same_batches) {
  const DataFlow flow = small_flow(20, kQueueTail);  // 5 batches per pass
  for (int64_t replica = 0; replica < GetParam(); ++replica) {
    const auto queue = open("Queue", flow, replica, GetParam());
    const auto feed = open("Feed", flow, replica, GetParam());
    expect_same(read(*queue, 13), read(*feed, 13), "replica " + std::to_string(replica));
  }
}

TEST_P(Replicas, go_on_at_any_position_as_if_they_had_not_stopped) {
  const DataFlow flow = small_flow(20, kQueueTail);
  for (int64_t replica = 0; replica < GetParam(); ++replica) {
    const auto whole = open("Feed", flow, replica, GetParam());
    const std::vector<ReadBatch> all = read(*whole, 12);
    for (size_t stop = 1; stop < 8; ++stop) {
      for (const char* source : {"Queue", "Feed"}) {
        const auto reader = open(source, flow, replica, GetParam(), all[stop - 1].position);
        const std::vector<ReadBatch> rest(all.begin() + static_cast<std::ptrdiff_t>(stop), all.end());
        expect_same(read(*reader, rest.size()), rest,
                    source + (" after " + std::to_string(stop)) + ", replica " + std::to_string(replica));
      }
    }
  }
}

TEST_P(Replicas, all_know_the_same_place_to_go_on) {
  const DataFlow flow = small_flow(20, kQueueTail);
  std::vector<std::vector<ReadBatch>> reads;
  for (int64_t replica = 0; replica < GetParam(); ++replica)
    reads.push_back(read(*open("Queue", flow, replica, GetParam()), 9));
  for (size_t i = 0; i < 9; ++i) {
    for (const auto& one : reads) {
      EXPECT_EQ(one[i].position.pass, reads[0][i].position.pass) << i;
      EXPECT_EQ(one[i].position.index, reads[0][i].position.index) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OneTwoThree, Replicas, testing::Values(1, 2, 3));

TEST(QueueInput, gives_the_remainder_batch_and_ends_with_the_passes) {
  const DataFlow flow = small_flow(10, "- BatchData: {batch_size: 4, remainder: true}");
  InputSetup setup = setup_for(flow, 4);
  setup.passes = 1;
  const auto reader = input_of("Queue")->open(setup);
  std::vector<int64_t> sizes;
  while (reader->next({})) sizes.push_back(reader->tensors()[0].shape()[0]);
  EXPECT_THAT(sizes, testing::ElementsAre(4, 4, 2));
}

/// Before the first batch, the workers fill all slots; a slot that is given back waits for others.
TEST(QueueInput, tells_how_full_the_queue_is_and_the_work_of_parts) {
  const DataFlow flow = small_flow(20, kQueueTail);
  const auto reader = input_of("Queue", {{"capacity", 3}})->open(setup_for(flow, 4));
  while (reader->queue()->stats.ready < 3) std::this_thread::yield();
  ASSERT_TRUE(reader->next({}));
  EXPECT_EQ(reader->queue()->stats.fill, 3);
  ASSERT_TRUE(reader->next({}));
  EXPECT_EQ(reader->queue()->stats.fill, 0.5 * 3 + 0.5 * 2);
  EXPECT_EQ(reader->queue()->stats.found, 3 + 2);
  EXPECT_EQ(reader->queue()->stats.slots, 3U);
  EXPECT_FALSE(reader->queue()->parts.empty());
  EXPECT_GT(reader->queue()->times.samples, 0);
}

TEST(QueueInput, stops_when_asked) {
  const DataFlow flow = small_flow(12, kQueueTail);
  const auto reader = open("QueueInput", flow, 0, 1);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(
      {
        while (reader->next(source.get_token())) {
        }
      },
      Stopped);
}

TEST(QueueInput, rejects_a_queue_of_one) { EXPECT_THROW(input_of("Queue", {{"capacity", 1}}), ConfigError); }

}  // namespace
}  // namespace tpack
