#include "search/search.h"

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

using testing::ElementsAre;

TEST(ProcessorsOfJobs, are_equal_parts) {
  EXPECT_THAT(processors_of_jobs({0, 1, 2, 3}, 4, 2), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(processors_of_jobs({3, 5, 7}, 3, 1), ElementsAre(ElementsAre(3, 5, 7)));
}

TEST(ProcessorsOfJobs, keep_to_the_quota_of_the_group) {
  EXPECT_THAT(processors_of_jobs({0, 1, 2, 3, 4, 5, 6, 7}, 4, 2),
              ElementsAre(ElementsAre(0, 1), ElementsAre(4, 5)));
  EXPECT_THAT(processors_of_jobs({0, 1, 2, 3}, 1, 2), ElementsAre(ElementsAre(0), ElementsAre(2)));
}

TEST(ProcessorsOfJobs, are_shared_by_more_jobs_than_there_are) {
  EXPECT_THAT(processors_of_jobs({0, 1}, 2, 5), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

}  // namespace
}  // namespace tpack
