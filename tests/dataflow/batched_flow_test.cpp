#include "dataflow/batched_flow.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(BatchedFlow, drops_or_keeps_the_remainder) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const auto batches = [&](const std::string& remainder) {
      const DataFlow flow =
          yaml_flow("[" + source + ": 7, BatchData: {batch_size: 3, remainder: " + remainder + "}]");
      std::vector<Shape> shapes;
      const auto cursor = flow.open({});
      for (Datapoint d; cursor->next(d);) shapes.push_back(d.tensor(0).shape());
      return shapes;
    };
    EXPECT_EQ(batches("false"), (std::vector<Shape>{{3}, {3}})) << source;
    EXPECT_EQ(batches("true"), (std::vector<Shape>{{3}, {3}, {1}})) << source;
  }
}

TEST(BatchedFlow, knows_its_size_and_spec) {
  const auto made = [](const std::string& batch) {
    return yaml_flow("[Counting: 6, BatchData: {batch_size: " + batch + "}]");
  };
  EXPECT_EQ(made("4").size(), 1);
  EXPECT_EQ(made("4, remainder: true").size(), 2);
  EXPECT_EQ(made("4, remainder: true").spec()[0].tensor.str(), "int64 [?]");
  EXPECT_EQ(made("3, remainder: true").spec()[0].tensor.str(), "int64 [3]");
  EXPECT_EQ(made("3, remainder: true").batch_size(), 3);
}

TEST(BatchedFlow, rejects_a_batch_larger_than_the_pass) {
  const DataFlow flow = yaml_flow("[Counting: 6, BatchData: 7]");
  EXPECT_TRUE(fails([&] { flow.prepare(); }, {"batch_data_0: ", "6 samples", "remainder: true"}));
}

TEST(BatchData, stacks_samples_in_order) {
  const DataFlow flow = yaml_flow("[Counting: 6, BatchData: 3]");
  Datapoint d = first_sample(flow, {.position = 1});
  EXPECT_TRUE(bit_equal(d.tensor(0), Tensor::of<int64_t>({3}, {3, 4, 5})));
  EXPECT_EQ(d.id(), (SampleId{0, 1, 0}));
}

TEST(BatchData, checks_its_size) {
  EXPECT_TRUE(fails([] { yaml_flow("[Counting: 6, BatchData: 0]"); }, {":1:26: ", "from 1 to"}));
}

}  // namespace
}  // namespace tpack
