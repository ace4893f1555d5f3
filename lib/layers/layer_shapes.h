#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "nn/input_checks.h"

/// Checks of layer inputs; errors have the position and the name of the current layer.
namespace tpack {

/// Errors: ShapeError if there are not `count` inputs. `what`: "a condition, a value where it holds, ...".
void check_input_count(const Builder& b, std::span<const Symbol> in, size_t count, const std::string& what);

/// An axis of x from 0, where 0 is the batch; negative ones count from the end. Errors: ShapeError if x does
/// not have it.
int axis_of(const Builder& b, int64_t axis, Symbol x);
/// As above. Errors: ShapeError also for axis 0, which would make samples depend on each other.
int axis_inside_samples(const Builder& b, int64_t axis, Symbol x);
/// Same as axis_of for several axes. Errors: ShapeError also for a duplicate axis.
std::vector<int> axes_of(const Builder& b, const std::vector<int64_t>& axes, Symbol x);

/// Whether the values depend only on variables and constants, so that they have no batch axis.
bool is_without_samples(const Symbol& x);

/// [N, sample...], with the N of x. Errors: ShapeError if x has no axes.
Shape with_batch_of(const Builder& b, Symbol x, const Shape& sample);

}  // namespace tpack
