#include <algorithm>
#include <cmath>

#include "train/callback.h"

namespace tpack {
namespace {

struct LargestWeightParams {
  std::vector<Ref<VariablePattern>> variables;
};

double largest(const Tensor& x) {
  double most = 0;
  for (int64_t i = 0; i < x.elements(); ++i) most = std::max(most, std::abs(x.at(i)));
  return most;
}

/// Reports the largest magnitude in each of some variables.
class LargestWeight final : public Callback {
 public:
  using Params = LargestWeightParams;
  static Schema<Params> schema() {
    return Schema<Params>("Reports the largest magnitude in each variable, as NAME-max.")
        .example("LargestWeight: {variables: [\".*/W\"]}")
        .field("variables", &Params::variables, "variables of the model")
        .required();
  }
  explicit LargestWeight(Params p) : p_(std::move(p)) {}

  void setup(Setup& setup) override {
    for (const auto& [name, spec] : setup.variables(p_.variables)) {
      names_.push_back(name);
      setup.provides(name + "-max");
    }
  }
  void trigger(Run& run) override {
    for (const std::string& name : names_)
      run.monitors().put_scalar(name + "-max", largest(run.store().value(name)));
  }

 private:
  Params p_;
  std::vector<std::string> names_;
};

TPACK_REGISTER(Callback, LargestWeight, "LargestWeight");

}  // namespace
}  // namespace tpack
