#include <algorithm>
#include <cmath>
#include <optional>

#include "train/callback.h"

namespace tpack {
namespace {

struct CheckNumericsParams {
  bool run_as_trigger = true;
  bool run_step = false;
};

/// Number of the first element that is NaN or infinite.
std::optional<int64_t> first_bad(const Tensor& tensor) {
  if (tensor.dtype() != DType::kFloat32 && tensor.dtype() != DType::kFloat64) return std::nullopt;
  return visit(tensor.dtype(), [&](auto zero) -> std::optional<int64_t> {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      const std::span<const T> values = tensor.span<T>();
      const auto bad = std::find_if(values.begin(), values.end(), [](T v) { return !std::isfinite(v); });
      if (bad != values.end()) return bad - values.begin();
    }
    return std::nullopt;
  });
}

/// "[2, 0, 1]" of an element's number.
std::string place_of(int64_t element, const Shape& shape) {
  std::string text;
  for (int axis = static_cast<int>(shape.rank()) - 1; axis >= 0; --axis) {
    text = std::to_string(element % shape[axis]) + (text.empty() ? "" : ", ") + text;
    element /= shape[axis];
  }
  return "[" + text + "]";
}

/// Source: tensorpack callbacks/misc.py, CheckNumerics.
class CheckNumerics final : public Callback {
 public:
  using Params = CheckNumericsParams;
  static Schema<Params> schema() {
    return Schema<Params>("Ends the run where the cost or a variable of the model is NaN or infinite.")
        .field("run_as_trigger", &Params::run_as_trigger, "check before training and after each epoch")
        .field("run_step", &Params::run_step, "check after each step, too");
  }
  explicit CheckNumerics(Params p) : p_(p) {}

  void setup(Setup& setup) override {
    const std::vector<std::string> names = setup.statistics();
    const auto cost = std::find(names.begin(), names.end(), "cost");
    if (cost != names.end()) cost_ = static_cast<size_t>(cost - names.begin());
  }
  void before_train(Run& run) override {
    if (p_.run_as_trigger) check_variables(run);
  }
  void trigger_step(Run& run) override {
    if (p_.run_step) check(run);
  }
  void trigger(Run& run) override {
    if (p_.run_as_trigger) check(run);
  }

 private:
  void check(Run& run) const {
    check_variables(run);
    if (!cost_ || !run.has_statistics()) return;
    const double cost = run.statistic(*cost_);
    if (std::isfinite(cost)) return;
    fail(run, "the cost is " + std::to_string(cost) +
                  " (a label that is not below the number of classes makes it NaN, too)");
  }

  static void check_variables(Run& run) {
    for (const auto& [name, value] : run.variables(VariableScope::kModel)) {
      const auto bad = first_bad(value);
      if (!bad) continue;
      fail(run, "variable " + name + " has " + std::to_string(value.at(*bad)) + " at " +
                    place_of(*bad, value.shape()));
    }
  }

  [[noreturn]] static void fail(const Run& run, const std::string& what) {
    throw Diverged("after global_step " + std::to_string(run.global_step()) + " " + what +
                   "; try a smaller learning rate, or GlobalNormClip for the gradient");
  }

  Params p_;
  std::optional<size_t> cost_;
};

TPACK_REGISTER(Callback, CheckNumerics, "CheckNumerics");

}  // namespace
}  // namespace tpack
