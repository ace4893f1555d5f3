#include <set>

#include <gtest/gtest.h>

#include "config/yaml_reader.h"
#include "core/schedule.h"
#include "golden/golden.h"

namespace tpack {
namespace {

using golden::Json;

TEST(GoldenSchedules, agree_with_pytorch) {
  const Json file = golden::read("schedules.json");
  StepOfRun now{.step = 0, .steps_per_epoch = file.at("steps_per_epoch"), .max_epoch = file.at("max_epoch")};
  std::set<std::string> covered;
  for (const Json& c : file.at("cases")) {
    const std::string yaml = c.at("yaml");
    const auto schedule = Registry<Schedule>::make_item(parse_yaml(yaml, "schedule.yaml"));
    covered.insert(c.at("covers"));
    ASSERT_EQ(static_cast<int64_t>(c.at("values").size()), now.steps_per_epoch * now.max_epoch);
    now.step = 0;
    for (const double rate : c.at("values")) {
      EXPECT_NEAR(schedule->at(now), rate, 1e-12 * rate + 1e-18) << yaml << ", step " << now.step;
      ++now.step;
    }
  }
  for (const ComponentInfo* info : Registry<Schedule>::table().list())
    EXPECT_TRUE(covered.contains(info->name)) << "schedule " << info->name
                                              << " has no case in tests/golden/schedules.json: add one to "
                                                 "make_schedules.py next to it and run that script";
}

}  // namespace
}  // namespace tpack
