#include "core/duration.h"

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

/// The duration, or the errors.
std::pair<std::optional<Duration>, std::string> duration_of(const ConfigNode& node) {
  Diagnostics errors;
  Reader reader("'every'", {}, errors);
  const auto duration = Codec<Duration>::parse(node, reader);
  try {
    errors.throw_if_any();
  } catch (const ConfigError& error) {
    return {duration, error.what()};
  }
  return {duration, ""};
}

TEST(Duration, is_steps_or_epochs_and_epochs_for_a_number) {
  const Duration steps = *duration_of(ConfigNode::map({{"steps", 500}})).first;
  EXPECT_EQ(steps, (Duration{500, Duration::Unit::kSteps}));
  EXPECT_EQ(steps.steps(7), 500);
  EXPECT_EQ(steps.str(), "500 steps");
  const Duration epochs = *duration_of(ConfigNode::map({{"epochs", 0.5}})).first;
  EXPECT_EQ(epochs.steps(7), 3.5);
  EXPECT_EQ(*duration_of(ConfigNode(1)).first, (Duration{1, Duration::Unit::kEpochs}));
  EXPECT_EQ((Duration{1}).str(), "1 epoch");
}

TEST(Duration, is_written_back_with_its_unit) {
  for (const ConfigNode& node : {ConfigNode::map({{"steps", 500}}), ConfigNode::map({{"epochs", 0.5}})})
    EXPECT_EQ(to_json(Codec<Duration>::dump(*duration_of(node).first)), to_json(node));
  EXPECT_EQ(to_json(Codec<Duration>::dump({3})), R"({"epochs": 3})");
}

TEST(Duration, says_what_is_wrong) {
  const auto expect_error = [](const ConfigNode& node, const std::string& text) {
    const auto [duration, errors] = duration_of(node);
    EXPECT_FALSE(duration);
    EXPECT_THAT(errors, testing::HasSubstr(text));
  };
  expect_error(ConfigNode::map({{"step", 5}}), "{steps: ...}, {epochs: ...}, or a number of epochs");
  expect_error(ConfigNode("often"), "{steps: ...}, {epochs: ...}, or a number of epochs");
  expect_error(ConfigNode::map({{"steps", 1.5}}), "expected a whole number of steps, found 1.5");
  expect_error(ConfigNode(-1), "must be at least 0");
  expect_error(ConfigNode::map({{"epochs", "two"}}), "a number");
}

}  // namespace
}  // namespace tpack
