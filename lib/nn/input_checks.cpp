#include "nn/input_checks.h"

#include <vector>

#include "core/text.h"

namespace tpack::nn {

void throw_shape_error(const Builder& b, const std::string& text) {
  throw ShapeError(b.origin(), b.path().empty() ? text : b.path() + ": " + text);
}

void check_image(const Builder& b, Symbol x) {
  if (x.shape().rank() != 4)
    throw_shape_error(b, "needs an input of 4 axes [N, C, H, W], not " + x.spec().str());
}

Symbol with_columns(Builder& b, Symbol x) {
  return x.shape().rank() == 1 ? b.reshape(x, Shape{x.shape()[0], 1}) : x;
}

void check_float_input(const Builder& b, Symbol x) {
  if (!is_float(x.dtype()))
    throw_shape_error(b, "needs a float input, not " + x.spec().str() + "; put a Normalize before it");
}

void check_sizes(const Builder& b, std::initializer_list<std::pair<const char*, int64_t>> sizes) {
  for (const auto& [name, size] : sizes) {
    if (size < 1)
      throw_shape_error(b, std::string("'") + name + "' is " + std::to_string(size) + "; must be at least 1");
  }
}

void check_divides_channels(const Builder& b, const char* name, int64_t parts, Symbol x) {
  check_sizes(b, {{name, parts}});
  const int64_t channels = x.shape()[1];
  if (channels % parts == 0) return;
  std::vector<std::string> divisors;
  for (int64_t i = 1; i <= channels; ++i)
    if (channels % i == 0) divisors.push_back(std::to_string(i));
  throw_shape_error(b, std::string("'") + name + "' is " + std::to_string(parts) +
                           ", which does not divide the " + std::to_string(channels) +
                           " channels of the input " + x.spec().str() + "; must be " +
                           (divisors.size() > 1 ? "one of " : "") + join(divisors, ", "));
}

Symbol integers(Builder& b, Symbol x, const char* what) {
  if (is_float(x.dtype()))
    throw_shape_error(b, std::string("needs ") + what + " of an integer type, not " + x.spec().str());
  return b.cast(x, DType::kInt32);
}

}  // namespace tpack::nn
