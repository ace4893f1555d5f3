#include "nn/quantize.h"

#include "nn/input_checks.h"

namespace tpack::nn {
namespace {

void check_bits(const Builder& b, Symbol x, int64_t bits) {
  check_float_input(b, x);
  if (bits < 1 || bits > kMostBits)
    throw_shape_error(
        b, "'bits' is " + std::to_string(bits) + "; must be from 1 to " + std::to_string(kMostBits));
}

/// The value of `rounded` with the gradient of x. Where it is the nearest level, both the difference and the
/// sum are exact; else the last digit may differ.
Symbol straight_through(Builder& b, Symbol x, Symbol rounded) {
  return b.add(x, b.stop_gradient(b.sub(rounded, x)));
}

/// x from 0 to 1 -> the nearest of 2^bits levels.
Symbol nearest_level(Builder& b, Symbol x, int64_t bits) {
  const auto steps = static_cast<double>((int64_t{1} << bits) - 1);
  return straight_through(b, x, b.div(b.round(b.mul(x, steps)), steps));
}

}  // namespace

Symbol quantize_activation(Builder& b, Symbol x, int64_t bits) {
  check_bits(b, x, bits);
  return nearest_level(b, b.min(b.max(x, 0.0), 1.0), bits);
}

Symbol quantize_weight(Builder& b, Symbol x, int64_t bits) {
  check_bits(b, x, bits);
  if (bits == 1) {
    const Symbol mean = b.stop_gradient(b.reduce_mean(b.abs(x)));
    return straight_through(b, x, b.mul(b.sign(x), mean));
  }
  const Symbol bounded = b.tanh(x);
  const Symbol largest = b.max(b.reduce_max(b.abs(bounded)), 1e-30);  // zeros stay finite
  const Symbol ratio = b.div(bounded, largest);
  return b.sub(b.mul(nearest_level(b, b.add(b.mul(ratio, 0.5), 0.5), bits), 2.0), 1.0);
}

}  // namespace tpack::nn
