#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule.h"
#include "graph/statistic.h"
#include "graph/tower_function.h"
#include "model/network_builder.h"

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

/// The model as costs and metrics see it: outputs of layers by name, and the variables so far.
class ModelView {
 public:
  ModelView(Builder& b, const NetworkBuilder& network) : builder_(b), network_(network) {}

  Builder& builder() const { return builder_; }
  /// Errors: ConfigError with suggestion.
  Symbol output(const Ref<LayerOutput>& ref) const { return network_.output(ref); }
  bool is_input(const Ref<LayerOutput>& ref) const { return network_.is_input(ref.name); }
  /// The output as floats in the shape of `x`, or the number. Errors: ConfigError; ShapeError if the output
  /// has a different number of elements.
  Builder::Operand like(const NumberOrOutput& value, Symbol x) const;
  /// Scores of classes by rows: an output [N, classes] unchanged; for pixels, [N, classes, H, W] -> [N * H *
  /// W, classes]. Errors: ShapeError for scores of pixels with labels of samples.
  Symbol scores(const Ref<LayerOutput>& logits, const Ref<LayerOutput>& labels) const;
  /// As `scores`, for at least two classes. Errors: ShapeError for one score.
  Symbol scores_of_classes(const Ref<LayerOutput>& logits, const Ref<LayerOutput>& labels) const;
  /// The class numbers, int32 [N], for such scores; other integer types become int32, and class numbers of
  /// pixels [N, H, W], with or without an axis of size 1, are in the order of the rows. For soft labels of a
  /// cost, the most likely class. Errors: ShapeError, which names the layer that converts one-hot labels or
  /// labels [N, 1] to class numbers.
  Symbol class_numbers(const Ref<LayerOutput>& labels, const Symbol& scores) const;
  /// The probabilities of all classes [N, C] for scores [N, C], if a cost uses them: soft labels, such as
  /// MixUp's, or one-hot ones. Empty for labels of a different shape.
  Symbol soft_labels(const Ref<LayerOutput>& labels, const Symbol& scores) const;
  /// The scores [N, classes] of a cost that applies the softmax itself; `owner`: "cost FocalLoss". Errors:
  /// ConfigError also for the output of a softmax.
  Symbol class_scores(const Ref<LayerOutput>& logits, const std::string& owner) const;
  /// Trainable variables that match the pattern (is_for_variable). Errors: ConfigError if there is none;
  /// AlreadyReported if this is because a layer failed.
  std::vector<Symbol> trainable(const Ref<VariablePattern>& pattern) const;

 private:
  Builder& builder_;
  const NetworkBuilder& network_;
};

/// The common parameters of terms of costs and metrics.
struct StatisticName {
  std::string name;
};
Schema<StatisticName> statistic_name_schema();
/// Errors: ConfigError.
std::string checked_name(const StatisticName& name);

/// The parameters of every term of a cost.
struct CostParams {
  Scheduled weight = 1;
};

/// The parameters of every term that is a mean over samples.
struct SampleCostParams : CostParams {
  Ref<LayerOutput> sample_weights;  // empty: 1 for each
};

/// The losses of samples [N, ...], or one number [], the term itself.
struct SampleLosses {
  Symbol values;  // 0 for losses that do not count
  Symbol counts;  // 1 or 0 for each; empty: all count

  SampleLosses(Symbol all) : values(all) {}  // NOLINT(google-explicit-constructor)
  SampleLosses(Symbol some, Symbol which) : values(some), counts(which) {}
};

/// A term of the cost in the graph of one batch.
struct CostTerm {
  Symbol value;         // []: the weight times the mean over the losses that count; 0 if none does
  Symbol counted = {};  // []: how many count; empty: all
  double losses = 0;    // how many there are
};

