#pragma once

#include "support/small_model.h"

namespace tpack {

/// The small model with a variable that is local to its replica, a trace of the samples so far that is added
/// to the samples, and a moving average of them.
class ModelWithState final : public TowerFunction {
 public:
  const std::vector<TowerInput>& inputs() const override { return model_->inputs(); }
  TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    const Symbol mean = b.reduce_mean(in.at("x"));
    const Symbol trace = b.variable({"trace", {b.float_type(), {}}, VariableScope::kLocal});
    b.assign("trace", b.add(b.mul(trace, 0.5), mean));
    const Symbol average = b.variable({"average", {b.float_type(), {}}, VariableScope::kModel});
    b.assign("average", b.add(b.mul(average, 0.5), mean));
    std::map<std::string, Symbol> changed = in;
    changed["x"] = b.add(in.at("x"), trace);
    return model_->build(b, changed);
  }

 private:
  std::unique_ptr<TowerFunction> model_ = model_of(kSmallModel);
};

}  // namespace tpack
