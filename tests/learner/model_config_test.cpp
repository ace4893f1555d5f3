#include "learner/model_config.h"

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "experiment/experiment_config.h"

namespace tpack {
namespace {

/// A new section of a config is one of a model, or one that reading a model leaves out.
TEST(ModelConfig, knows_all_sections_of_a_config) {
  std::vector<std::string> known = sections_of_runs();
  const auto model = with_model_sections(Schema<ModelConfig>("A model."));
  for (const FieldInfo& field : model.fields()) known.push_back(field.name);
  std::vector<std::string> all;
  const auto whole = experiment_schema();
  for (const FieldInfo& field : whole.fields()) all.push_back(field.name);
  EXPECT_THAT(known, testing::UnorderedElementsAreArray(all));
}

TEST(ModelConfig, leaves_out_the_run_around_the_model_and_refuses_what_is_neither) {
  Diagnostics errors;
  const ModelConfig config = parse_model_config(
      parse_yaml("seed: 3\ncallbacks: [Unknown]\ntrainer: {Unknown: {}}\nmax_epoch: 7", "a.yaml"), "a",
      errors);
  EXPECT_TRUE(errors.ok());
  EXPECT_EQ(config.seed, 3);
  EXPECT_EQ(config.name, "a");
  parse_model_config(parse_yaml("modl: {}", "a.yaml"), "a", errors);
  EXPECT_THAT([&] { errors.throw_if_any(); },
              testing::ThrowsMessage<ConfigError>(testing::HasSubstr("'model'")));
}

}  // namespace
}  // namespace tpack
