#include "predict/predict_outputs.h"

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"

namespace tpack {
namespace {

std::vector<PredictOutput> parsed(const std::string& yaml) {
  Diagnostics errors;
  auto outputs = parse_predict_outputs(parse_yaml(yaml, "p.yaml"), errors);
  errors.throw_if_any();
  return outputs;
}

std::string output_errors(const std::string& yaml) {
  try {
    parsed(yaml);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(PredictOutputs, are_names_of_outputs) {
  const auto outputs = parsed("[fc0, fc1]");
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[1].name, "fc1");
  EXPECT_EQ(outputs[1].from.name, "fc1");
  EXPECT_EQ(outputs[1].layer, nullptr);
}

TEST(PredictOutputs, have_names_and_layers_of_their_own) {
  const auto outputs =
      parsed("{scores: fc1, probability: {Softmax: fc1}, leaky: {LeakyReLU: {input: fc0, alpha: 0.5}}}");
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[0].name, "scores");
  EXPECT_EQ(outputs[1].name, "probability");
  EXPECT_EQ(outputs[1].from.name, "fc1");
  EXPECT_NE(outputs[1].layer, nullptr);
  EXPECT_EQ(outputs[2].from.name, "fc0");
  EXPECT_NE(outputs[2].layer, nullptr);
}

TEST(PredictOutputs, say_the_range_of_pixels) {
  const auto outputs =
      parsed("{a: {output: fc1, range: [0, 1]}, b: {output: {Softmax: fc0}, range: [-1, 1]}, c: fc2}");
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[0].from.name, "fc1");
  EXPECT_EQ(outputs[0].range, (PixelRange{0, 1}));
  EXPECT_EQ(outputs[1].from.name, "fc0");
  EXPECT_NE(outputs[1].layer, nullptr);
  EXPECT_EQ(outputs[1].range, (PixelRange{-1, 1}));
  EXPECT_FALSE(outputs[2].range.has_value());
  EXPECT_THAT(
      output_errors("{a: {output: fc1, range: [1, 1]}}"),
      testing::StartsWith("p.yaml:1:5: output 'a' of predict: the two values of 'range' must differ"));
  EXPECT_THAT(output_errors("{a: {output: fc1, rnge: [0, 1]}}"), testing::HasSubstr("'rnge'"));
}

TEST(PredictOutputs, say_what_is_wrong) {
  EXPECT_EQ(output_errors("[]"),
            "p.yaml:1:1: 'outputs' of predict is empty; name an output, as in {probability: {Softmax: fc1}}");
  EXPECT_EQ(
      output_errors("3"),
      "p.yaml:1:1: 'outputs' of predict: expected a list of outputs or a map of name to output, found the "
      "number 3");
  EXPECT_EQ(output_errors("[{Softmax: fc1}]"),
            "p.yaml:1:2: 'outputs' of predict: expected the name of an output, found a map; to apply a layer "
            "write {NAME: {LAYER: OUTPUT}}");
  EXPECT_EQ(output_errors("{p: {Softmax: {}}}"),
            "p.yaml:1:6: output 'p' of predict: name the output for Softmax, as in {Softmax: fc1}");
  EXPECT_THAT(output_errors("{p: {Sofmax: fc1}}"),
              testing::StartsWith("p.yaml:1:6: unknown layer 'Sofmax'; did you mean 'Softmax'?"));
  EXPECT_THAT(output_errors("{p: {LeakyReLU: {input: fc1, alph: 1}}}"),
              testing::StartsWith("p.yaml:1:30: unknown key 'alph' in layer LeakyReLU"));
}

}  // namespace
}  // namespace tpack
