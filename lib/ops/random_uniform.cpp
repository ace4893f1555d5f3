#include "ops/random_uniform.h"

#include "core/rng.h"

namespace tpack {

Schema<RandomUniformParams> RandomUniform::schema() {
  return Schema<RandomUniformParams>("Uniform numbers in [0, 1), new ones each step.")
      .field("shape", &RandomUniformParams::shape, "axis sizes")
      .field("dtype", &RandomUniformParams::dtype, "element type");
}

std::vector<TensorSpec> RandomUniform::infer(std::span<const TensorSpec> /*in*/) const {
  return {{params().dtype, params().shape}};
}

Symbol random_uniform(Builder& b, const Shape& shape) {
  return b.emit<RandomUniform>({shape, b.float_type()}, {}).out();
}

float uniform_element(uint64_t key, uint64_t index) {
  const uint64_t block = index / 4;
  const auto bits = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32U), 0, 0},
                           {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32U)});
  return static_cast<float>(bits[index % 4] >> 8U) * 0x1p-24F;
}

TPACK_REGISTER(Op, RandomUniform, "RandomUniform");

}  // namespace tpack
