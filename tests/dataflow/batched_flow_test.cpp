#include "dataflow/batched_flow.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(BatchedFlow, drops_or_keeps_the_remainder) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const auto batches = [&](bool remainder) {
      const DataFlow flow = make_flow(
          list({item(source, 7), item("BatchData", {{"batch_size", 3}, {"remainder", remainder}})}));
      std::vector<Shape> shapes;
      const auto cursor = flow.open({});
      for (Datapoint d; cursor->next(d);) shapes.push_back(d.tensor(0).shape());
      return shapes;
    };
    EXPECT_EQ(batches(false), (std::vector<Shape>{{3}, {3}})) << source;
    EXPECT_EQ(batches(true), (std::vector<Shape>{{3}, {3}, {1}})) << source;
  }
}

TEST(BatchedFlow, knows_its_size_and_spec) {
  const auto made = [](bool remainder, int64_t batch) {
    return make_flow(
        list({item("Counting", 6), item("BatchData", {{"batch_size", batch}, {"remainder", remainder}})}));
  };
  EXPECT_EQ(made(false, 4).size(), 1);
  EXPECT_EQ(made(true, 4).size(), 2);
  EXPECT_EQ(made(true, 4).spec()[0].tensor.str(), "int64 [?]");
  EXPECT_EQ(made(true, 3).spec()[0].tensor.str(), "int64 [3]");
  EXPECT_EQ(made(true, 3).batch_size(), 3);
}

TEST(BatchedFlow, rejects_a_batch_larger_than_the_pass) {
  const DataFlow flow = make_flow(list({item("Counting", 6), item("BatchData", {{"batch_size", 7}})}));
  EXPECT_EQ(
      error_of([&] { flow.prepare(); }),
      "batch_data_0: a pass has 6 samples, batch_size is 7; use a smaller batch_size or set remainder: true");
}

}  // namespace
}  // namespace tpack
