#include "ops/random_normal.h"

#include <cmath>
#include <numbers>

#include "core/rng.h"

namespace tpack {

Schema<RandomNormalParams> RandomNormal::schema() {
  return Schema<RandomNormalParams>("Normal numbers of mean 0 and standard deviation 1, new ones each step.")
      .field("shape", &RandomNormalParams::shape, "axis sizes")
      .field("dtype", &RandomNormalParams::dtype, "element type");
}

std::vector<TensorSpec> RandomNormal::infer(std::span<const TensorSpec> /*in*/) const {
  return {{params().dtype, params().shape}};
}

/// Two neighbors share two uniform numbers, of which the first is never 0.
/// Source: Box and Muller 1958, "A Note on the Generation of Random Normal Deviates".
float normal_element(uint64_t key, uint64_t index) {
  const uint64_t block = index / 4;
  const auto bits = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32U), 0, 0},
                           {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32U)});
  const size_t pair = (index % 4) / 2 * 2;
  const double radius = std::sqrt(-2 * std::log((bits[pair] + 1.0) * 0x1p-32));
  const double angle = 2 * std::numbers::pi * (bits[pair + 1] * 0x1p-32);
  return static_cast<float>(radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle)));
}

TPACK_REGISTER(Op, RandomNormal, "RandomNormal");

}  // namespace tpack
