#include <cstdlib>

#include "core/text.h"
#include "train/callback.h"

namespace tpack {
namespace {

/// The number as in the config, if the variable is in float32: 0.1, not 0.10000000149011612.
double as_written(double value) {
  const auto single = static_cast<float>(value);
  const bool exact = static_cast<double>(single) == value;
  return exact ? std::strtod(shortest(single).c_str(), nullptr) : value;
}

/// Reports each value in the last step of the epoch, regardless of what sets it.
class HyperParamSummary final : public Callback {
 public:
  using Params = NoParams;
  static Schema<Params> schema() {
    return Schema<Params>(
        "Reports the learning rate and other hyper-parameters as statistics of each epoch: the value in its "
        "last step.");
  }
  explicit HyperParamSummary(Params /*p*/) {}

  void setup(Setup& setup) override {
    names_ = setup.run().part<TrainedVariables>().hyper_parameters();
    for (const std::string& name : names_) setup.provides(name, ScalarOrder::When::kRun);
  }
  void after_run(Run& run) override {
    if (run.local_step() + 1 != run.length().steps_per_epoch) return;
    for (const std::string& name : names_)
      run.monitors().put_scalar(name, as_written(run.hyper_parameter(name)));
  }

 private:
  std::vector<std::string> names_;
};

TPACK_REGISTER(Callback, HyperParamSummary, "HyperParamSummary");

}  // namespace
}  // namespace tpack
