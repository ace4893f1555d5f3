#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Samples 0 to 7 with 1, 2, 1, 3, 2, 1, 2 and 1 numbers.
const std::string kMixed =
    "DataFromList: {shuffle: false, samples: [{k: 0, x: [1]}, {k: 1, x: [1, 2]}, {k: 2, x: [1]}, {k: 3, x: "
    "[1, "
    "2, 3]}, {k: 4, x: [1, 2]}, {k: 5, x: [1]}, {k: 6, x: [1, 2]}, {k: 7, x: [1]}]}";

std::string by_shape(const std::string& params, const std::string& before = "") {
  return "[" + kMixed + before + ", BatchDataByShape: {component: x, " + params + "}]";
}
/// The values of k of each batch.
std::vector<Integers> batches_of(const DataFlow& flow, const Pass& pass = {}) {
  std::vector<Integers> all;
  const auto cursor = flow.open(pass);
  for (Datapoint d; cursor->next(d);) {
    Integers& batch = all.emplace_back();
    for (int64_t i = 0; i < d.tensor(0).elements(); ++i)
      batch.push_back(static_cast<int64_t>(d.tensor(0).at(i)));
    EXPECT_EQ(d.tensor(1).shape()[0], std::ssize(batch));
  }
  return all;
}

TEST(BatchDataByShape, collects_samples_of_one_shape_in_order) {
  EXPECT_EQ(batches_of(yaml_flow(by_shape("batch_size: 2"))),
            (std::vector<Integers>{{0, 2}, {1, 4}, {5, 7}}));
  EXPECT_EQ(batches_of(yaml_flow(by_shape("batch_size: 2, remainder: true"))),
            (std::vector<Integers>{{0, 2}, {1, 4}, {5, 7}, {6}, {3}}))
      << "what is left, by the first samples of the shapes";
}

TEST(BatchDataByShape, has_no_known_length_and_reads_again_to_resume) {
  const DataFlow flow = yaml_flow(by_shape("batch_size: 2, remainder: true"));
  EXPECT_EQ(flow.size(), std::nullopt);
  EXPECT_EQ(flow.seek(), Seek::kReplayReads);
  EXPECT_EQ(flow.batching()->samples, std::nullopt);
  EXPECT_EQ(flow.spec().str(), "k int32 [?], x int32 [?, ?]");
  EXPECT_EQ(yaml_flow(by_shape("batch_size: 2")).spec().str(), "k int32 [2], x int32 [2, ?]");
}

TEST(BatchDataByShape, is_the_same_for_workers_readers_and_every_place) {
  for (const std::string params : {"batch_size: 2", "batch_size: 2, remainder: true"}) {
    for (const std::string before : {"", ", Filter: k != 2"}) {
      const DataFlow flow = yaml_flow(by_shape(params, before));
      const auto whole = numbers_of(*flow.stream({.workers = 1, .slots = 1, .passes = 3}));
      for (const size_t workers : {2U, 7U, 16U})
        EXPECT_EQ(numbers_of(*flow.stream({.workers = workers, .slots = 3, .passes = 3})), whole) << params;
      for (int64_t at = 1; at < 4; ++at) {
        const auto first = flow.stream({.workers = 2, .slots = 2, .passes = 3});
        auto numbers = numbers_of(*first, at);
        const DataPosition position = first->position();
        const auto rest = numbers_of(
            *flow.stream({.workers = 3, .slots = 2, .position = position, .passes = 3 - position.pass}));
        numbers.insert(numbers.end(), rest.begin(), rest.end());
        EXPECT_EQ(numbers, whole) << params << " from " << at;
      }
    }
  }
}

TEST(BatchDataByShape, shards_have_each_batch_once) {
  const DataFlow flow = yaml_flow(by_shape("batch_size: 2, remainder: true"));
  std::vector<Integers> dealt(2);
  for (int64_t shard = 0; shard < 2; ++shard) {
    const auto stream =
        flow.stream({.workers = 2, .slots = 2, .shard = shard, .shard_count = 2, .passes = 1});
    while (auto batch = stream->next())
      dealt[static_cast<size_t>(shard)].push_back(static_cast<int64_t>(batch->tensor(0).at(0)));
  }
  EXPECT_EQ(dealt, (std::vector<Integers>{{0, 5, 3}, {1, 6}}));
}

TEST(BatchDataByShape, mistakes_have_fixes) {
  expect_errors(
      [](const std::string& flow) { samples_of(yaml_flow(flow)); },
      {{"[Counting: 4, BatchDataByShape: {batch_size: 2, component: k}]",
        {"'k' is int64 [] in every sample", "BatchData: 2"}},
       {"[" + kMixed + ", BatchDataByShape: 2]", {"unknown component 'image'"}},
       {"[DataFromList: {shuffle: false, samples: [{x: [1], y: [1]}, {x: [2], y: [2, 3]}, {x: [1, 2], "
        "y: [1]}]}, BatchDataByShape: {batch_size: 2, component: x}]",
        {"batch_data_by_shape_0", "need equal shapes"}},
       {"[JoinData: [[" + kMixed + ", BatchDataByShape: {batch_size: 2, component: x}]]]",
        {"BatchDataByShape inside JoinData"}}});
}

const live::Fields kByShape(
    "stage", "BatchDataByShape",
    {.base = "{batch_size: 2, component: x}",
     .values = {{"component", "y"}},
     .build = [](const std::string& item) {
       return content_of_flow(
           "[DataFromList: {shuffle: false, samples: [{x: [1], y: [1]}, {x: [2], y: [2]}, "
           "{x: [1, 2], y: [1]}, {x: [1, 2], y: [1, 2]}]}, " +
           item + "]");
     }});

}  // namespace
}  // namespace tpack
