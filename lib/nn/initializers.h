#pragma once

#include <cstdint>
#include <functional>

#include "graph/variables.h"

namespace tpack::nn {

/// The number of connections of a weight: `in` values are summed per output, `out` outputs depend on one
/// input.
struct Fans {
  int64_t in = 1;
  int64_t out = 1;
};

/// Makes the function that fills a new variable with these fans; 1 and 1 for a variable without fans, such as
/// a bias.
using InitializeFor = std::function<Initialize(Fans fans)>;

/// Fills a float tensor with draw(rng), in order.
template <class Draw>
Initialize fill_with(Draw draw) {
  return [draw](const Tensor& value, Rng& rng) {
    visit(value.dtype(), [&](auto zero) {
      for (auto& element : value.span<decltype(zero)>()) element = static_cast<decltype(zero)>(draw(rng));
    });
  };
}

enum class FanMode : uint8_t { kFanIn, kFanOut, kFanAverage };
enum class Distribution : uint8_t { kNormal, kTruncatedNormal, kUniform };

struct VarianceScalingOptions {
  double scale = 2;  // variance times fan
  FanMode mode = FanMode::kFanIn;
  Distribution distribution = Distribution::kNormal;
};

/// Random values with variance scale / fan. The defaults are tensorpack's choice for convolutions and fully
/// connected layers; a truncated distribution ends at two standard deviations.
/// Source: He et al. 2015, "Delving Deep into Rectifiers"; TensorFlow's VarianceScaling for the options.
InitializeFor variance_scaling(VarianceScalingOptions options = {});

/// Normally distributed values.
InitializeFor normal(double mean, double stddev);

/// The same value everywhere.
InitializeFor constant(double value);

/// Fills weights with `given`, or with variance_scaling() if it is empty.
Initialize initial_weights(const InitializeFor& given, Fans fans);
/// Fills a variable without fans; zeros if `given` is empty.
Initialize initial_values(const InitializeFor& given);

}  // namespace tpack::nn
