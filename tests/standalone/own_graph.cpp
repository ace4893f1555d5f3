// A network of raw ops, without layers and model section, in the real loop with real callbacks.
#include <filesystem>
#include <unistd.h>

#include "comm/self_comm.h"
#include "ops/matmul.h"
#include "ops/one_hot.h"
#include "standalone/expect.h"
#include "train/loop.h"

namespace tpack {
namespace {

constexpr int64_t kSide = 28;
constexpr int64_t kClasses = 10;
constexpr int64_t kEpochs = 3;

/// Softmax regression on images of digits, with weights, cost and accuracy as ops.
class SoftmaxRegression final : public TowerFunction {
 public:
  const std::vector<TowerInput>& inputs() const override { return inputs_; }

  TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    const int64_t samples = in.at("label").shape()[0];
    const Symbol pixels = b.div(b.to_float(b.reshape(in.at("image"), {samples, kSide * kSide})), 255.0);
    const Symbol weights = b.variable("weights", {kSide * kSide, kClasses}, nullptr);
    const Symbol bias = b.variable("bias", {kClasses}, nullptr);
    const Symbol scores = b.add(matmul(b, pixels, weights), bias);
    const Symbol top = b.stop_gradient(b.reduce_max(scores, {1}, Builder::Keep::kYes));
    const Symbol shifted = b.sub(scores, top);
    const Symbol log_sum = b.log(b.reduce_sum(b.exp(shifted), {1}));
    const Symbol truth = one_hot(b, in.at("label"), kClasses);
    const Symbol loss = b.sub(log_sum, b.reduce_sum(b.mul(truth, shifted), {1}));
    const Symbol right = b.reduce_sum(b.mul(truth, b.to_float(b.equal(scores, top))));
    const Symbol count = b.constant(static_cast<double>(samples));
    return {.costs = {{kCost, b.reduce_mean(loss)}},
            .statistics = {{"cost", b.reduce_sum(loss), count}, {"accuracy", right, count}}};
  }

 private:
  std::vector<TowerInput> inputs_ = {
      {"image", "image", {DType::kUInt8, {kSide, kSide, 1}}, true, "HWC"},
      {"label", "label", {DType::kInt32, {}}},
  };
};

DataFlow digits(const char* split, int64_t size) {
  return make_flow(ConfigNode::list({
      ConfigNode{{"RenderedDigits", {{"split", split}, {"size", size}, {"difficulty", 0.1}}}},
      ConfigNode{{"BatchData", {{"batch_size", 50}}}},
  }));
}

/// Everything that a run borrows.
struct Parts {
  SoftmaxRegression network;
  std::map<std::string, DataFlow> flows = {{"train", digits("train", 2000)},
                                           {"validation", digits("test", 500)}};
  std::unique_ptr<Optimizer> optimizer = Registry<Optimizer>::make("Adam", {{"learning_rate", 0.003}});
  std::unique_ptr<InputSource> input = Registry<InputSource>::make("Queue");
  std::unique_ptr<Comm> world = make_self_comm();
  Plan plan;
};

/// The trainer, callbacks and loop of one run in `folder`.
class OwnRun {
 public:
  OwnRun(Parts& parts, std::string folder) : trainer_(Registry<Trainer>::make("Simple")) {
    TrainSetup setup{
        .tower = &parts.network, .updates = {{.optimizer = parts.optimizer.get()}}, .flows = &parts.flows};
    setup.input = parts.input.get();
    setup.plan = &parts.plan;
    setup.world = parts.world.get();
    setup.seed = 1;
    setup.engine.algorithm = DeviceOptions::Algorithm::kHeuristic;
    setup.engine.threads = 1;
    trainer_->setup(setup);
    std::vector<NamedCallback> callbacks;
    callbacks.push_back({"saver", Registry<Callback>::make("ModelSaver", {{"keep", kEpochs}})});
    callbacks.push_back(
        {"validation", Registry<Callback>::make("InferenceRunner", {{"data", "validation"}})});
    LoopOptions options{
        .length = {.max_epoch = kEpochs, .steps_per_epoch = *trainer_->part<StepData>().steps_per_pass()}};
    options.folder = std::move(folder);
    options.world = parts.world.get();
    options.flows = parts.flows;
    options.seed = 1;
    loop_ = std::make_unique<Loop>(*trainer_, std::move(callbacks), monitors_, options);
    loop_->set_up();
  }

  Loop& loop() { return *loop_; }
  const Monitors& monitors() const { return monitors_; }
  Tensor weights() { return trainer_->part<TrainedVariables>().variables()->tensor("weights"); }

 private:
  std::unique_ptr<Trainer> trainer_;
  Monitors monitors_{{}};
  std::unique_ptr<Loop> loop_;
};

int run(const std::string& folder) {
  Expectations check;
  Parts parts;
  OwnRun whole(parts, folder + "/whole");
  const LoopResult result = whole.loop().run();
  check.expect(result.global_step == 40 * kEpochs, "every epoch is a pass over the data");
  const double accuracy = whole.monitors().get_latest("validation_accuracy").value_or(0);
  std::printf("validation accuracy: %.3f\n", accuracy);
  check.expect(accuracy > 0.75, "InferenceRunner saw a network that has learnt");
  check.expect(whole.monitors().get_history("validation_cost").size() == kEpochs, "it ran once an epoch");

  const std::string last = folder + "/whole/checkpoints/model-120.h5";
  check.expect(bit_equal(load_checkpoint(last).tensors.at("model/weights"), whole.weights()),
               "ModelSaver wrote the weights");
  OwnRun second(parts, folder + "/second");
  const std::string first = folder + "/whole/checkpoints/model-40.h5";
  second.loop().resume(load_checkpoint(first), first);
  check.expect(!bit_equal(second.weights(), whole.weights()), "the first checkpoint is another one");
  second.loop().run();
  check.expect(bit_equal(second.weights(), whole.weights()), "a run that goes on from it ends bit-equal");
  return check.exit_code();
}

}  // namespace
}  // namespace tpack

int main() {
  const auto folder = std::filesystem::temp_directory_path() / ("own_graph-" + std::to_string(getpid()));
  const int code = tpack::run(folder.string());
  std::filesystem::remove_all(folder);
  return code;
}
