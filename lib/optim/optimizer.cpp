#include "optim/optimizer.h"

#include "core/schema.h"

namespace tpack {
namespace {

struct ScaledRateParams {
  Scheduled base;
  double per = 0;
};

Schema<ScaledRateParams> scaled_rate_schema() {
  return Schema<ScaledRateParams>("A learning rate in proportion to the samples per step.")
      .field("base", &ScaledRateParams::base, at_least(0),
             "the rate for `per` samples: a number or a schedule")
      .required()
      .field("per", &ScaledRateParams::per, above(0), "samples per step for which `base` is used")
      .required();
}

/// A schedule with each number multiplied by a factor.
class MultipliedSchedule final : public Schedule {
 public:
  MultipliedSchedule(std::shared_ptr<const Schedule> schedule, double factor)
      : schedule_(std::move(schedule)), factor_(factor) {}
  double at(const StepOfRun& now) const override { return factor_ * schedule_->at(now); }
  double warmup_steps(int64_t steps_per_epoch) const override {
    return schedule_->warmup_steps(steps_per_epoch);
  }

 private:
  std::shared_ptr<const Schedule> schedule_;
  double factor_;
};

bool is_scaled_rate(const ConfigNode& node) {
  return node.is_map() && (node.find("base") != nullptr || node.find("per") != nullptr);
}

}  // namespace

Scheduled LearningRate::of(double samples) const {
  if (!per) return base;
  Scheduled scaled = base;
  scaled.number *= samples / *per;
  if (base.schedule)
    scaled.schedule.object = std::make_shared<const MultipliedSchedule>(base.schedule.object, samples / *per);
  return scaled;
}

FieldType Codec<LearningRate>::type() {
  return FieldType::either({FieldType::number(), FieldType::component(Schedule::kKind),
                            FieldType::section(scaled_rate_schema().fields(), "a rate")},
                           "a number, a schedule, or {base: ..., per: ...}");
}

std::optional<LearningRate> Codec<LearningRate>::parse(const ConfigNode& node, Reader& reader) {
  LearningRate rate;
  if (is_scaled_rate(node)) {
    const size_t before = reader.errors().count();
    const ScaledRateParams p = scaled_rate_schema().parse(node, "learning_rate", reader.errors());
    rate.base = p.base;
    rate.per = p.per;
    return reader.errors().count() == before ? std::optional(rate) : std::nullopt;
  }
  Reader number(reader.what(), at_least(0), reader.errors());
  auto base = Codec<Scheduled>::parse(node, number);
  if (!base) return std::nullopt;
  rate.base = std::move(*base);
  return rate;
}

ConfigNode Codec<LearningRate>::dump(const LearningRate& rate) {
  if (!rate.per) return Codec<Scheduled>::dump(rate.base);
  return scaled_rate_schema().dump({rate.base, *rate.per});
}

Symbol OptimizerState::slot(const std::string& name) {
  const TensorSpec flat{b_.float_type(), Shape{layout_.size}};
  return b_.variable({FlatBlock{name, group_}.name(), flat, VariableScope::kOptimizer, false, nullptr});
}

void OptimizerState::assign_slot(const std::string& name, Symbol value) {
  b_.assign(FlatBlock{name, group_}.name(), value);
}

Symbol OptimizerState::number(const std::string& name) {
  return b_.variable(
      {full_name(name), {b_.float_type(), Shape{}}, VariableScope::kOptimizer, false, nullptr});
}

void OptimizerState::assign_number(const std::string& name, Symbol value) {
  b_.assign(full_name(name), value);
}

Symbol OptimizerState::updates() {
  if (!updates_) {
    updates_ = number("updates");
    assign_number("updates", b_.add(*updates_, 1.0));
  }
  return *updates_;
}

Symbol OptimizerState::hyper_parameter(const std::string& name, const Scheduled& value) {
  const Initialize fill = [initial = value.number](const Tensor& number, Rng& /*rng*/) {
    visit(number.dtype(),
          [&](auto zero) { *number.data<decltype(zero)>() = static_cast<decltype(zero)>(initial); });
  };
  const TensorSpec scalar{b_.float_type(), Shape{}};
  return b_.variable(
      {full_name(name), scalar, VariableScope::kOptimizer, false, fill, true, value.schedule.object});
}

void Optimizer::build(Builder& b, const ParameterGroup& group, double scale, double samples) const {
  const FlatLayout layout = flat_layout(b.variables(), group);
  const std::string parameters_name = FlatBlock{kParameters, group.name}.name();
  const TensorSpec flat{b.float_type(), Shape{layout.size}};
  const Symbol parameters = b.read(parameters_name, flat);
  Symbol gradient = b.mul(b.read(FlatBlock{kGradient, group.name}.name(), flat), scale);
  OptimizerState state(b, group.name, layout);
  for (const Part<GradientProcessor>& processor : common_.gradient)
    gradient = processor->process(b, state, gradient);
  Symbol rate = state.hyper_parameter(kLearningRate, common_.learning_rate.of(samples));
  if (const VariableFactors& factors = common_.learning_rate_multipliers; !factors.empty())
    rate = b.mul(factors.of_elements(b, layout, "'learning_rate_multipliers'"), rate);
  const auto clipped = [&](Symbol values) {
    const auto& most = common_.clip_variables;
    return most ? b.min(b.max(values, -*most), *most) : values;
  };
  Symbol updated = clipped(apply(b, state, parameters, gradient, rate));
  if (const auto& lookahead = common_.lookahead)
    updated = clipped(lookahead->after(b, state, clipped(parameters), updated));  // a sum may round up
  b.assign(parameters_name, updated);
}

}  // namespace tpack
