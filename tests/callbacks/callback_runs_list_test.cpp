// What holds of every registered callback, in a run of each: its state is in checkpoints, so that a run that
// is resumed goes on as one that was not interrupted.
#include <filesystem>

#include <gtest/gtest.h>

#include "callbacks/callback_scenes.h"
#include "callbacks/give_scalar.h"
#include "support/paths.h"

namespace tpack {
namespace {

constexpr const char* kModel = R"(
inputs: {x: {shape: [4], dtype: float32}, label: {shape: [], dtype: int32}}
networks:
  online: [{FullyConnected: {name: fc, units: 2}}]
  target: [{FullyConnected: {name: fc, units: 2}}]
layers:
  - Reshape: {name: picture, input: x, shape: [1, 2, 2]}
  - Call: {name: goal, network: target, input: x}
  - Call: {name: scores, network: online, input: x}
cost: [{SoftmaxCrossEntropy: {logits: scores, labels: label}}]
metrics: [{Accuracy: {logits: scores, labels: label}}]
)";

/// The items of callbacks whose example does not fit the model, or whose state would make no difference.
/// `score` is given after each epoch.
std::map<std::string, std::string> own_items() {
  const std::string tracker = "{library: " + build_folder() + "/tests/callbacks/libfake_nvml.so}";
  const std::string mean = "{SimpleMovingAverage: {names: [cost], window_size: 4}}";
  return {
      {"CheckNumerics", "{policy: rollback}"},
      {"CopyVariables", "{from: online, to: target, rate: 0.25}"},
      {"DumpTensorAsImage", "{output: picture}"},
      {"DumpTensors", "{outputs: [scores], gradients: [online/.*]}"},
      {"EarlyStop", "{monitor: score, patience: 2, mode: min}"},
      {"EnableIf", "{callback: " + mean + ", condition: epoch > 0}"},
      {"GPUMemoryTracker", tracker},
      {"GPUUtilizationTracker", tracker},
      {"MaxSaver", "{monitor: score}"},
      {"MinSaver", "{monitor: score}"},
      {"PeriodicCallback", "{callback: " + mean + ", every_k_steps: 2}"},
      {"PeriodicTrigger",
       "{callback: {EarlyStop: {monitor: score, patience: 1, mode: min}}, every_k_epochs: 2}"},
      {"PlayEpisodes", "{environment: CartPole, values: scores, input: x, episodes: 2}"},
      {"RunCommand", "{command: ['true']}"},
      {"SampleGrid", "{outputs: [picture]}"},
      {"ScheduledHyperParamSetter", "{param: learning_rate, values: [[1, 0.1], [3, 0.02]], interp: linear}"},
      {"StopAt", "{monitor: score, at_most: -1.0e9}"},
      {"StartProcess", "{command: [tail, -f, /dev/null]}"},
      {"StatMonitorParamSetter",
       "{param: learning_rate, monitor: score, value: old / 2, threshold: 0.2, last_k: 3, reverse: false}"},
      {"SWA", "{start_epoch: 2, callbacks: [{InferenceRunner: {data: validation}}]}"},
      {"TensorSummary", "{outputs: [scores], gradients: [.*/W], types: [rms]}"},
      {"WeightEMA", "{decay: 0.9, callbacks: [{InferenceRunner: {data: validation}}]}"}};
}

std::string item_of(const ComponentInfo& info) {
  static const std::map<std::string, std::string> kOwn = own_items();
  const auto own = kOwn.find(info.name);
  if (own != kOwn.end()) return "{" + info.name + ": " + own->second + "}";
  return info.example().empty() ? info.name : info.example();
}

DataFlow samples(int64_t size) {
  return make_flow(
      parse_yaml("[{FakeData: {shapes: [[4], []], dtype: [float32, int32], names: [x, label], "
                 "domain: [0, 2], size: " +
                     std::to_string(size) + "}}, {BatchData: {batch_size: 2}}]",
                 "flow.yaml"));
}

std::string text_of(const State& state) {
  std::string text = state.to_json();
  for (const auto& [name, tensor] : state.tensors()) {
    text += "\n" + name + tensor.shape().str();
    for (int64_t i = 0; i < tensor.elements(); ++i) text += " " + shortest(tensor.at(i));
  }
  return text;
}

std::string state_of(const Callback& callback) {
  State state;
  callback.save(state);
  return text_of(state);
}

/// The files of a run, checkpoints with their step.
std::string files_in(const TemporaryFolder& folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.str())) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const bool is_checkpoint = entry.path().parent_path().filename() == "checkpoints";
    files.insert(path.substr(folder.str().size()) +
                 (is_checkpoint ? " " + std::to_string(checkpoint_step(path)) : ""));
  }
  return join(std::vector(files.begin(), files.end()), "\n");
}

