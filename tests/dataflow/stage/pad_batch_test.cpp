#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Samples of 1, 3, 2, 0 and 4 numbers.
const std::string kLists =
    "DataFromList: {shuffle: false, samples: [{x: [1], k: 0}, {x: [2, 3, 4], k: 1}, {x: [5, 6], k: 2}, {x: "
    "[], "
    "k: 3}, {x: [7, 8, 9, 10], k: 4}]}";

std::string padded(const std::string& params) { return "[" + kLists + ", PadBatch: {" + params + "}]"; }

TEST(PadBatch, pads_to_the_longest_of_each_batch_and_says_the_lengths) {
  const DataFlow flow = yaml_flow(padded("batch_size: 2, value: -1, remainder: true"));
  EXPECT_EQ(flow.spec().str(), "x int32 [?, ?], k int32 [?], x_length int32 [?]");
  EXPECT_EQ(flow.size(), 3);
  const auto cursor = flow.open({});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  EXPECT_TRUE(bit_equal(d.tensor(0), Tensor::of<int32_t>({2, 3}, {1, -1, -1, 2, 3, 4})));
  EXPECT_TRUE(bit_equal(d.tensor(1), Tensor::of<int32_t>({2}, {0, 1})));
  EXPECT_TRUE(bit_equal(d.tensor(2), Tensor::of<int32_t>({2}, {1, 3})));
  ASSERT_TRUE(cursor->next(d));
  EXPECT_TRUE(bit_equal(d.tensor(0), Tensor::of<int32_t>({2, 2}, {5, 6, -1, -1})));
  EXPECT_TRUE(bit_equal(d.tensor(2), Tensor::of<int32_t>({2}, {2, 0})));
  ASSERT_TRUE(cursor->next(d));
  EXPECT_TRUE(bit_equal(d.tensor(0), Tensor::of<int32_t>({1, 4}, {7, 8, 9, 10})));
  EXPECT_FALSE(cursor->next(d));
}

TEST(PadBatch, rounds_sizes_up_to_a_multiple) {
  Datapoint d = first_sample(yaml_flow(padded("batch_size: 2, multiple: 4")));
  EXPECT_TRUE(bit_equal(d.tensor(0), Tensor::of<int32_t>({2, 4}, {1, 0, 0, 0, 2, 3, 4, 0})));
}

TEST(PadBatch, drops_the_remainder_unless_asked) {
  EXPECT_EQ(yaml_flow(padded("batch_size: 2")).size(), 2);
  EXPECT_EQ(yaml_flow(padded("batch_size: 2")).spec()[0].tensor.str(), "int32 [2, ?]");
}

TEST(PadBatch, pads_inner_axes_at_their_ends) {
  const DataFlow flow = yaml_flow(
      "[DataFromList: {shuffle: false, samples: [{m: [[1, 2, 3]]}, {m: [[4], [5]]}]}, PadBatch: 2]");
  Datapoint d = first_sample(flow);
  EXPECT_TRUE(bit_equal(d.tensor(0), Tensor::of<int32_t>({2, 2, 3}, {1, 2, 3, 0, 0, 0, 4, 0, 0, 5, 0, 0})));
  EXPECT_TRUE(bit_equal(d.tensor(1), Tensor::of<int32_t>({2, 2}, {1, 3, 2, 1}))) << "height and width";
}

TEST(PadBatch, pads_images_but_not_their_channels) {
  const TempFolder folder;
  folder.write("a.png", encode_png(photo(5, 3)));
  folder.write("b.png", encode_png(photo(4, 7)));
  const DataFlow flow =
      folder.flow("[ImageFromFile: ['*.png'], PadBatch: {batch_size: 2, multiple: 4, value: 9}]");
  Datapoint d = first_sample(flow);
  const Tensor& batch = d.tensor(0);
  EXPECT_EQ(batch.spec().str(), "uint8 [2, 8, 8, 3]");
  Datapoint own = first_sample(folder.flow("[ImageFromFile: [a.png]]"));
  const Shape size = own.to_tensor(0).shape();
  for (int64_t y = 0; y < 8; ++y) {
    for (int64_t x = 0; x < 8; ++x) {
      const bool inside = y < size[0] && x < size[1];
      EXPECT_EQ(batch.at((y * 8 + x) * 3), inside ? own.tensor(0).at((y * size[1] + x) * 3) : 9);
    }
  }
}

