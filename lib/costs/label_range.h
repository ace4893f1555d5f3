#pragma once

#include <optional>

#include "graph/builder.h"

namespace tpack {

/// How far a binary label may be outside of 0 to 1, because sums and products of floats are rounded.
constexpr double kLabelRounding = 1e-5;

/// 0 for each label from 0 to 1, NaN for others. A cost adds it, so that training stops at a wrong label,
/// which CheckNumerics then finds. Without gradient.
Symbol nan_outside_of_0_to_1(Builder& b, Symbol labels);
/// The labels if a node is the check of nan_outside_of_0_to_1; empty for other nodes.
std::optional<Symbol> labels_checked_by(const Node& node);

/// How far the sum of the probabilities of all classes may be from 1, because files have few digits.
constexpr double kSumRounding = 1e-3;

/// 0 for each row of `labels` [N, C] that is a distribution (not negative, with sum 1); NaN for others.
/// Shapes: [N, C] -> [N]. Without gradient.
Symbol nan_unless_distribution(Builder& b, Symbol labels);
/// The labels if a node is the check of their sum in nan_unless_distribution; empty for other nodes.
std::optional<Symbol> labels_summed_by(const Node& node);

}  // namespace tpack
