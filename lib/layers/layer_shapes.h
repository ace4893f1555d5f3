#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "nn/input_checks.h"

/// What layers check of their inputs; errors have the position and the name of the layer that is built.
namespace tpack {

/// Errors: ShapeError if there are not `count` inputs. `what`: "a condition, a value where it holds, ...".
void check_input_count(const Builder& b, std::span<const Symbol> in, size_t count, const std::string& what);

/// An axis of x from 0, the batch's axis being 0; negative ones count from the end. Errors: ShapeError if x
/// does not have it.
int axis_of(const Builder& b, int64_t axis, Symbol x);
/// As above. Errors: ShapeError also for axis 0, over which samples would depend on each other.
int axis_inside_samples(const Builder& b, int64_t axis, Symbol x);
/// As axis_of for several. Errors: ShapeError also for one that is named twice.
std::vector<int> axes_of(const Builder& b, const std::vector<int64_t>& axes, Symbol x);

/// Whether the values are made of variables and constants alone, so that they have no axis of the samples.
bool is_without_samples(const Symbol& x);

/// [N, sample...], with the N of x. Errors: ShapeError if x has no axes.
Shape with_batch_of(const Builder& b, Symbol x, const Shape& sample);

}  // namespace tpack
