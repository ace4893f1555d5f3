// Adapters of FullyConnected: what the golden cases, whose variables are drawn, do not show.
#include <cmath>

#include <gmock/gmock-matchers.h>

#include "backend/open_device.h"
#include "layers/layer_cases.h"
#include "support/errors.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

std::string layer_with(const std::string& options) {
  return "- FullyConnected: {name: fc, bias_initializer: {Normal: {}}, " + options + "}";
}

/// The variables of a layer on an input [3, inputs].
class LayerVariables {
 public:
  LayerVariables(const std::string& options, int64_t inputs) {
    Builder b(graph_, table_, {});
    const std::vector in = {b.input("x", {DType::kFloat32, {3, inputs}})};
    b.fetch("y", function_of(layer_with(options))(b, in)[0]);
    device_->create_variables(table_);
    device_->variables().initialize(1);
  }
  Tensor operator[](const std::string& name) const { return device_->variables().tensor("fc/" + name); }
  std::vector<std::string> trainable() const {
    std::vector<std::string> names;
    for (const VariableSpec* spec : table_.trainable()) names.push_back(spec->name);
    return names;
  }

 private:
  Graph graph_;
  VariableTable table_;
  std::unique_ptr<Device> device_ = open_device("cpu:0", DeviceOptions{});
};

TEST(Adapters, change_no_bit_before_training) {
  const Tensor x = random_tensor({33, 70}, 1, DType::kFloat64, -2, 2);
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    for (const char* use_bias : {"true", "false"}) {
      const std::string options = std::string("units: 24, activation: Tanh, use_bias: ") + use_bias;
      const auto y = [&](const std::string& more) {
        return testkit::evaluate_on_cpu(function_of(layer_with(options + more)), {x},
                                        {.precision = precision})[0];
      };
      const Tensor plain = y("");
      EXPECT_NE(plain.at(0), 0);
      EXPECT_TRUE(bit_equal(plain, y(", adapter_rank: 5, adapter_alpha: 7"))) << use_bias;
    }
  }
}

TEST(Adapters, are_trained_instead_of_the_weights) {
  const LayerVariables plain("units: 24", 70);
  const LayerVariables adapted("units: 24, adapter_rank: 5", 70);
  EXPECT_THAT(plain.trainable(), testing::UnorderedElementsAre("fc/W", "fc/b"));
  EXPECT_THAT(adapted.trainable(), testing::UnorderedElementsAre("fc/adapter/A", "fc/adapter/B"));
  EXPECT_TRUE(bit_equal(adapted["W"], plain["W"]));
}

/// As torch.nn.Linear(400, 32).weight: uniform within 1 / sqrt(400).
TEST(Adapters, begin_with_a_uniform_matrix_and_zeros) {
  const LayerVariables variables("units: 64, adapter_rank: 32", 400);
  const Tensor a = variables["adapter/A"];
  ASSERT_EQ(a.shape(), (Shape{400, 32}));
  double largest = 0;
  double squares = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    largest = std::max(largest, std::abs(a.at(i)));
    squares += a.at(i) * a.at(i);
  }
  EXPECT_LE(largest, 0.05);
  EXPECT_GT(largest, 0.0499);
  EXPECT_NEAR(squares / static_cast<double>(a.elements()), 0.05 * 0.05 / 3, 0.00003);
  const Tensor b = variables["adapter/B"];
  ASSERT_EQ(b.shape(), (Shape{32, 64}));
  for (int64_t i = 0; i < b.elements(); ++i) ASSERT_EQ(b.at(i), 0);
}

TEST(Adapters, are_scaled_by_alpha_over_their_rank) {
  EXPECT_EQ(LayerVariables("units: 24, adapter_rank: 4", 70)["adapter/scale"].at(0), 1);
  EXPECT_EQ(LayerVariables("units: 24, adapter_rank: 4, adapter_alpha: 10", 70)["adapter/scale"].at(0), 2.5);
}

TEST(Adapters, say_which_ranks_and_options_do_not_fit) {
  const auto error_of = [](const std::string& options) {
    return error_from([&] { const LayerVariables variables(options, 6); });
  };
  EXPECT_EQ(error_of("units: 24, adapter_rank: 6"), "no error");
  EXPECT_TRUE(says(error_of("units: 24, adapter_rank: 7"),
                   {"layers.yaml:1:3: fc: 'adapter_rank' is 7, above a size of W, [6, 24]", "at most 6",
                    "adapter_rank: ~"}));
  EXPECT_TRUE(says(error_of("units: 2, adapter_rank: 3"), {"[6, 2]; must be at most 2"}));
  EXPECT_TRUE(says(error_of("units: 2, adapter_rank: 0"), {"'adapter_rank'", "is 0; must be at least 1"}));
  EXPECT_TRUE(says(error_of("units: 2, adapter_rank: 1, adapter_alpha: 0"), {"'adapter_alpha'", "above 0"}));
  EXPECT_TRUE(says(error_of("units: 2, adapter_rank: 1, kernel_transform: Tanh"),
                   {"layers.yaml:1:3: fc: an adapter", "'kernel_transform'", "adapter_rank: ~"}));
  EXPECT_EQ(error_of("units: 2, adapter_rank: ~, kernel_transform: Tanh"), "no error");
}

}  // namespace
}  // namespace tpack
