#include "dataflow/datapoint.h"

#include "dataflow/flow_helpers.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

const TensorSpec kBytes{DType::kUInt8, {4, 4}};

TEST(Datapoint, memory_that_is_no_longer_held_is_reused) {
  Datapoint d;
  const std::byte* first = d.renew(0, kBytes).raw();
  d.renew(0, {DType::kFloat32, {4}});
  EXPECT_EQ(d.renew(0, kBytes).raw(), first);
}

TEST(Datapoint, memory_that_is_held_stays_as_it_is) {
  Datapoint d;
  const Tensor old = d.renew(0, kBytes);
  old.data<uint8_t>()[0] = 42;
  d.renew(0, kBytes).data<uint8_t>()[0] = 1;
  EXPECT_EQ(old.at(0), 42);
}

TEST(Datapoint, an_offered_row_is_used_if_it_fits) {
  Datapoint d;
  const Tensor row(kBytes);
  d.offer(0, row);
  EXPECT_NE(d.renew(0, {DType::kUInt8, {4, 5}}).raw(), row.raw());
  EXPECT_EQ(d.renew(0, kBytes).raw(), row.raw());
}

TEST(Datapoint, a_row_that_is_offered_twice_is_taken_twice) {
  Datapoint d;
  const Tensor row(kBytes);
  for (int sample = 0; sample < 2; ++sample) {
    d.offer(0, row);
    EXPECT_EQ(d.renew(0, kBytes).raw(), row.raw()) << sample;
  }
}

TEST(Datapoint, images_become_tensors_on_demand) {
  Datapoint d;
  cv::Mat pixels = pooled_mat(2, 3, CV_8UC3);
  pixels.setTo(cv::Scalar(1, 2, 3));
  d.renew_image(0).set_pixels(pixels);
  const Tensor& tensor = d.to_tensor(0);
  EXPECT_EQ(tensor.shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(tensor.at(5), 3);
}

TEST(Datapoint, select_reorders) {
  Datapoint d;
  d.renew(0, kBytes);
  *d.renew(1, {DType::kInt32, {}}).data<int32_t>() = 5;
  d.select(std::vector<size_t>{1, 0});
  EXPECT_EQ(d.tensor(0).at(0), 5);
  EXPECT_EQ(d.tensor(1).spec(), kBytes);
  d.select(std::vector<size_t>{0});
  EXPECT_EQ(d.size(), 1U);
}

TEST(StoreRow, swapped_components_do_not_overwrite_each_other) {
  const std::vector<Tensor> batch = {Tensor::zeros({DType::kInt32, {2}}),
                                     Tensor::zeros({DType::kInt32, {2}})};
  Datapoint d;
  for (size_t i = 0; i < 2; ++i) {
    d.offer(i, batch[i].row(1));
    *d.renew(i, {DType::kInt32, {}}).data<int32_t>() = static_cast<int32_t>(i) + 1;
  }
  d.select(std::vector<size_t>{1, 0});
  store_row(d, batch, 1);
  EXPECT_EQ(batch[0].at(1), 2);
  EXPECT_EQ(batch[1].at(1), 1);
}

TEST(StoreRow, another_shape_is_rejected) {
  const std::vector<Tensor> batch = {Tensor(DType::kUInt8, {2, 4, 4})};
  Datapoint d;
  d.renew(0, {DType::kUInt8, {4, 5}});
  EXPECT_TRUE(fails([&] { store_row(d, batch, 0); }, {"uint8 [4, 5]", "need equal shapes"}));
}

}  // namespace
}  // namespace tpack
