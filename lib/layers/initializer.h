#pragma once

#include "core/registry.h"
#include "graph/variables.h"

namespace tpack {

/// How a weight's values are drawn. Fans: fan_in is what one output sums over, fan_out what one input
/// reaches.
struct Fans {
  int64_t in = 1;
  int64_t out = 1;
};

/// Makes the function that fills a new variable.
/// Threads: const.
class Initializer {
 public:
  static constexpr const char* kKind = "initializer";
  virtual ~Initializer() = default;
  virtual Initialize make(Fans fans) const = 0;
};

/// A layer's field for an initializer: the given one, or tensorpack's default for weights (VarianceScaling)
/// and zeros for biases.
Initialize weights_initializer(const Part<Initializer>& given, Fans fans);
Initialize bias_initializer(const Part<Initializer>& given);

/// Fills a float tensor with draw(rng), in order.
template <class Draw>
Initialize fill_with(Draw draw) {
  return [draw](const Tensor& value, Rng& rng) {
    visit(value.dtype(), [&](auto zero) {
      for (auto& element : value.span<decltype(zero)>()) element = static_cast<decltype(zero)>(draw(rng));
    });
  };
}

}  // namespace tpack
