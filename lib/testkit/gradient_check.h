#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/builder.h"

namespace tpack::testkit {

/// A part of a graph under test: outputs from inputs. Layers, ops and losses are converted to this form.
using Function = std::function<std::vector<Symbol>(Builder& b, std::span<const Symbol> inputs)>;

struct GradientCheckOptions {
  /// For |analytic - numeric| / max(1, |numeric|), and for |analytic - numeric| / the largest of both if all
  /// elements of a tensor are below 1, so that wrong small gradients are found like large ones.
  double tolerance = 1e-6;
  Phase phase = Phase::kTraining;
};

struct GradientCheckResult {
  bool ok = true;
  double largest_error = 0;
  std::string text;  // the worst element: input or variable, index, both values
};

/// Compares the gradient of a random projection of the outputs with central differences, for every float64
/// input and every trainable variable, element by element, in double on the reference backend. Two step sizes
/// must agree with each other first: if they do not, the function has a kink there and the element is skipped
/// (an error for more than one in ten, or a whole tensor). Random ops draw the same numbers in every
/// evaluation.
GradientCheckResult check_gradients(const Function& function, const std::vector<Tensor>& inputs,
                                    const GradientCheckOptions& options = {});

/// The same for the gradient of the gradient, as needed for a gradient penalty.
GradientCheckResult check_second_gradients(const Function& function, const std::vector<Tensor>& inputs,
                                           const GradientCheckOptions& options = {});

/// Runs a function once on a reference device of the given float type. Variables get their initial values
/// (seed 1).
std::vector<Tensor> evaluate(const Function& function, const std::vector<Tensor>& inputs, DType float_type,
                             Phase phase = Phase::kTraining);

/// A cost to differentiate: the sum over the float outputs of output times fixed random numbers. Empty
/// without a float output.
Symbol projection(Builder& b, const std::vector<Symbol>& outputs);

/// As evaluate, and the gradient of a fixed random projection of the outputs with respect to each float
/// input and each trainable variable.
Function with_gradients(const Function& function);

/// Uniform numbers in [low, high), at least `margin` away from every multiple of 0.5, where a kink might be.
Tensor random_tensor(const Shape& shape, uint64_t seed, DType type = DType::kFloat64, double low = -1,
                     double high = 1, double margin = 0);
/// Labels 0..classes-1.
Tensor random_labels(int64_t count, int64_t classes, uint64_t seed);

}  // namespace tpack::testkit
