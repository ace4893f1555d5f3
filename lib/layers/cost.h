#pragma once

#include <string>
#include <vector>

#include "layers/network_builder.h"

namespace tpack {

/// A number, or the output of a layer: `labels: 1`, `labels: label`.
struct NumberOrOutput {
  double number = 0;
  Ref<LayerOutput> output;  // empty: the number
};
template <>
struct Codec<NumberOrOutput> {
  static FieldType type() {
    return FieldType::either({FieldType::number(), FieldType::reference(LayerOutput::kWhat)},
                             "a number, a layer or an input");
  }
  static std::optional<NumberOrOutput> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const NumberOrOutput& value);
};

/// What costs and metrics may look at: outputs of layers by name, and the variables made so far.
class ModelView {
 public:
  ModelView(Builder& b, const NetworkBuilder& network) : builder_(b), network_(network) {}

  Builder& builder() const { return builder_; }
  /// Errors: ConfigError with suggestion.
  Symbol output(const Ref<LayerOutput>& ref) const { return network_.output(ref); }
  /// The output as floats in the shape of `x`, or the number. Errors: ConfigError; ShapeError if the
  /// output has another number of elements.
  Builder::Operand like(const NumberOrOutput& value, Symbol x) const;
  /// Trainable variables that the pattern is for (is_for_variable). Errors: ConfigError if there is none;
  /// AlreadyReported if there is none because a layer failed.
  std::vector<Symbol> trainable(const Ref<Variable>& pattern) const;

 private:
  Builder& builder_;
  const NetworkBuilder& network_;
};

/// A term of the cost: one number, the mean over the batch if it is a sum over samples.
class Cost {
 public:
  static constexpr const char* kKind = "cost";
  virtual ~Cost() = default;
  virtual Symbol build(const ModelView& model) const = 0;
  /// False for terms that exist in training only (regularization): they are minimized, but are no part of the
  /// statistic "cost", which means the same in training and in inference.
  virtual bool in_inference() const { return true; }
};

/// A figure of merit as a sum over samples and their number, so that batches of any size add up right.
struct SumAndWeight {
  Symbol sum;
  Symbol weight;
};

class Metric {
 public:
  static constexpr const char* kKind = "metric";
  virtual ~Metric() = default;
  virtual SumAndWeight build(const ModelView& model) const = 0;
};

}  // namespace tpack
