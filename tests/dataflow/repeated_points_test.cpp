#include "dataflow/repeated_points.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(RepeatedPoints, once_is_the_flow_itself) {
  const FlowPtr flow = yaml_flow("[Counting: 3]").flow();
  EXPECT_EQ(repeated_points(flow, 1, {}), flow);
}

TEST(RepeatedPoints, copies_have_different_ids) {
  const FlowPtr flow = repeated_points(yaml_flow("[Counting: 3]").flow(), 3, {});
  Datapoint d;
  ASSERT_TRUE(flow->get({1, 2, 5}, 7, d));
  EXPECT_EQ(d.id(), (SampleId{2, 2, 16}));
}

TEST(RepeatedPoints, go_on_after_an_image_that_cannot_be_copied) {
  const TempFolder folder;
  const auto line = [](int k, const std::string& image) {
    return "printf '%s\\n' '{\"k\": " + std::to_string(k) +
           ", \"image\": {\"bytes\": " + std::to_string(image.size()) + "}}'; printf '" + image + "'; ";
  };
  const std::string good = "P5 1 1 255 7";
  folder.write_text("a.sh", line(0, good) + line(1, "P5 1 1 255 ") + line(2, good));
  const std::string flow = "[PipeData: [sh, " + folder.path("a.sh") + "], RepeatedDataPoint: 2]";
  EXPECT_TRUE(fails([&] { samples_of(folder.flow(flow)); }, {"repeated_data_point_0, sample 1 of pass 0: "}));
  Integers numbers;
  for (const Numbers& sample : samples_of(folder.flow("{flow: " + flow + ", on_error: skip}")))
    numbers.push_back(static_cast<int64_t>(sample.front()));
  EXPECT_EQ(numbers, (Integers{0, 0, 2, 2}));
}

TEST(CopyDatapoint, shares_no_memory) {
  Datapoint from;
  from.resize(1);
  from.set_tensor(0, Tensor::scalar<int32_t>(4));
  from.set_id({1, 2, 3});
  Datapoint to;
  copy_datapoint(from, to);
  *from.tensor(0).data<int32_t>() = 5;
  EXPECT_EQ(to.tensor(0).at(0), 4);
  EXPECT_EQ(to.id(), from.id());
}

}  // namespace
}  // namespace tpack
