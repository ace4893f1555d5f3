#include "dataflow/flow_helpers.h"
#include "dataflow/map/tensor_map.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

Tensor normalized(const ConfigNode& params, const Tensor& in) {
  const auto map = Registry<TensorMap>::make("MeanVarianceNormalize", params);
  Tensor out(map->spec(in.spec()));
  map->apply(in, out);
  return out;
}

const Tensor kPixels = Tensor::of<uint8_t>({2, 2, 2}, {0, 10, 255, 10, 7, 12, 30, 200});

/// (x - x.mean()) / x.std() of NumPy; with axis=(0, 1) for each channel.
TEST(MeanVarianceNormalize, has_the_numbers_of_numpy) {
  const Tensor all = Tensor::of<float>({2, 2, 2}, {-0.6904498F, -0.5850376F, 1.9975609F, -0.5850376F,
                                                   -0.6166613F, -0.5639552F, -0.3742133F, 1.4177939F});
  EXPECT_LT(max_difference(normalized(ConfigNode::map({}), kPixels), all), 1e-6);
  EXPECT_LT(max_difference(normalized(ConfigNode::map({}), kPixels.cast(DType::kFloat32)), all), 1e-6);
  const Tensor each = Tensor::of<float>({2, 2, 2}, {-0.6908810F, -0.5854529F, 1.7224703F, -0.5854529F,
                                                    -0.6246321F, -0.5610591F, -0.4069573F, 1.7319649F});
  EXPECT_LT(max_difference(normalized({{"all_channels", false}}, kPixels), each), 1e-6);
}

/// The deviation is at least 1 / sqrt(4).
TEST(MeanVarianceNormalize, does_not_divide_by_zero) {
  EXPECT_EQ(max_difference(normalized(ConfigNode::map({}), Tensor::of<float>({4}, {7, 7, 7, 7})),
                           Tensor::of<float>({4}, {0, 0, 0, 0})),
            0);
  EXPECT_LT(max_difference(normalized(ConfigNode::map({}), Tensor::of<float>({4}, {0, 0, 0, 0.4F})),
                           Tensor::of<float>({4}, {-0.2F, -0.2F, -0.2F, 0.6F})),
            1e-6);
}

std::string content_of_normalized(const std::string& item) {
  return content_of_flow(
      "[{FakeData: {shapes: [[2, 3]], names: [x], size: 5}}, {MapData: {component: x, map: " + item + "}}]");
}

const live::Fields kMeanVarianceNormalize("tensor map", "MeanVarianceNormalize",
                                          {.build = content_of_normalized});
const live::Fields kMinMaxNormalize("tensor map", "MinMaxNormalize", {.build = content_of_normalized});

}  // namespace
}  // namespace tpack
