#include "learner/merged_adapters.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "checkpoint/layout.h"
#include "learner/inference_model.h"
#include "learner/learner.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

constexpr const char* kAdaptedConfig = R"(tpack: 1
seed: 3
engine: {threads: 1, algorithm: heuristic}
optimizer: {Adam: {learning_rate: 0.05}}
data:
  train:
    - FakeData: {shapes: [[6], []], dtype: [float32, int32], names: [x, label], domain: [0, 3], size: 8}
    - BatchData: 8
model:
  inputs: {x: {shape: [6]}, label: {shape: [], dtype: int32}}
  defaults: {FullyConnected: {adapter_rank: 2, adapter_alpha: 3}}
  blocks:
    Hidden: {parameters: {units: 8}, layers: [FullyConnected: {name: fc, units: $(units), activation: Tanh}]}
  layers:
    - Hidden: {name: hidden, input: x}
    - FullyConnected: {name: plain, units: 5, adapter_rank: ~}
    - FullyConnected: {name: logits, units: 3, use_bias: false}
  cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}]
predict: {data: train, outputs: {logits: logits}}
)";

Tensor sine_values(const Shape& shape) {
  Tensor values(DType::kFloat32, shape);
  for (int64_t i = 0; i < values.elements(); ++i)
    values.data<float>()[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i)));
  return values;
}

class MergedAdapters : public testing::Test {
 protected:
  /// A checkpoint after some steps.
  std::string trained() const {
    write_content(folder_ / "a.yaml", kAdaptedConfig);
    Learner learner = Learner::from_config(folder_ / "a.yaml");
    const Tensor labels = Tensor::of<int32_t>({8}, {0, 1, 2, 0, 1, 2, 1, 1});
    for (int i = 0; i < 20; ++i) learner.step({{"x", sine_values({8, 6})}, {"label", labels}});
    learner.save(folder_ / "a.h5");
    return folder_ / "a.h5";
  }
  TemporaryFolder folder_;
};

TEST_F(MergedAdapters, give_the_outputs_of_the_adapted_model) {
  const std::string path = trained();
  const std::string out = folder_ / "merged.h5";
  const CheckpointContent before = load_checkpoint(path);
  CheckpointContent merged = merged_adapters(before, path);
  EXPECT_EQ(merged.tensors.size(), 5U);  // W of three layers, b of two
  EXPECT_FALSE(bit_equal(merged.tensors.at("model/hidden/fc/W"), before.tensors.at("model/hidden/fc/W")));
  EXPECT_TRUE(bit_equal(merged.tensors.at("model/plain/W"), before.tensors.at("model/plain/W")));
  EXPECT_THAT(merged.texts.at(layout::kConfig), testing::Not(testing::HasSubstr("adapter")));
  save_checkpoint(out, std::move(merged));
  const Tensor x = sine_values({40, 6});
  const Tensor expected = InferenceModel::load(path)->predict({{"x", x}}).at("logits");
  const Tensor found = InferenceModel::load(out)->predict({{"x", x}}).at("logits");
  ASSERT_EQ(found.shape(), expected.shape());
  double largest = 0;
  double error = 0;
  for (int64_t i = 0; i < found.elements(); ++i) {
    largest = std::max(largest, std::abs(expected.at(i)));
    error = std::max(error, std::abs(found.at(i) - expected.at(i)));
  }
  EXPECT_LT(error, 1e-6 * largest);
}

/// W + 0.5 A B by hand.
TEST(MergedWeights, are_sums) {
  CheckpointContent content;
  content.tensors.emplace("model/fc/W", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  content.tensors.emplace("model/fc/adapter/A", Tensor::of<float>({2, 1}, {2, -4}));
  content.tensors.emplace("model/fc/adapter/B", Tensor::of<float>({1, 3}, {1, 0, 3}));
  content.tensors.emplace("model/fc/adapter/scale", Tensor::scalar<float>(0.5F));
  const CheckpointContent merged = merged_adapters(content, "a.h5");
  ASSERT_EQ(merged.tensors.size(), 1U);
  EXPECT_TRUE(bit_equal(merged.tensors.at("model/fc/W"), Tensor::of<float>({2, 3}, {2, 2, 6, 2, 5, 0})));

  const auto error_of = [&](const std::string& name, std::optional<Tensor> value) {
    CheckpointContent other = content;
    other.tensors.erase(name);
    if (value) other.tensors.emplace(name, *value);
    return error_from<CheckpointError>([&] { merged_adapters(other, "a.h5"); });
  };
  EXPECT_TRUE(says(error_of("model/fc/adapter/A", {}), {"a.h5: has no adapters", "adapter_rank"}));
  EXPECT_TRUE(
      says(error_of("model/fc/W", {}), {"a.h5: has an adapter without 'model/fc/W'", "the whole model"}));
  EXPECT_TRUE(says(error_of("model/fc/W", Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})),
                   {"'model/fc/W' [3, 2]", "A [2, 1], B [1, 3]", "do not fit together"}));
  EXPECT_TRUE(
      says(error_of("model/fc/adapter/A", Tensor::scalar<float>(1)), {"A []", "do not fit together"}));
}

}  // namespace
}  // namespace tpack
