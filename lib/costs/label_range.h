#pragma once

#include <optional>

#include "graph/builder.h"

namespace tpack {

/// How far a label of a yes or no may be outside of 0 to 1, as sums and products of floats round.
constexpr double kLabelRounding = 1e-5;

/// 0 for each label that is from 0 to 1, NaN for others. A cost adds it, so that a training ends at a wrong
/// label, which CheckNumerics then finds. Without gradient.
Symbol nan_outside_of_0_to_1(Builder& b, Symbol labels);
/// The labels if a node is the check of nan_outside_of_0_to_1; nothing for other nodes.
std::optional<Symbol> labels_checked_by(const Node& node);

/// How far the probabilities of all classes may add up to something else than 1, as those of files have few
/// digits.
constexpr double kSumRounding = 1e-3;

/// 0 for each row of `labels` [N, C] that is a distribution, none below 0 and all of them 1; NaN for others.
/// Shapes: [N, C] -> [N]. Without gradient.
Symbol nan_unless_distribution(Builder& b, Symbol labels);
/// The labels if a node is the check of nan_unless_distribution that they add up to 1; nothing for other
/// nodes.
std::optional<Symbol> labels_summed_by(const Node& node);

}  // namespace tpack
