// What holds for every registered layer, from its example alone: it runs with one sample of odd sizes, in
// training and in inference, and processors give what the plain loops give, with gradients.
#include <gtest/gtest.h>

#include "layers/layer_cases.h"
#include "layers/on_processors.h"

namespace tpack {
namespace {

using Inputs = std::vector<Tensor>;

Tensor numbers(const Shape& shape, uint64_t seed) {
  return random_tensor(shape, seed, DType::kFloat64, 0.1, 1);
}

/// One sample of images, vectors, matrices and numbers of several sizes: a layer is tried on the first that
/// fits it.
std::vector<Inputs> kinds_of_inputs() {
  const Tensor ints = Tensor::of<int32_t>({1, 3}, {2, 0, 1});
  const Tensor index = Tensor::of<int32_t>({1}, {1});
  return {{numbers({1, 3, 7, 5}, 1)},
          {numbers({1, 4, 7, 5}, 2)},
          {numbers({1, 5}, 3)},
          {numbers({1, 4}, 4)},
          {numbers({1}, 5)},
          {numbers({1, 49, 16}, 14)},
          {ints},
          {numbers({1, 3, 7, 5}, 1), numbers({1, 3, 7, 5}, 6)},
          {numbers({1, 3, 3}, 7), numbers({1, 3, 3}, 8)},
          {numbers({1, 5}, 3), index},
          {numbers({1, 5}, 3), numbers({1, 5}, 9), numbers({1, 5}, 10)},
          {numbers({1, 5}, 3), index, numbers({1}, 11), numbers({1}, 12), numbers({1, 5}, 13)}};
}

/// The example of a layer as a list that names `count` inputs; empty if it takes none that way.
std::string list_of(const ComponentInfo& info, size_t count) {
  std::string item = info.example();
  if (item.empty()) item = info.name + ": {}";
  const size_t brace = item.find(": {");
  if (brace == std::string::npos || item.find(": ") != brace) {  // a shorthand
    item = count == 1 ? item : "";
  } else if (item.find("input:") == std::string::npos) {
    std::string names = "x0";
    for (size_t i = 1; i < count; ++i) names += ", x" + std::to_string(i);
    const size_t params = brace + 3;
    const std::string input = "name: y, input: " + (count == 1 ? names : "[" + names + "]");
    item = item.substr(0, params) + input + (item[params] == '}' ? "" : ", ") + item.substr(params);
  }
  if (item.empty()) return "";
  const bool is_in_parts = info.name == "Split";
  return "[{" + item + "}" + (is_in_parts ? ", {Tanh: {input: y.0}}" : "") + "]";
}

/// Those whose example needs something that the others do not have.
const std::map<std::string, std::string> kNeedsMore = {{"Call", "a network of its model"},
                                                       {"Gradient", "the name of another output"},
                                                       {"ScaleLike", "the name of an input"}};

/// What they give is not of samples.
const std::set<std::string> kWithoutSamples = {"Constant", "Range", "Variable"};

bool has_gradient(const testkit::Function& layer, const Inputs& inputs) {
  return is_float(inputs[0].dtype()) &&
         is_float(testkit::evaluate(layer, inputs, DType::kFloat64)[0].dtype());
}

TEST(EveryLayer, runs_with_one_sample_of_odd_sizes_in_both_phases_as_the_plain_loops_do) {
  int layers = 0;
  for (const ComponentInfo* info : Registry<Layer>::table().list()) {
    if (kNeedsMore.contains(info->name)) continue;
    SCOPED_TRACE(info->name);
    bool fits = false;
    std::string why;
    for (const Inputs& inputs : kinds_of_inputs()) {
      const std::string list = list_of(*info, inputs.size());
      if (list.empty()) continue;
      testkit::Function layer;
      try {
        layer = function_of(list);
        (void)testkit::evaluate(layer, inputs, DType::kFloat64);
      } catch (const ConfigError& error) {
        why = error.what();
        continue;
      }
      fits = true;
      for (const Phase phase : {Phase::kTraining, Phase::kInference}) {
        for (const Tensor& value : testkit::evaluate(layer, inputs, DType::kFloat64, phase)) {
          if (!kWithoutSamples.contains(info->name)) {
            EXPECT_EQ(value.shape()[0], 1) << "the batch of " << value.spec().str();
          }
          for (int64_t i = 0; i < value.elements(); ++i) EXPECT_TRUE(std::isfinite(value.at(i))) << list;
        }
      }
      expect_same_on_processors(layer, inputs);
      if (has_gradient(layer, inputs)) expect_same_on_processors(testkit::with_gradients(layer), inputs);
      ++layers;
      break;
    }
    EXPECT_TRUE(fits) << "no kind of inputs fits its example: " << why;
  }
  EXPECT_GT(layers, 60);
}

}  // namespace
}  // namespace tpack
