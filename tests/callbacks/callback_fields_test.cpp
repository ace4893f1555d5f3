// Every field of every callback has an effect.
#include <gmock/gmock-more-matchers.h>

#include "callbacks/callback_scenes.h"

namespace tpack {
namespace {

TEST(Callbacks, have_no_field_without_effect) {
  const std::map<std::string, std::vector<std::string>> names = {{"statistic", {"accuracy"}},
                                                                 {"flow", {"test"}}};
  EXPECT_THAT(live::dead_fields(Registry<Callback>::table(),
                                {[](const std::string& item) { return traces_of(item); }, names}),
              testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
