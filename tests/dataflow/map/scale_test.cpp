#include <gtest/gtest.h>

#include "core/registry.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

TEST(Scale, multiplies_then_adds) {
  const auto scale = Registry<TensorMap>::make("Scale", {{"scale", 0.5}, {"offset", -1}});
  const Tensor out(scale->spec({DType::kUInt8, {3}}));
  scale->apply(Tensor::of<uint8_t>({3}, {0, 2, 255}), out);
  EXPECT_EQ(max_difference(out, Tensor::of<float>({3}, {-1, 0, 126.5F})), 0);
}

}  // namespace
}  // namespace tpack
