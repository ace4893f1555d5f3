// Every field of every trainer has an effect.
#include <gmock/gmock-more-matchers.h>

#include "comm/self_comm.h"
#include "core/text.h"
#include "support/apart_device.h"
#include "support/live_fields.h"
#include "support/model_with_state.h"
#include "support/small_training.h"
#include "train/data_parallel_trainer.h"

namespace tpack {
namespace {

/// A world of one rank that records how long it should wait.
class WatchedWorld final : public SelfComm {
 public:
  explicit WatchedWorld(double& timeout_s) : timeout_s_(timeout_s) {}
  void set_timeout(double seconds) override { timeout_s_ = seconds; }

 private:
  double& timeout_s_;
};

/// The devices of a trainer, the time-out of its world, what a step and the start of an epoch do and take, or
/// why not.
std::string setup_of(const std::string& item) {
  double timeout_s = 0;
  try {
    SmallTraining training(small_flow(22, "- BatchData: {batch_size: 4}"), item,
                           "Adam: {learning_rate: 0.01}", EngineSettings::Backend::kReference,
                           std::make_unique<WatchedWorld>(timeout_s), std::make_unique<ModelWithState>());
    training.trainer().initialize();
    std::string text = shortest(timeout_s) + " s ";
    training.trainer().step(0, {});
    training.trainer().part<ReplicaState>().before_epoch();
    if (const auto* data_parallel = dynamic_cast<DataParallelTrainer*>(&training.trainer())) {
      const Replicas& replicas = data_parallel->replicas();
      for (size_t tower = 0; tower < replicas.local_towers(); ++tower) {
        Device& device = replicas.device(tower);
        text += device.name() + " average " + shortest(device.variables().number("average")) + " ";
      }
    } else {
      text += training.trainer().part<TrainedModel>().model_handle()->device->name() + " ";
    }
    text += std::to_string(training.trainer().part<StepPrograms>().memory().variables) + " bytes ";
    for (const auto& [name, value] : variables_of(training.trainer())) text += " " + shortest(value.at(0));
    return text + " " + std::to_string(training.trainer().part<StepData>().samples());
  } catch (const ResourceError& error) {
    return error.what();
  }
}

TEST(Trainers, have_no_field_without_effect) {
  const DeviceKind apart("apart", make_apart_device);
  EXPECT_THAT(live::dead_fields(Registry<Trainer>::table(), {setup_of}), testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
