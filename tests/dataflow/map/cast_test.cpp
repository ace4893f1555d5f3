#include <gtest/gtest.h>

#include "core/registry.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

TEST(Cast, converts_elements) {
  const auto cast = Registry<TensorMap>::make("Cast", "int64");
  const Tensor out(cast->spec({DType::kFloat32, {2}}));
  cast->apply(Tensor::of<float>({2}, {-1.5F, 7.9F}), out);
  EXPECT_TRUE(bit_equal(out, Tensor::of<int64_t>({2}, {-1, 7})));
}

}  // namespace
}  // namespace tpack
