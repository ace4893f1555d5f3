#include "core/error.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

Position line(int number) { return {std::make_shared<const std::string>("a.yaml"), number, 1}; }

TEST(Error, has_the_exit_code_of_its_kind) {
  EXPECT_EQ(static_cast<int>(ConfigError("x").kind()), 2);
  EXPECT_EQ(static_cast<int>(DataError("x").kind()), 3);
  EXPECT_EQ(static_cast<int>(CheckpointError("x", "y").kind()), 4);
  EXPECT_EQ(static_cast<int>(ResourceError("x").kind()), 5);
  EXPECT_EQ(static_cast<int>(Diverged("x").kind()), 6);
  EXPECT_EQ(static_cast<int>(DistributedError("x").kind()), 7);
  EXPECT_EQ(static_cast<int>(GateMissed("x").kind()), 8);
  EXPECT_EQ(static_cast<int>(RunFailed("x").kind()), 9);
  EXPECT_EQ(static_cast<int>(ShapeError("x").kind()), 2);
}

TEST(Error, names_the_file) { EXPECT_STREQ(DataError("a.idx", "is empty").what(), "a.idx: is empty"); }

TEST(Diagnostics, reports_all_problems_in_the_order_of_the_file) {
  Diagnostics errors;
  errors.add(line(7), "second");
  errors.add({}, "nowhere");
  errors.add(line(3), "first");
  try {
    errors.throw_if_any();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "a.yaml:3:1: first\na.yaml:7:1: second\nnowhere");
    EXPECT_EQ(error.problems().size(), 3U);
  }
}

TEST(Diagnostics, does_nothing_without_problems) {
  EXPECT_TRUE(Diagnostics{}.ok());
  EXPECT_NO_THROW(Diagnostics{}.throw_if_any());
}

TEST(Diagnostics, lists_a_problem_once_but_counts_every_report) {
  Diagnostics errors;
  errors.add(line(1), "twice");
  errors.add(line(1), "twice");
  EXPECT_EQ(errors.count(), 2U);
  EXPECT_THROW(errors.throw_if_any(), ConfigError);
}

TEST(Diagnostics, lists_at_most_fifty_but_still_counts) {
  Diagnostics errors;
  for (int i = 60; i >= 1; --i) errors.add(line(i), "wrong");
  EXPECT_EQ(errors.count(), 60U);
  try {
    errors.throw_if_any();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    ASSERT_EQ(error.problems().size(), 51U);
    EXPECT_EQ(error.problems()[0].where, line(1)) << "the first in the file, whatever was found first";
    EXPECT_EQ(error.problems()[50].str(), "... and 10 more");
  }
}

TEST(Diagnostics, gives_a_place_to_problems_that_have_none) {
  Diagnostics errors;
  errors.add(ConfigError("two fields disagree"), line(4));
  errors.add(ConfigError(line(2), "known"), line(4));
  try {
    errors.throw_if_any();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "a.yaml:2:1: known\na.yaml:4:1: two fields disagree");
  }
}

TEST(Assertion, names_the_condition_and_the_place) {
  try {
    TPACK_ASSERT(1 + 1 == 3, "sums");
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("error_test.cpp:"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("sums (1 + 1 == 3)"), std::string::npos);
  }
}

}  // namespace
}  // namespace tpack
