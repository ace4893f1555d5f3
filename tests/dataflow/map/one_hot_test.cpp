#include <gtest/gtest.h>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

TEST(OneHot, adds_an_axis_of_classes) {
  const auto one_hot = Registry<TensorMap>::make("OneHot", 3);
  EXPECT_EQ(one_hot->spec({DType::kInt32, {2}}).str(), "float32 [2, 3]");
  const Tensor out(DType::kFloat32, {2, 3});
  one_hot->apply(Tensor::of<int32_t>({2}, {2, 0}), out);
  EXPECT_TRUE(bit_equal(out, Tensor::of<float>({2, 3}, {0, 0, 1, 1, 0, 0})));
}

TEST(OneHot, rejects_numbers_that_are_no_class) {
  const auto one_hot = Registry<TensorMap>::make("OneHot", 3);
  const Tensor out(DType::kFloat32, {1, 3});
  EXPECT_THROW(one_hot->apply(Tensor::of<int32_t>({1}, {3}), out), DataError);
  EXPECT_THROW(one_hot->apply(Tensor::of<int32_t>({1}, {-1}), out), DataError);
  EXPECT_THROW(one_hot->spec({DType::kFloat32, {2}}), ConfigError);
}

}  // namespace
}  // namespace tpack
