#include "nn/table_input.h"

#include <array>
#include <numbers>

#include "nn/activation.h"
#include "nn/initializers.h"
#include "nn/input_checks.h"
#include "ops/concat.h"
#include "ops/matmul.h"

namespace tpack::nn {

Symbol table_input(Builder& b, Symbol x, const TableInputOptions& o) {
  x = with_columns(b, x);
  if (x.shape().rank() != 2) throw_shape_error(b, "needs an input [N, columns], not " + x.spec().str());
  check_sizes(b, {{"width", o.width}, {"frequencies", o.frequencies}});
  const int64_t columns = x.shape()[1];
  const Symbol values = b.to_float(x);
  const Symbol frequencies =
      b.variable("frequencies", Shape{columns, o.frequencies}, normal(0, o.deviation)({1, 1}));
  const Symbol column = b.reshape(values, {Shape::kUnknown, columns, 1});
  const Symbol phase = b.mul(b.mul(column, frequencies), 2 * std::numbers::pi);
  const Symbol waves = concat(b, std::array{b.sin(phase), b.cos(phase)}, 2);
  const int64_t in = 2 * o.frequencies;
  const Symbol w = b.variable("W", Shape{in, o.width}, initial_weights({}, {in, o.width}));
  const Symbol bias = b.variable("b", Shape{o.width}, initial_values({}));
  const Symbol numbers = nn::relu(b, b.add(matmul(b, b.reshape(waves, {Shape::kUnknown, in}), w), bias));
  return concat(b, std::array{values, b.reshape(numbers, {Shape::kUnknown, columns * o.width})}, 1);
}

}  // namespace tpack::nn
