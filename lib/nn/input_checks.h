#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "graph/builder.h"

/// Checks of inputs and options for functions of nn and layers. Errors have the position and the path of the
/// current scope.
namespace tpack::nn {

/// Throws ShapeError with "PATH: text".
[[noreturn]] void throw_shape_error(const Builder& b, const std::string& text);

/// Errors: ShapeError unless x is an image, [N, C, H, W].
void check_image(const Builder& b, Symbol x);

/// Shapes: x [N] -> [N, 1]; others stay.
Symbol with_columns(Builder& b, Symbol x);

/// Errors: ShapeError unless x has floats.
void check_float_input(const Builder& b, Symbol x);

/// Errors: ShapeError with the first size below 1.
void check_sizes(const Builder& b, std::initializer_list<std::pair<const char*, int64_t>> sizes);

/// Errors: ShapeError unless `parts`, an option with this name, divides the channels of x (axis 1); it lists
/// the numbers that do.
void check_divides_channels(const Builder& b, const char* name, int64_t parts, Symbol x);

/// x as int32. Errors: ShapeError unless x has integers.
Symbol integers(Builder& b, Symbol x, const char* what);

}  // namespace tpack::nn
