#include "callbacks/averaged_weights.h"
#include "system/log.h"

namespace tpack {
namespace {

struct SwaParams {
  int64_t start_epoch = 1;
  int64_t every_k_epochs = 1;
  std::vector<Slot<Callback>> callbacks;
};

/// Source: Izmailov et al. 2018, Averaging Weights Leads to Wider Optima and Better Generalization.
class Swa final : public AveragedWeights {
 public:
  using Params = SwaParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Stochastic weight averaging: keeps the mean of the model's weights at the ends of epochs, "
               "and saves it in checkpoints/swa.h5, for `tpack eval` and `infer`. Its callbacks see the "
               "model with these weights; training continues with the original ones. Moving averages of "
               "BatchNorm are averaged, too, not computed again.")
        .example("SWA: {start_epoch: 2, callbacks: [InferenceRunner: {data: validation}]}")
        .field("start_epoch", &Params::start_epoch, at_least(1), "the first epoch whose weights count")
        .field("every_k_epochs", &Params::every_k_epochs, at_least(1), "epochs between two averaged ones")
        .field("callbacks", &Params::callbacks, kAveragedCallbacks);
  }
  explicit Swa(const Params& p)
      : AveragedWeights("SWA", "swa.h5",
                        "the weights are averaged at the ends of epochs; set start_epoch and every_k_epochs",
                        p.callbacks),
        p_(p) {}

  void setup(Setup& setup) override {
    if (setup.run().length().max_epoch < p_.start_epoch)
      log::warning("callback SWA has no effect: the run ends with epoch " +
                   std::to_string(setup.run().length().max_epoch) + ", before start_epoch");
    AveragedWeights::setup(setup);
  }
  void trigger(Run& run) override {
    const int64_t since = run.epoch() - p_.start_epoch;
    if (since < 0 || since % p_.every_k_epochs != 0 || last_epoch_ == run.epoch()) return;
    average_.add(run.variables(VariableScope::kModel));
    show(run, "the mean of " + std::to_string(average_.count()) + " epochs' weights");
    last_epoch_ = run.epoch();
  }
  void save(State& state) const override {
    state.put("last_epoch", last_epoch_);
    AveragedWeights::save(state);
  }
  void load(const State& state) override {
    last_epoch_ = state.get<int64_t>("last_epoch");
    AveragedWeights::load(state);
  }

 private:
  Params p_;
  int64_t last_epoch_ = 0;  // that was added
};

TPACK_REGISTER(Callback, Swa, "SWA", "StochasticWeightAveraging");

}  // namespace
}  // namespace tpack
