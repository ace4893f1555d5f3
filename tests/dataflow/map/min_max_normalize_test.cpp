#include "dataflow/flow_helpers.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

Tensor in_range(const ConfigNode& params, const Tensor& in) {
  const auto map = Registry<TensorMap>::make("MinMaxNormalize", params);
  Tensor out(map->spec(in.spec()));
  map->apply(in, out);
  return out;
}

/// (x - x.min()) / (x.max() - x.min()) of NumPy, from -1 to 1; with axis=(0, 1) for each channel.
TEST(MinMaxNormalize, has_the_numbers_of_numpy) {
  const Tensor pixels = Tensor::of<uint8_t>({2, 2, 2}, {0, 10, 255, 10, 7, 12, 30, 200});
  EXPECT_LT(max_difference(in_range({{"min", -1}, {"max", 1}}, pixels),
                           Tensor::of<float>({2, 2, 2}, {-1, -0.92156863F, 1, -0.92156863F, -0.94509804F,
                                                         -0.90588235F, -0.76470588F, 0.56862745F})),
            1e-6);
  EXPECT_LT(max_difference(in_range({{"all_channels", false}}, pixels),
                           Tensor::of<float>({2, 2, 2}, {0, 0, 255, 0, 7, 2.6842105F, 30, 255})),
            1e-4);
}

TEST(MinMaxNormalize, makes_one_value_the_lower_end) {
  EXPECT_EQ(
      max_difference(in_range({{"min", 3}}, Tensor::of<float>({2}, {9, 9})), Tensor::of<float>({2}, {3, 3})),
      0);
  EXPECT_EQ(error_of([] {
              in_range({{"min", 300}}, Tensor::of<float>({1}, {0}));
            }),
            "MinMaxNormalize: 'min' must be below 'max'; swap them");
}

}  // namespace
}  // namespace tpack
