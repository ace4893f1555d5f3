#include "callbacks/hyper_param.h"
#include "train/run_formula.h"

namespace tpack {
namespace {

struct HyperParamSetterWithFuncParams {
  Ref<HyperParamName> param;
  Formula value;
};

constexpr const char* kWho = "callback HyperParamSetterWithFunc, 'value'";

/// A resumed run does not set it at once: the checkpoint has the value, and `old` would count twice.
/// Source: tensorpack callbacks/param.py, HyperParamSetterWithFunc.
class HyperParamSetterWithFunc final : public HyperParamSetter {
 public:
  using Params = HyperParamSetterWithFuncParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Sets a hyper-parameter to the value of an expression: when a new run begins, and after each "
               "epoch.")
        .example("HyperParamSetterWithFunc: {param: learning_rate, value: old * 0.9 if epoch > 2 else old}")
        .field("param", &Params::param, "the hyper-parameter, such as learning_rate")
        .required()
        .field("value", &Params::value,
               "an expression with old (the current value), epoch (the one that has ended; starting_epoch - "
               "1 at the beginning), step, max_epoch, steps_per_epoch, other hyper-parameters and the newest "
               "values of statistics; nothing is set before these have values")
        .required();
  }
  explicit HyperParamSetterWithFunc(const Params& p)
      : HyperParamSetter(p.param), value_(p.value, kWho, {"old"}) {}

  void setup(Setup& setup) override {
    param_.setup(setup);
    value_.setup(setup, Expression::Result::kNumber);
  }
  void before_train(Run& run) override {
    if (!run.resumed()) trigger(run);
  }
  void trigger(Run& run) override {
    const auto value = run.is_chief() ? value_.number(run, {{"old", param_.value(run)}}) : std::nullopt;
    set_of_chief(run, value, kWho);
  }

 private:
  RunFormula value_;
};

TPACK_REGISTER(Callback, HyperParamSetterWithFunc, "HyperParamSetterWithFunc");

}  // namespace
}  // namespace tpack
