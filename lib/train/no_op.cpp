#include "backend/inference_tower.h"
#include "backend/open_device.h"
#include "train/saved_state.h"
#include "train/trainer.h"

namespace tpack {
namespace {

struct NoOpParams {
  Ref<DeviceName> device = default_device();
};

/// Builds the model and gives its variables their values, but a step does nothing: for runs that consist of
/// callbacks, such as validations of the weights that `init` names. Source: tensorpack's NoOpTrainer.
class NoOp final : public Trainer,
                   public TrainedVariables,
                   public TrainedModel,
                   public StepData,
                   public GradientUpdates {
 public:
  using Params = NoOpParams;
  static Schema<Params> schema() {
    return Schema<Params>("Trains nothing; callbacks run as usual, on the unchanged model.")
        .example("NoOp: {device: cpu:0}")
        .field("device", &Params::device, "device for the model in callbacks");
  }
  explicit NoOp(Params p) : p_(std::move(p)) {}

  Needs needs() const override { return {.data = false, .model = false, .optimizer = false}; }
  void setup(const TrainSetup& setup) override {
    setup_ = setup;
    processor_parts({p_.device});  // which checks the name
    if (setup.tower == nullptr) return;
    tower_ = std::make_unique<InferenceTower>(*setup.tower, open_device(p_.device.name, setup.engine), Plan(),
                                              setup.seed);
  }
  bool step(int64_t /*global_step*/, const std::stop_token& /*stop*/) override { return true; }

  std::optional<int64_t> steps_per_pass() const override {
    const DataFlow* data = setup_.train_flow();
    return data != nullptr ? data->finite_size() : std::nullopt;
  }
  VariableStore* variables() const override { return tower_ ? &tower_->variables() : nullptr; }
  std::optional<ModelHandle> model_handle() override {
    if (!tower_) return std::nullopt;
    ModelHandle model = tower_->handle();
    model.plan = setup_.plan;
    return model;
  }
  std::optional<double> gradient_scale(const std::string& /*variable*/) const override {
    return std::nullopt;
  }

 private:
  Params p_;
  TrainSetup setup_;
  std::unique_ptr<InferenceTower> tower_;
};

TPACK_REGISTER(Trainer, NoOp, "NoOp", "NoOpTrainer");

}  // namespace
}  // namespace tpack