/// The data of CheckNumerics have numbers that are NaN.
SmallTraining training_for(const std::string& item) {
  const bool has_bad_steps = name_in(item) == "CheckNumerics";
  return SmallTraining(samples(40), "Simple", "Adam: {learning_rate: 0.1}",
                       EngineSettings::Backend::kReference, make_self_comm(), model_of(kModel),
                       has_bad_steps ? "Poisoned: {rounds: [4, 8, 11]}" : "Feed");
}

/// A process that runs 5 epochs of 3 steps with a callback, or a part of them.
class Process {
 public:
  static constexpr int64_t kSteps = 3;
  static constexpr int64_t kEpochs = 5;

  Process(const std::string& item, const TemporaryFolder& folder, int64_t last_step = kSteps * kEpochs)
      : folder_(folder),
        training_(training_for(item)),
        run_({.max_epoch = kEpochs, .steps_per_epoch = kSteps}, training_.trainer()) {
    run_.options.folder = folder.str();
    run_.options.flows = {{"train", samples(40)}, {"validation", samples(6)}};
    run_.add("score", give("score", {3, 1, 2, 2.5, 1.5}));
    auto probed = callback_of(item);
    probed_ = probed.get();
    run_.add("probed", std::move(probed));
    run_.add("saver",
             Registry<Callback>::make_item(parse_yaml(
                 "{PeriodicTrigger: {callback: {ModelSaver: {keep: 99}}, every_k_steps: 1}}", "s.yaml")));
    const auto keep = [this](tpack::Run& /*at*/) { state_ = state_of(*probed_); };
    const auto look = [this, keep, last_step](tpack::Run& at) {
      keep(at);
      rates_[at.global_step()] = at.hyper_parameter("learning_rate");
      if (at.global_step() == last_step && last_step < kSteps * kEpochs) at.request_stop("enough");
    };
    run_.add("look", std::make_unique<FunctionCallback>(look, keep));
  }

  void go() {
    const LoopResult result = run_.go();
    result_ = std::to_string(static_cast<int>(result.ending)) + " " + result.reason + " " +
              std::to_string(result.global_step);
  }
  /// What the callback would save after it has loaded its state.
  std::string resume(int64_t step) {
    const std::string path = folder_.str() + "/checkpoints/model-" + std::to_string(step) + ".h5";
    run_.loop().resume(load_checkpoint(path), path);
    state_ = state_of(*probed_);
    return state_;
  }

  /// As of the last checkpoint.
  const std::string& state() const { return state_; }
  /// What the run has done, with the rates of the steps after `step`.
  std::string traces(int64_t step) {
    std::string text = result_ + "\nrates";
    for (auto rate = rates_.upper_bound(step); rate != rates_.end(); ++rate)
      text += " " + shortest(rate->second);
    text += "\n" + bits_of_statistics(run_.monitors) + "\n" + files_in(folder_);
    State weights;
    for (const auto& [name, value] : variables_of(training_.trainer())) weights.put(name, value);
    return text + "\n" + text_of(weights);
  }

 private:
  const TemporaryFolder& folder_;
  SmallTraining training_;
  TestRun run_;
  const Callback* probed_ = nullptr;
  std::map<int64_t, double> rates_;  // by step
  std::string state_;
  std::string result_;
};

class EachCallback : public testing::TestWithParam<std::string> {};

/// At steps within an epoch and at the end of one.
TEST_P(EachCallback, goes_on_after_a_resume) {
  const CapturedLog log;
  const std::string item = item_of(Registry<Callback>::table().at(GetParam(), {}));
  const TemporaryFolder whole_folder;
  Process whole(item, whole_folder);
  whole.go();
  const TemporaryFolder again_folder;
  Process again(item, again_folder);
  again.go();
  const bool repeats = whole.state() == again.state();  // else it holds times
  for (const int64_t step : {4, 6, 10}) {
    const TemporaryFolder folder;
    Process first(item, folder, step);
    first.go();
    Process rest(item, folder);
    EXPECT_EQ(rest.resume(step), first.state()) << "the state that it loads is not what it saved at " << step;
    rest.go();
    EXPECT_EQ(rest.traces(step), whole.traces(step)) << "resumed from " << step;
    if (!repeats) continue;
    EXPECT_EQ(rest.state(), whole.state()) << "resumed from " << step;
  }
}

std::vector<std::string> callbacks() {
  std::vector<std::string> names;
  for (const ComponentInfo* info : Registry<Callback>::table().list())
    if (!info->name.starts_with("Test")) names.push_back(info->name);  // else of this program
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, EachCallback, testing::ValuesIn(callbacks()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tpack
