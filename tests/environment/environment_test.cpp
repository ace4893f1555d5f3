#include "environment/environment.h"

#include <sstream>

#include <gmock/gmock-more-matchers.h>

#include "environment/environment_group.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// What an agent sees and gets that does the actions in turn.
std::string some_episodes(const std::string& item_yaml) {
  EnvironmentGroup group(parse_yaml(item_yaml, "environment.yaml"), 2, 1);
  std::ostringstream text;
  text << group.spec().observation.str() << " " << group.spec().actions;
  for (int32_t i = 0; i < 250; ++i) {
    const int32_t action = i % group.spec().actions;
    for (const StepOutcome& outcome : group.step(std::vector<int32_t>{action, action}))
      text << " " << outcome.reward << "/" << static_cast<int>(outcome.end);
  }
  return text.str();
}

TEST(EnvironmentOptions, have_no_field_without_effect) {
  EXPECT_THAT(live::dead_fields(Registry<Environment>::table(), {some_episodes}), testing::IsEmpty());
}

/// Each environment, from any of its states.
TEST(Environment, goes_on_from_a_restored_state) {
  for (const ComponentInfo* info : Registry<Environment>::table().list()) {
    const auto one = Registry<Environment>::make(info->name);
    const auto other = Registry<Environment>::make(info->name);
    Tensor seen(one->spec().observation);
    Tensor seen_by_other(one->spec().observation);
    Rng start(3);
    one->reset(start);
    for (uint64_t step = 0; step < 5; ++step) {
      other->restore(one->state());
      one->observe(seen);
      other->observe(seen_by_other);
      EXPECT_TRUE(bit_equal(seen, seen_by_other)) << info->name;
      Rng rng(7, step);
      Rng same(7, step);
      const StepOutcome a = one->step(static_cast<int32_t>(step) % one->spec().actions, rng);
      const StepOutcome b = other->step(static_cast<int32_t>(step) % one->spec().actions, same);
      EXPECT_EQ(a.reward, b.reward) << info->name;
      EXPECT_EQ(a.end, b.end) << info->name;
      EXPECT_EQ(one->state(), other->state()) << info->name;
      if (a.end != EpisodeEnd::kNone) break;
    }
  }
}

}  // namespace
}  // namespace tpack
