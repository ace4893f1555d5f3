#include "reports/memory_report.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(MemoryReport, says_when_a_training_needs_more_than_there_is) {
  MemoryReport report;
  report.variables = 3'000'000'000;
  report.passing = 1'000'000'000;
  EXPECT_FALSE(report.shortage(4'000'000'000));
  EXPECT_TRUE(report.shortage(3'999'999'999));
  EXPECT_EQ(report.shortage(2'500'000'000).value_or(""),
            "training needs 4.0 GB of memory at its peak, but 2.5 GB is available: the system may end it, "
            "and steps since the last checkpoint would be lost");
}

}  // namespace
}  // namespace tpack
