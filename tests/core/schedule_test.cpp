#include "core/schedule.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

std::unique_ptr<Schedule> linear(std::vector<ConfigNode::Entry> more) {
  std::vector<ConfigNode::Entry> params = {{"start", 1}, {"end", 0}};
  params.insert(params.end(), more.begin(), more.end());
  return Registry<Schedule>::make("Linear", ConfigNode::map(std::move(params)));
}

double value_at(const Schedule& schedule, int64_t step) {
  return schedule.at({.step = step, .steps_per_epoch = 10, .max_epoch = 4});
}

TEST(Schedule, ends_with_the_run_or_after_its_length) {
  EXPECT_EQ(value_at(*linear({}), 0), 1);
  EXPECT_EQ(value_at(*linear({}), 30), 0.25);
  EXPECT_EQ(value_at(*linear({{"length", 2}}), 10), 0.5);
  EXPECT_EQ(value_at(*linear({{"length", 2}}), 35), 0);
}

TEST(Schedule, keeps_the_number_of_an_epoch) {
  const auto schedule = linear({{"by", "epoch"}});
  EXPECT_EQ(value_at(*schedule, 9), 1);
  EXPECT_EQ(value_at(*schedule, 10), 0.75);
  EXPECT_EQ(value_at(*schedule, 19), 0.75);
}

TEST(Schedule, begins_after_the_warmup) {
  const auto schedule = linear({{"warmup", ConfigNode::map({{"steps", 20}})}});
  EXPECT_EQ(value_at(*schedule, 0), 0.05);
  EXPECT_EQ(value_at(*schedule, 19), 1);
  EXPECT_EQ(value_at(*schedule, 20), 1);
  EXPECT_EQ(value_at(*schedule, 30), 0.5);
}

TEST(Schedule, begins_cycles_until_its_length) {
  const ConfigNode period = ConfigNode::map({{"steps", 4}});
  const auto schedule =
      Registry<Schedule>::make("Cosine", ConfigNode::map({{"start", 1},
                                                          {"end", 0.5},
                                                          {"period", period},
                                                          {"warmup", ConfigNode::map({{"steps", 2}})},
                                                          {"length", ConfigNode::map({{"steps", 11}})}}));
  for (const int64_t step : {2, 6, 10}) EXPECT_EQ(value_at(*schedule, step), 1) << step;
  for (const int64_t step : {4, 8}) EXPECT_EQ(value_at(*schedule, step), 0.75) << step;
  for (const int64_t step : {11, 12, 39}) EXPECT_EQ(value_at(*schedule, step), 0.5) << step;
}

TEST(Schedule, finds_the_beginning_of_each_cycle) {
  for (const double factor : {1.0, 1.25, 2.0, 3.0}) {
    const auto schedule = Registry<Schedule>::make(
        "Cosine", ConfigNode::map({{"start", 1},
                                   {"period", ConfigNode::map({{"steps", 64}})},
                                   {"period_factor", factor},
                                   {"length", ConfigNode::map({{"steps", 1000000000}})}}));
    double begin = 0;
    double cycle = 64;
    for (; cycle == std::floor(cycle) && begin < 3e6; begin += cycle, cycle *= factor) {
      EXPECT_EQ(value_at(*schedule, static_cast<int64_t>(begin)), 1) << factor << ", step " << begin;
      EXPECT_LT(value_at(*schedule, static_cast<int64_t>(begin + cycle) - 1), 0.01) << factor << begin;
    }
    EXPECT_GT(begin, 200) << factor;
  }
}

TEST(Schedule, is_rejected_with_its_mistakes) {
  const auto error_of = [](const std::string& name, const ConfigNode& params) -> std::string {
    try {
      Registry<Schedule>::make(name, params);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of("Linear", {}), testing::HasSubstr("'start' is missing"));
  EXPECT_THAT(
      error_of("Piecewise", ConfigNode::map({{"values", ConfigNode::list({ConfigNode::list({1, 0.5})})}})),
      testing::HasSubstr("must be for 0"));
  EXPECT_THAT(error_of("Cosine", ConfigNode::map({{"start", 1}, {"period_factor", 2}})),
              testing::HasSubstr("'period_factor' needs a 'period'"));
  EXPECT_THAT(error_of("Formula", ConfigNode("0.1 * epohc")), testing::HasSubstr("did you mean 'epoch'?"));
  EXPECT_THAT(error_of("Formula", ConfigNode("'fast'")), testing::HasSubstr("expected a number"));
}

TEST(Scheduled, is_a_number_or_a_schedule) {
  const auto parsed = [](const ConfigNode& node) {
    Diagnostics errors;
    Reader reader("'weight'", at_least(0), errors);
    const auto value = Codec<Scheduled>::parse(node, reader);
    EXPECT_EQ(value.has_value(), errors.ok());
    return value;
  };
  EXPECT_EQ(parsed(ConfigNode(2))->number, 2);
  const auto scheduled = parsed(ConfigNode::map({{"Constant", 3}}));
  EXPECT_EQ(value_at(*scheduled->schedule, 7), 3);
  EXPECT_EQ(Codec<Scheduled>::dump(*scheduled).entries()[0].key, "Constant");
  EXPECT_FALSE(parsed(ConfigNode(-2)));
  EXPECT_FALSE(parsed(ConfigNode("fast")));
}

}  // namespace
}  // namespace tpack
