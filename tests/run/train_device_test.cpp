// Training on a device whose memory the host cannot use.
#include <gtest/gtest.h>

#include "comm/self_comm.h"
#include "learner/inference_model.h"
#include "run/train.h"
#include "support/apart_device.h"
#include "support/random_convnet.h"
#include "support/tiny_runs.h"
#include "system/machine.h"

namespace tpack::testing_cli {
namespace {

class TrainDevice : public WithTinyRuns {
 protected:
  /// Trains the network of mnist-convnet with its callbacks and others, on random images, in this process,
  /// with the kernels of the reference.
  LoopResult train_on(const std::string& trainer, const std::string& name,
                      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> changes = {
        "data.train.BatchData.batch_size=4", "trainer=" + trainer, "max_epoch=2",
        "engine={backend: reference, threads: 1}",
        "callbacks=!append [CheckNumerics, MovingAverageSummary, HyperParamSummary]"};
    changes.insert(changes.end(), more.begin(), more.end());
    return tpack::train(random_convnet(run_folder(name), changes), *world_);
  }

 private:
  DeviceKind apart_{"apart", make_apart_device};
  std::unique_ptr<Comm> world_ = make_self_comm();
};

TEST_F(TrainDevice, with_memory_of_its_own_gives_the_same_bits) {
  train_on("{Simple: {device: cpu:0}}", "here");
  train_on("{Simple: {device: apart:0}}", "there");
  expect_same_tensors(checkpoint(6, "here"), checkpoint(6, "there"));
  const std::string best = "/checkpoints/max-validation_accuracy.h5";
  expect_same_tensors(run_folder("here") + best, run_folder("there") + best);
}

TEST_F(TrainDevice, with_memory_of_its_own_resumes_bit_exactly) {
  train_on("{Simple: {device: apart:0}}", "whole");
  train_on("{Simple: {device: apart:0}}", "resumed", {"max_epoch=1"});
  train_on("{Simple: {device: apart:0}}", "resumed");
  expect_same_tensors(checkpoint(6, "whole"), checkpoint(6, "resumed"));
}

TEST_F(TrainDevice, with_memory_of_its_own_reduces_gradients) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "this machine gives one processor";
  train_on("{SyncMultiGPU: {devices: [cpu:0, cpu:1]}}", "here");
  train_on("{SyncMultiGPU: {devices: [apart:0, apart:1]}}", "there");
  expect_same_tensors(checkpoint(6, "here"), checkpoint(6, "there"));
}

TEST_F(TrainDevice, with_memory_of_its_own_accumulates_batches) {
  train_on("{Simple: {device: cpu:0, accumulate: 3}}", "here");
  train_on("{Simple: {device: apart:0, accumulate: 3}}", "there");
  expect_same_tensors(checkpoint(6, "here"), checkpoint(6, "there"));
}

TEST_F(TrainDevice, with_memory_of_its_own_takes_weights_of_a_file) {
  train_on("{Simple: {device: cpu:0}}", "first");
  const std::string init = "init={from: " + checkpoint(6, "first") + "}";
  train_on("{Simple: {device: cpu:0}}", "here", {init});
  train_on("{Simple: {device: apart:0}}", "there", {init});
  expect_same_tensors(checkpoint(6, "here"), checkpoint(6, "there"));
  const Tensor first = load_checkpoint(checkpoint(6, "first")).tensors.at("model/fc1/W");
  EXPECT_FALSE(bit_equal(load_checkpoint(checkpoint(6, "there")).tensors.at("model/fc1/W"), first));
}

/// The test device is no test if the host could use its memory.
TEST_F(TrainDevice, rejects_the_host) {
  ApartMemory memory("apart:0");
  const Tensor tensor({DType::kFloat32, {3}}, memory.allocate_zeros(12));
  EXPECT_THROW(tensor.raw(), InternalError);
  EXPECT_DEATH(*reinterpret_cast<volatile float*>(tensor.address()) = 1, "");
  tensor.copy_from(Tensor::of<float>({3}, {1, 2, 3}));
  EXPECT_EQ(tensor.host().at(2), 3);
}

}  // namespace
}  // namespace tpack::testing_cli
