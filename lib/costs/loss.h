#pragma once

#include <string>
#include <utility>

#include "model/cost.h"

namespace tpack {

/// A function of predictions and targets. `TPACK_REGISTER(Loss, Huber, "Huber")` makes it a term of the cost
/// and a metric with the same name. Its class has `Params`, `schema()` and a constructor like every
/// component, and `losses`, which opens the scope `kind`.
class Loss {
 public:
  virtual ~Loss() = default;
  /// `kind`: "cost" or "metric", for messages. Errors: ConfigError, ShapeError.
  virtual SampleLosses losses(const ModelView& model, const std::string& kind) const = 0;
  /// As Metric::form, for the metric with the same name.
  virtual std::string form() const { return {}; }
  /// The pair that it compares; empty if it does not have values for each sample.
  virtual std::optional<PredictionTarget> target(const ModelView& /*model*/) const { return std::nullopt; }
};

/// The parameters of a loss with the weights of terms of costs.
template <class Params>
struct LossCostParams : SampleCostParams, Params {};

template <std::derived_from<Loss> L>
class LossCost final : public Cost {
 public:
  using Params = LossCostParams<typename L::Params>;
  static Schema<Params> schema() { return with_weights(L::schema().template as<Params>()); }
  explicit LossCost(Params p) : Cost(static_cast<const SampleCostParams&>(p)), loss_(std::move(p)) {}

  std::optional<PredictionTarget> target(const ModelView& model) const override {
    auto target = loss_.target(model);
    if (target) target->losses = loss_.losses(model, kKind).values;
    return target;
  }

 private:
  SampleLosses losses(const ModelView& model) const override { return loss_.losses(model, kKind); }

  L loss_;
};

/// The mean over the samples and elements that count.
template <std::derived_from<Loss> L>
class LossMetric final : public Metric {
 public:
  using Params = typename L::Params;
  static Schema<Params> schema() { return L::schema(); }
  explicit LossMetric(Params p) : loss_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMin; }
  std::string form() const override { return loss_.form(); }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const SampleLosses all = loss_.losses(model, kKind);
    if (!all.counts) return sum_and_count(b, all.values);
    return {b.reduce_sum(all.values), b.reduce_sum(all.counts)};
  }

 private:
  L loss_;
};

template <class L>
class Registrar<Loss, L> {
 public:
  template <class... Names>
  explicit Registrar(const char* file, Names... names) : cost_(file, names...), metric_(file, names...) {}

 private:
  Registrar<Cost, LossCost<L>> cost_;
  Registrar<Metric, LossMetric<L>> metric_;
};

}  // namespace tpack
