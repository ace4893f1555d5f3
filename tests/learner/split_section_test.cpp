#include "learner/split_section.h"

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"

namespace tpack {
namespace {

using testing::HasSubstr;

constexpr const char* kFlows = R"(
data:
  train: [{FakeData: {size: 10, shapes: [[2]]}}, {BatchData: 2}]
  validation: [{BatchData: 5}]
  test: {flow: [{BatchData: 1}], workers: 1}
  other: [{FakeData: {size: 3, shapes: [[2]]}}]
)";

/// The `data` section of the effective config, or the first error.
std::string data_of(const std::string& split, const std::string& flows = kFlows) {
  Diagnostics errors;
  ExperimentConfig config =
      experiment_schema().parse(parse_yaml(flows + "split: " + split, "c.yaml"), "the config", errors);
  apply_split(config, errors);
  try {
    errors.throw_if_any();
  } catch (const ConfigError& error) {
    return error.what();
  }
  EXPECT_TRUE(config.split.is_null());
  std::string text = to_json(ConfigNode::map({{"train", config.data.at("train")},
                                              {"validation", config.data.at("validation")},
                                              {"test", config.data.at("test")},
                                              {"other", config.data.at("other")}}));
  std::erase(text, ' ');
  return text;
}

TEST(Split, gives_flows_without_a_source_their_part_of_that_of_train) {
  const std::string source = R"({"SplitData":{"source":{"FakeData":{"size":10,"shapes":[[2]]}},"part":")";
  const std::string rest = R"(","shares":{"validation":0.2,"test":0.1}}})";
  EXPECT_EQ(data_of("{shares: {validation: 0.2, test: 0.1}}"),
            R"({"train":[)" + source + "train" + rest + R"(,{"BatchData":2}],"validation":[)" + source +
                "validation" + rest + R"(,{"BatchData":5}],"test":{"flow":[)" + source + "test" + rest +
                R"(,{"BatchData":1}],"workers":1},"other":[{"FakeData":{"size":3,"shapes":[[2]]}}]})");
}

TEST(Split, says_which_flow_is_missing) {
  EXPECT_THAT(
      data_of("{shares: {validation: 0.2, late: 0.1}}"),
      HasSubstr(
          "no flow uses the part 'late'; write one without a source, as late: [BatchData: 100] in `data`"));
  EXPECT_THAT(data_of("{shares: {validation: 0.2, other: 0.1}}"),
              HasSubstr("data.other has its own source; remove it"));
  EXPECT_THAT(data_of("0.2", "data: {train: [{FakeData: {size: 10, shapes: [[2]]}}]}\n"),
              HasSubstr("no flow uses the part 'validation'"));
  EXPECT_THAT(data_of("0.2", "data: {validation: [{BatchData: 2}]}\n"),
              HasSubstr("split divides the source of data.train, but data.train has no source"));
  EXPECT_THAT(data_of("{share: 0.2}"), HasSubstr("did you mean 'shares'?"));
}

}  // namespace
}  // namespace tpack