TEST(PadBatch, is_the_same_for_any_number_of_workers_and_from_any_place) {
  for (const std::string end : {"PadBatch: 2", "PadBatch: {batch_size: 2, remainder: true}",
                                "Filter: k != 1, PadBatch: {batch_size: 2, remainder: true}"}) {
    const DataFlow flow = yaml_flow("[" + kLists + ", " + end + "]");
    const auto whole = numbers_of(*flow.stream({.workers = 1, .slots = 1, .passes = 3}));
    ASSERT_FALSE(whole.empty());
    EXPECT_EQ(numbers_of(*flow.stream({.workers = 7, .slots = 3, .passes = 3})), whole) << end;
    Numbers of_cursors;
    for (int64_t pass = 0; pass < 3; ++pass)
      for (const Numbers& batch : samples_of(flow, {.pass = pass}))
        of_cursors.insert(of_cursors.end(), batch.begin(), batch.end());
    EXPECT_EQ(of_cursors, whole) << end;
    auto parts = numbers_of(*flow.stream({.workers = 2, .slots = 2, .passes = 3}), 1);
    const auto rest = numbers_of(*flow.stream({.workers = 3, .slots = 2, .position = {0, 1}, .passes = 3}));
    parts.insert(parts.end(), rest.begin(), rest.end());
    EXPECT_EQ(parts, whole) << end;
  }
}

TEST(PadBatch, batches_count_their_samples) {
  const auto stream =
      yaml_flow(padded("batch_size: 2, remainder: true")).stream({.workers = 2, .slots = 2, .passes = 1});
  Integers counts;
  while (auto batch = stream->next()) counts.push_back(batch->samples());
  EXPECT_EQ(counts, (Integers{2, 2, 1}));
}

TEST(PadBatch, mistakes_have_fixes) {
  expect_errors(
      [](const std::string& flow) { yaml_flow(flow); },
      {{"[Counting: 4, PadBatch: 2]", {"nothing to pad", "write BatchData: 2"}},
       {padded("batch_size: 2, components: [k]"), {"'k' is int32 []", "remove it"}},
       {padded("batch_size: 2, components: []"), {"'components' is empty", "x"}},
       {padded("batch_size: 2, components: [x, x]"), {"'x' twice"}},
       {padded("batch_size: 2, components: [z]"), {"unknown component 'z'"}},
       {padded("batch_size: 2, value: 0.5"), {"'value' is 0.5", "int32", "write an integer"}},
       {"[" + kLists + ", RenameComponents: {names: {k: x_length}}, PadBatch: 2]",
        {"'x_length'", "RenameComponents"}},
       {"[DataFromList: {samples: [{x: [1], y: [2, 3]}, {x: [1, 2], y: [2]}]}, PadBatch: {batch_size: "
        "2, components: [x]}]",
        {"component 'y' is int32 [?]", "add it to 'components'"}},
       {padded("batch_size: 2").substr(0, padded("batch_size: 2").size() - 1) + ", PadBatch: 2]",
        {"has batches already"}}});
}

const live::Fields kPadBatch("stage", "PadBatch",
                             {.base = "{batch_size: 2, components: [x, y]}",
                              .values = {{"components", "[y]"}, {"remainder", "true"}},
                              .build = [](const std::string& item) {
                                return content_of_flow(
                                    "[DataFromList: {samples: [{x: [1], y: [2, 3]}, {x: [1, 2], y: [2]}, {x: "
                                    "[3], y: [3]}]}, " +
                                    item + "]");
                              }});

}  // namespace
}  // namespace tpack
