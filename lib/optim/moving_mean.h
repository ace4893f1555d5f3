#pragma once

#include <string>

#include "optim/optimizer.h"

namespace tpack {

/// decay * old + (1 - decay) * now.
Symbol moved_mean(Builder& b, Symbol old, Symbol now, double decay);

/// Moves the mean in a slot towards `now`, [n]; returns the new mean.
Symbol moving_mean(Builder& b, OptimizerState& state, const std::string& slot, Symbol now, double decay);

/// The weight of all steps so far in such a mean, 1 - decay^step, kept in a number: decayed like the mean,
/// because 1 minus a power near 1 has only four correct digits in single precision.
Symbol weight_so_far(Builder& b, OptimizerState& state, const std::string& number, double decay);

}  // namespace tpack