/// A term of the cost. It adds `weight` times the mean over the samples to the cost.
///
/// With sample weights w the mean is sum(w * loss) / N, as in Keras. It is not divided by sum(w), as PyTorch
/// does for class weights: so a sample counts the same in any batch, batches of different sizes and several
/// towers add up to the mean over all samples, and a batch with only zero weights adds 0. Weights with mean 1
/// keep the size of the cost. A sample with weight 0 may have any label.
class Cost {
 public:
  static constexpr const char* kKind = "cost";
  virtual ~Cost() = default;

  /// The common part of all terms and metrics.
  using Common = StatisticName;
  static Schema<Common> common_schema() { return statistic_name_schema(); }
  /// Errors: ConfigError for a name with other characters than those of names.
  void take(const Common& common) { name_ = checked_name(common); }
  /// Of its statistic; "": after the type.
  const std::string& name() const { return name_; }

  /// The term: `losses`, averaged and weighted. A weight with a schedule is the hyper-parameter
  /// "NAME_weight". Errors: ConfigError, ShapeError.
  CostTerm build(const ModelView& model, const std::string& name = "term") const;
  /// False for terms that exist in training only (regularization): they are minimized, but not part of the
  /// statistic "cost", which means the same in training and inference.
  virtual bool in_inference() const { return true; }
  /// The pair that it compares for each sample; empty if it does not. After `build`.
  virtual std::optional<PredictionTarget> target(const ModelView& /*model*/) const { return std::nullopt; }

 protected:
  explicit Cost(CostParams common) : common_{std::move(common), {}} {}
  explicit Cost(SampleCostParams common) : common_(std::move(common)) {}
  /// They are averaged over all axes, or over the elements that count.
  virtual SampleLosses losses(const ModelView& model) const = 0;

 private:
  Symbol weighted(const ModelView& model, Symbol mean, const std::string& name) const;
  Symbol sample_weights(const ModelView& model, const Shape& losses) const;

  SampleCostParams common_;
  std::string name_;
};

/// Adds the fields of CostParams, or of SampleCostParams, to the schema of a cost whose Params derive from
/// it.
template <std::derived_from<CostParams> P>
Schema<P> with_weights(Schema<P> schema) {
  schema.field("weight", static_cast<Scheduled P::*>(&P::weight),
               "factor of this term in the cost, a number or a schedule; a negative one maximizes the term");
  if constexpr (std::derived_from<P, SampleCostParams>) {
    schema.field("sample_weights", static_cast<Ref<LayerOutput> P::*>(&P::sample_weights),
                 "weights of the samples [N]: an input or output, which gets no gradient; the sum of weight "
                 "* loss is divided by N; default: 1 for each");
  }
  return schema;
}

/// A figure of merit as a sum over samples and their number, so that batches of any size add up correctly.
/// Figures that are not a ratio of two sums define how they add up.
struct SumAndWeight {
  Symbol sum;
  Symbol weight;
  std::shared_ptr<const Accumulation> accumulation = ratio();
};

/// The sum of the values and their number.
SumAndWeight sum_and_count(Builder& b, Symbol values);

class Metric {
 public:
  static constexpr const char* kKind = "metric";
  virtual ~Metric() = default;

  using Common = StatisticName;
  static Schema<Common> common_schema() { return statistic_name_schema(); }
  /// Errors: ConfigError for a name with other characters than those of names.
  void take(const Common& common) { name_ = checked_name(common); }
  /// Of its statistic; "": after the type.
  const std::string& name() const { return name_; }

  virtual SumAndWeight build(const ModelView& model) const = 0;
  /// Which values are better: the default for callbacks that watch the statistic, which cannot contradict it.
  /// Empty if that depends on the model.
  virtual std::optional<Goal> goal() const { return std::nullopt; }
  /// The meaning of the number, if several definitions are in use: "a share: 0.1 is 10 %". Reports print it
  /// below their table.
  virtual std::string form() const { return {}; }

 private:
  std::string name_;
};

}  // namespace tpack
